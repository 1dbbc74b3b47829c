//! The projection of figures: adds the booked operations, the settlements and the reversals of a
//! batch.

use sqlx::{PgConnection, PgPool};

use super::Reports;
use crate::projections::Projection;

impl Projection for Reports {
    const NAME: &'static str = "figures";
    const TABLES: &'static [&'static str] = &[
        "booked_hours",
        "operation_hours",
        "held_by_kind",
        "held_pots",
        "settlements",
        "player_settlements",
        "settlement_days",
        "newcomer_coins",
    ];
    const SEALS_MAX: i64 = 8;
    /// A game's ending comes from the projection of standings.
    const AFTER: Option<&'static str> = Some("standings");

    type Error = sqlx::Error;
    type Changes = ();

    fn pool(&self) -> &PgPool {
        &self.pool
    }

    async fn apply(
        &self,
        connection: &mut PgConnection,
        operations: &[i64],
    ) -> Result<(), sqlx::Error> {
        add_booked(connection, operations).await?;
        add_settlements(connection, operations).await?;
        reverse_settlements(connection, operations).await
    }
}

/// Adds the booked operations: operations and transfers by hour, the coins by kind of account, and
/// the current balances of the changed POTs. A later change of a POT comes with a later seal.
async fn add_booked(connection: &mut PgConnection, operations: &[i64]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with done as materialized (
            select o.id, o.kind as operation_kind, o.created_at,
                date_trunc('hour', o.created_at, 'UTC') as hour, coalesce(g.kind, '') as kind,
                g.room, o.codes, o.sources, o.destinations, o.amounts
            from operations o
            left join games g on g.id = o.game
            where o.id = any($1) and o.id between $2 and $3
        ),
        booked as materialized (
            select t.created_at, t.hour, t.kind,
                coalesce(
                    t.room,
                    case when s.kind = 'fee' then split_part(s.code, ':', 2)
                        when e.kind = 'fee' then split_part(e.code, ':', 2)
                        else '' end
                ) as room,
                t.code, t.source, s.kind as source_kind, t.destination,
                e.kind as destination_kind, t.amount
            from (
                select d.created_at, d.hour, d.kind, d.room, unnest(d.codes) as code,
                    unnest(d.sources) as source, unnest(d.destinations) as destination,
                    unnest(d.amounts) as amount
                from done d
            ) t
            join accounts s on s.id = t.source
            join accounts e on e.id = t.destination
        ),
        by_hour as materialized (
            select b.hour, b.kind, b.room, b.code, b.source_kind, b.destination_kind,
                count(*) as transfers, sum(b.amount) as amount
            from booked b
            group by b.hour, b.kind, b.room, b.code, b.source_kind, b.destination_kind
        ),
        of_operations as (
            insert into operation_hours as h (hour, kind, room, operation_kind, operations)
            select d.hour, d.kind, coalesce(d.room, ''), d.operation_kind, count(*)
            from done d
            group by 1, 2, 3, 4
            on conflict (hour, kind, room, operation_kind) do update
            set operations = h.operations + excluded.operations
        ),
        of_transfers as (
            insert into booked_hours as h (
                hour, kind, room, code, source_kind, destination_kind, transfers, amount
            )
            select b.hour, b.kind, b.room, b.code, b.source_kind, b.destination_kind,
                b.transfers, b.amount
            from by_hour b
            on conflict (hour, kind, room, code, source_kind, destination_kind) do update
            set transfers = h.transfers + excluded.transfers, amount = h.amount + excluded.amount
        ),
        of_pots as (
            insert into held_pots as p (table_id, amount, changed_at)
            select substring(a.code from 5)::uuid, a.balance, n.changed_at
            from (
                select c.pot, max(c.created_at) as changed_at
                from (
                    select b.source as pot, b.created_at from booked b where b.source_kind = 'pot'
                    union all
                    select b.destination, b.created_at
                    from booked b
                    where b.destination_kind = 'pot'
                ) c
                group by c.pot
            ) n
            join accounts a on a.id = n.pot
            on conflict (table_id) do update
            set amount = excluded.amount, changed_at = greatest(p.changed_at, excluded.changed_at)
        )
        insert into held_by_kind as k (account_kind, amount)
        select m.account_kind, sum(m.amount)
        from (
            select b.source_kind as account_kind, -b.amount as amount from by_hour b
            union all
            select b.destination_kind, b.amount from by_hour b
        ) m
        group by m.account_kind
        on conflict (account_kind) do update set amount = k.amount + excluded.amount
        ",
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max()
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn add_settlements(
    connection: &mut PgConnection,
    operations: &[i64],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        with settled as (
            insert into settlements (
                game, day, finished_at, booked_at, kind, room, ending, winner, gross, fee, pot,
                taken_over, ante, seats
            )
            select g.id, (g.finished_at at time zone 'UTC')::date, g.finished_at,
                -- Tables use the house's clock, which stops while no node runs, and the ledger uses
                -- PostgreSQL's. Their difference at the opening is not part of the delay.
                o.created_at - coalesce(
                    (
                        select b.created_at - g.opened_at
                        from operation_keys k
                        join operations b on b.id = k.operation
                        where k.key = 'open:' || g.id
                    ),
                    interval '0'
                ),
                g.kind, g.room, e.ending, w.player,
                coalesce((
                    select sum((p ->> 'paid')::bigint)
                    from jsonb_array_elements(r.settlement -> 'payments') p
                ), 0),
                coalesce((
                    select sum((f ->> 'fee')::bigint)
                    from jsonb_array_elements(r.settlement -> 'fees') f
                ), 0),
                (r.settlement -> 'pot' ->> 'amount')::bigint,
                -- Records are canonical JSON, whose strings contain no unescaped quotes. The
                -- column has the value of an archived record.
                coalesce(r.taken_over, position('"by":"ai"' in r.record) > 0), g.ante,
                (select count(*) from game_players p where p.game = g.id)
            from operations o
            join games g on g.id = o.game
            join game_records r on r.game = g.id
            left join game_results e on e.game = g.id
            left join game_players w
                on w.game = g.id and w.seat = (r.settlement ->> 'winner')::smallint
            where o.id = any($1) and o.id between $2 and $3 and o.kind = 'settle'
            returning game, finished_at, day, kind, room, ending, took_pot, taken_over, gross, fee,
                pot, ante, seats
        ),
        of_newcomers as (
            insert into newcomer_coins as c (player, day, amount)
            select n.player, n.day, sum(n.amount)
            from settled s
            join newcomer_payments n on n.game = s.game
            group by n.player, n.day
            on conflict (player, day) do update set amount = c.amount + excluded.amount
        ),
        of_players as (
            insert into player_settlements (
                player, finished_at, game, kind, room, ending, gross, fee, pot, taken_over, net,
                ante, seats
            )
            select p.player, s.finished_at, s.game, s.kind, s.room, s.ending, s.gross, s.fee,
                s.pot, s.taken_over, p.net, s.ante,
                s.seats
            from settled s
            join game_players p on p.game = s.game
        )
        insert into settlement_days as d (
            day, kind, room, ending, took_pot, taken_over, gross, fee, ante, games, pots,
            seats_max
        )
        select s.day, s.kind, s.room, coalesce(s.ending, ''), s.took_pot, s.taken_over, s.gross,
            s.fee, s.ante, count(*), coalesce(sum(s.pot), 0), max(s.seats)
        from settled s
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9
        on conflict (day, kind, room, ending, took_pot, taken_over, gross, fee, ante) do update
        set games = d.games + excluded.games, pots = d.pots + excluded.pots,
            seats_max = greatest(d.seats_max, excluded.seats_max)
        "#,
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max()
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes reversed settlements from all sums: payments and fee become 0, and the row gets the time
/// of the reversal. A settlement that paid a POT cannot be reversed, so POTs are unchanged.
async fn reverse_settlements(
    connection: &mut PgConnection,
    operations: &[i64],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        with reversed as materialized (
            select s.game, s.day, s.finished_at, s.kind, s.room, coalesce(s.ending, '') as ending,
                s.took_pot, s.taken_over, s.gross, s.fee, s.ante, s.seats,
                o.created_at as reversed_at
            from operations o
            join settlements s on s.game = o.game
            where o.id = any($1) and o.id between $2 and $3 and o.kind = 'reverse'
                and s.reversed_at is null
        ),
        of_settlements as (
            update settlements s
            set gross = 0, fee = 0, reversed_at = r.reversed_at
            from reversed r
            where s.game = r.game
        ),
        of_players as (
            update player_settlements s
            set gross = 0, fee = 0, net = 0, reversed_at = r.reversed_at
            from reversed r
            join game_players p on p.game = r.game
            where s.player = p.player and s.finished_at = r.finished_at and s.game = r.game
        ),
        of_newcomers as (
            update newcomer_coins c
            set amount = c.amount - n.amount
            from (
                select p.player, p.day, sum(p.amount) as amount
                from reversed r
                join newcomer_payments p on p.game = r.game
                group by p.player, p.day
            ) n
            where c.player = n.player and c.day = n.day
        ),
        of_days as (
            update settlement_days d
            set games = d.games - n.games
            from (
                select r.day, r.kind, r.room, r.ending, r.took_pot, r.taken_over, r.gross, r.fee,
                    r.ante, count(*) as games
                from reversed r
                group by 1, 2, 3, 4, 5, 6, 7, 8, 9
            ) n
            where d.day = n.day and d.kind = n.kind and d.room = n.room and d.ending = n.ending
                and d.took_pot = n.took_pot and d.taken_over = n.taken_over
                and d.gross = n.gross and d.fee = n.fee and d.ante = n.ante
        )
        insert into settlement_days as d (
            day, kind, room, ending, took_pot, taken_over, gross, fee, ante, games, reversed, pots,
            seats_max
        )
        select r.day, r.kind, r.room, r.ending, r.took_pot, r.taken_over, 0, 0, r.ante, count(*),
            count(*), 0, max(r.seats)
        from reversed r
        group by 1, 2, 3, 4, 5, 6, r.ante
        on conflict (day, kind, room, ending, took_pot, taken_over, gross, fee, ante) do update
        set games = d.games + excluded.games, reversed = d.reversed + excluded.reversed,
            seats_max = greatest(d.seats_max, excluded.seats_max)
        "#,
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max()
    )
    .execute(connection)
    .await?;
    Ok(())
}
