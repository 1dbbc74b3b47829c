//! The projection of pairs: adds the settled games of a batch to the pairs of their players by day,
//! and removes the coins of reversed ones. The days are those of the house's time zone, a change of
//! which rebuilds the rows.

use sqlx::{PgConnection, PgPool};

use super::Pairs;
use crate::projections::Projection;

impl Projection for Pairs {
    const NAME: &'static str = "pairs";
    const TABLES: &'static [&'static str] = &["pair_days", "player_days"];
    const SEALS_MAX: i64 = 8;

    type Error = sqlx::Error;
    type Changes = ();

    fn pool(&self) -> &PgPool {
        &self.pool
    }

    fn version(&self) -> String {
        self.zone_name().to_owned()
    }

    async fn apply(
        &self,
        connection: &mut PgConnection,
        operations: &[i64],
    ) -> Result<(), sqlx::Error> {
        add_games(connection, operations, self.zone_name()).await?;
        remove_reversed_coins(connection, operations, self.zone_name()).await
    }
}

async fn add_games(
    connection: &mut PgConnection,
    operations: &[i64],
    zone: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with settled as materialized (
            select g.id, g.finished_at, (g.finished_at at time zone $4)::date as day
            from operations o
            join games g on g.id = o.game
            where o.id = any($1) and o.id between $2 and $3 and o.kind = 'settle'
        ),
        of_players as (
            insert into player_days as d (
                day, player, games, first_at, created_on, is_bot, played_before
            )
            select s.day, p.player, count(*), min(s.finished_at),
                (m.created_at at time zone $4)::date, m.kind = 'bot',
                exists (
                    select
                    from game_players q
                    join games e on e.id = q.game and e.state = 'settled'
                    where q.player = p.player
                        and q.finished_at < s.day::timestamp at time zone $4
                )
            from settled s
            join game_players p on p.game = s.id
            join players m on m.id = p.player
            group by s.day, p.player, m.created_at, m.kind
            on conflict (day, player) do update
            set games = d.games + excluded.games, first_at = least(d.first_at, excluded.first_at)
        )
        insert into pair_days as d (
            day, first, second, games, paid, received, games_paid, games_received, squares
        )
        select s.day, v.first, v.second, count(*), sum(v.paid), sum(v.received),
            count(*) filter (where v.paid > v.received),
            count(*) filter (where v.paid < v.received),
            sum((v.paid - v.received)::numeric * (v.paid - v.received))
        from settled s
        join pair_payments v on v.game = s.id
        group by s.day, v.first, v.second
        on conflict (day, first, second) do update
        set games = d.games + excluded.games, paid = d.paid + excluded.paid,
            received = d.received + excluded.received,
            games_paid = d.games_paid + excluded.games_paid,
            games_received = d.games_received + excluded.games_received,
            squares = d.squares + excluded.squares
        ",
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max(),
        zone
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes the coins of reversed settlements, which were returned. The games were played together
/// all the same.
async fn remove_reversed_coins(
    connection: &mut PgConnection,
    operations: &[i64],
    zone: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update pair_days d
        set paid = d.paid - n.paid, received = d.received - n.received,
            games_paid = d.games_paid - n.games_paid,
            games_received = d.games_received - n.games_received,
            squares = d.squares - n.squares
        from (
            select (v.finished_at at time zone $4)::date as day, v.first, v.second,
                sum(v.paid) as paid, sum(v.received) as received,
                count(*) filter (where v.paid > v.received) as games_paid,
                count(*) filter (where v.paid < v.received) as games_received,
                sum((v.paid - v.received)::numeric * (v.paid - v.received)) as squares
            from operations o
            join games g on g.id = o.game and g.state = 'settled'
            join pair_payments v on v.game = g.id
            where o.id = any($1) and o.id between $2 and $3 and o.kind = 'reverse'
            group by 1, 2, 3
        ) n
        where d.day = n.day and d.first = n.first and d.second = n.second
        ",
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max(),
        zone
    )
    .execute(connection)
    .await?;
    Ok(())
}
