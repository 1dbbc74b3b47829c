//! The projection of figures: takes the next seals of the ledger and adds their operations, in one
//! transaction with the projection's position, whose row is locked. A game's ending comes from the
//! projection of standings, so this one never overtakes it.

use sqlx::{PgConnection, PgPool};

use crate::db;

/// The number of seals per batch, each with at most a thousand operations.
const SEALS_MAX: i64 = 8;

/// Projects one batch. Returns whether there may be more.
pub(super) async fn project_batch(pool: &PgPool) -> Result<bool, sqlx::Error> {
    let mut tx = pool.begin().await?;
    let progress =
        sqlx::query_scalar!("select p.seal from figures_progress p for no key update skip locked");
    // The missing row means that another process is projecting.
    let Some(seal) = progress.fetch_optional(&mut *tx).await? else {
        return Ok(false);
    };
    let next = sqlx::query!(
        r#"
        select max(n.number) as number, array_agg(n.operation) as "operations: Vec<i64>"
        from (
            select s.number, unnest(s.operations) as operation
            from seals s
            where s.number > $1 and s.number <= $1 + $2
                and s.number <= (select p.seal from standings_progress p)
        ) n
        "#,
        seal,
        SEALS_MAX
    );
    let next = next.fetch_one(&mut *tx).await?;
    let (Some(last), Some(operations)) = (next.number, next.operations) else {
        return Ok(false);
    };
    db::plan_by_keys_in_tx(&mut tx).await?;
    add_booked(&mut tx, &operations).await?;
    add_settlements(&mut tx, &operations).await?;
    reverse_settlements(&mut tx, &operations).await?;
    sqlx::query!("update figures_progress set seal = $1", last).execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(last == seal.saturating_add(SEALS_MAX))
}

/// Adds the booked operations: operations and transfers by hour, the coins by kind of account, and
/// the current balances of the changed POTs. A later change of a POT comes with a later seal.
async fn add_booked(connection: &mut PgConnection, operations: &[i64]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with done as materialized (
            select o.id, o.kind as operation_kind, o.created_at,
                date_trunc('hour', o.created_at, 'UTC') as hour, coalesce(g.kind, '') as kind,
                g.room
            from operations o
            left join games g on g.id = o.game
            where o.id = any($1) and o.id between $2 and $3
        ),
        booked as materialized (
            select d.created_at, d.hour, d.kind,
                coalesce(
                    d.room,
                    case when s.kind = 'fee' then split_part(s.code, ':', 2)
                        when e.kind = 'fee' then split_part(e.code, ':', 2)
                        else '' end
                ) as room,
                t.code, t.source, s.kind as source_kind, t.destination,
                e.kind as destination_kind, t.amount
            from done d
            join transfers t on t.operation = d.id
            join accounts s on s.id = t.source
            join accounts e on e.id = t.destination
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
            select b.hour, b.kind, b.room, b.code, b.source_kind, b.destination_kind, count(*),
                sum(b.amount)
            from booked b
            group by b.hour, b.kind, b.room, b.code, b.source_kind, b.destination_kind
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
            select b.source_kind as account_kind, -b.amount as amount from booked b
            union all
            select b.destination_kind, b.amount from booked b
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
                taken_over
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
                coalesce(r.taken_over, position('"by":"ai"' in r.record) > 0)
            from operations o
            join games g on g.id = o.game
            join game_records r on r.game = g.id
            left join game_results e on e.game = g.id
            left join game_players w
                on w.game = g.id and w.seat = (r.settlement ->> 'winner')::smallint
            where o.id = any($1) and o.id between $2 and $3 and o.kind = 'settle'
            returning game, finished_at, day, kind, room, ending, took_pot, taken_over, gross, fee,
                pot
        ),
        paid as (
            select s.day, s.finished_at, (y ->> 'paid')::bigint as amount, f.player as payer,
                t.player as payee
            from settled s
            join game_records r on r.game = s.game
            cross join lateral jsonb_array_elements(r.settlement -> 'payments') y
            join game_players f on f.game = s.game and f.seat = (y ->> 'from')::smallint
            join game_players t on t.game = s.game and t.seat = (y ->> 'to')::smallint
        ),
        of_newcomers as (
            insert into newcomer_coins as c (player, day, amount)
            select n.player, n.day, sum(n.amount)
            from (
                select p.payee as player, p.day, p.amount
                from paid p
                join players m on m.id = p.payer
                where m.kind = 'guest' and m.created_at > p.finished_at - interval '7 days'
                union all
                select p.payer, p.day, -p.amount
                from paid p
                join players m on m.id = p.payee
                where m.kind = 'guest' and m.created_at > p.finished_at - interval '7 days'
            ) n
            group by n.player, n.day
            on conflict (player, day) do update set amount = c.amount + excluded.amount
        ),
        of_players as (
            insert into player_settlements (
                player, finished_at, game, kind, room, ending, gross, fee, pot, taken_over
            )
            select p.player, s.finished_at, s.game, s.kind, s.room, s.ending, s.gross, s.fee,
                s.pot, s.taken_over
            from settled s
            join game_players p on p.game = s.game
        )
        insert into settlement_days as d (
            day, kind, room, ending, took_pot, taken_over, gross, games, fees, pots
        )
        select s.day, s.kind, s.room, coalesce(s.ending, ''), s.took_pot, s.taken_over, s.gross,
            count(*), sum(s.fee), coalesce(sum(s.pot), 0)
        from settled s
        group by 1, 2, 3, 4, 5, 6, 7
        on conflict (day, kind, room, ending, took_pot, taken_over, gross) do update
        set games = d.games + excluded.games, fees = d.fees + excluded.fees,
            pots = d.pots + excluded.pots
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
                s.took_pot, s.taken_over, s.gross, s.fee, o.created_at as reversed_at
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
            set gross = 0, fee = 0, reversed_at = r.reversed_at
            from reversed r
            join game_players p on p.game = r.game
            where s.player = p.player and s.finished_at = r.finished_at and s.game = r.game
        ),
        paid as (
            select s.day, s.finished_at, (y ->> 'paid')::bigint as amount, f.player as payer,
                t.player as payee
            from reversed s
            join game_records r on r.game = s.game
            cross join lateral jsonb_array_elements(r.settlement -> 'payments') y
            join game_players f on f.game = s.game and f.seat = (y ->> 'from')::smallint
            join game_players t on t.game = s.game and t.seat = (y ->> 'to')::smallint
        ),
        of_newcomers as (
            update newcomer_coins c
            set amount = c.amount - n.amount
            from (
                select m.player, m.day, sum(m.amount) as amount
                from (
                    select p.payee as player, p.day, p.amount
                    from paid p
                    join players m on m.id = p.payer
                    where m.kind = 'guest' and m.created_at > p.finished_at - interval '7 days'
                    union all
                    select p.payer, p.day, -p.amount
                    from paid p
                    join players m on m.id = p.payee
                    where m.kind = 'guest' and m.created_at > p.finished_at - interval '7 days'
                ) m
                group by m.player, m.day
            ) n
            where c.player = n.player and c.day = n.day
        ),
        of_days as (
            update settlement_days d
            set games = d.games - n.games, fees = d.fees - n.fees
            from (
                select r.day, r.kind, r.room, r.ending, r.took_pot, r.taken_over, r.gross,
                    count(*) as games, sum(r.fee) as fees
                from reversed r
                group by 1, 2, 3, 4, 5, 6, 7
            ) n
            where d.day = n.day and d.kind = n.kind and d.room = n.room and d.ending = n.ending
                and d.took_pot = n.took_pot and d.taken_over = n.taken_over
                and d.gross = n.gross
        )
        insert into settlement_days as d (
            day, kind, room, ending, took_pot, taken_over, gross, games, reversed, fees, pots
        )
        select r.day, r.kind, r.room, r.ending, r.took_pot, r.taken_over, 0, count(*), count(*),
            0, 0
        from reversed r
        group by 1, 2, 3, 4, 5, 6
        on conflict (day, kind, room, ending, took_pot, taken_over, gross) do update
        set games = d.games + excluded.games, reversed = d.reversed + excluded.reversed
        "#,
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max()
    )
    .execute(connection)
    .await?;
    Ok(())
}
