//! The projection of pairs: adds the settled games of a batch to the pairs of their players by day,
//! and removes the coins of reversed ones. The days are those of the house's time zone, a change of
//! which rebuilds the rows.

use sqlx::{PgConnection, PgPool};

use crate::projections::Projection;
use crate::reports::Pairs;

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
        add_players(connection, operations, self.zone_name()).await?;
        for change in [PairChange::AddGames, PairChange::RemoveCoins] {
            change_pairs(connection, operations, self.zone_name(), change).await?;
        }
        Ok(())
    }
}

/// A change of the figures of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairChange {
    /// Adds settled games with their coins.
    AddGames,
    /// Removes the coins of reversed settlements, which were returned. The games were played together
    /// all the same.
    RemoveCoins,
}

impl PairChange {
    /// Returns the kind of the operations that cause the change.
    const fn operation_kind(self) -> &'static str {
        match self {
            Self::AddGames => "settle",
            Self::RemoveCoins => "reverse",
        }
    }
}

/// Adds the settled games to the games of each player by day.
async fn add_players(
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
        )
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

/// Changes the figures of the pairs of the operations' games by day. The sums of settlements and of
/// reversals are the same; a game that is settled and reversed in one batch is changed twice.
async fn change_pairs(
    connection: &mut PgConnection,
    operations: &[i64],
    zone: &str,
    change: PairChange,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with games_of as materialized (
            select g.id, (g.finished_at at time zone $4)::date as day
            from operations o
            join games g on g.id = o.game and g.state = 'settled'
            where o.id = any($1) and o.id between $2 and $3 and o.kind = $5
        ),
        sums as materialized (
            select g.day, v.first, v.second, count(*) as games, sum(v.paid) as paid,
                sum(v.received) as received,
                count(*) filter (where v.paid > v.received) as games_paid,
                count(*) filter (where v.paid < v.received) as games_received,
                sum((v.paid - v.received)::numeric * (v.paid - v.received)) as squares
            from games_of g
            join pair_payments v on v.game = g.id
            group by g.day, v.first, v.second
        ),
        added as (
            insert into pair_days as d (
                day, first, second, games, paid, received, games_paid, games_received, squares
            )
            select s.day, s.first, s.second, s.games, s.paid, s.received, s.games_paid,
                s.games_received, s.squares
            from sums s
            where $6
            on conflict (day, first, second) do update
            set games = d.games + excluded.games, paid = d.paid + excluded.paid,
                received = d.received + excluded.received,
                games_paid = d.games_paid + excluded.games_paid,
                games_received = d.games_received + excluded.games_received,
                squares = d.squares + excluded.squares
        )
        update pair_days d
        set paid = d.paid - s.paid, received = d.received - s.received,
            games_paid = d.games_paid - s.games_paid,
            games_received = d.games_received - s.games_received,
            squares = d.squares - s.squares
        from sums s
        where not $6 and d.day = s.day and d.first = s.first and d.second = s.second
        ",
        operations,
        operations.iter().copied().min(),
        operations.iter().copied().max(),
        zone,
        change.operation_kind(),
        change == PairChange::AddGames
    )
    .execute(connection)
    .await?;
    Ok(())
}
