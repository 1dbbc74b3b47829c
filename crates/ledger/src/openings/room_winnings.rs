//! The coins that players have won of each other in rooms within 24 hours: see
//! [`crate::allowance::Winnings`].
//!
//! Before a player is seated, the games of all rooms count. When a game is opened, in its
//! transaction, only the games of its table count: the same players can continue there without
//! being matched again, and few rows are read. So the winnings of a day stay within twice the
//! limit.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Ledger;
use crate::allowance::{DAY, Winnings};
use crate::error::LedgerError;
use crate::operation::GameStart;
use bahay_base::clock::Timestamp;
use bahay_base::ids::PRIVATE_ROOM;
use bahay_db::to_sql;

impl Ledger {
    /// Returns what a player has won of each other player in rooms within 24 hours. House bots do
    /// not count.
    pub async fn room_winnings(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Winnings, LedgerError> {
        let once = || {
            sqlx::query_as!(
                SeatResult,
                r#"
                select g.table_id, g.id as game, o.player, o.stake, o.net as "net!",
                    h.kind = 'bot' as "is_bot!"
                from game_players p
                join games g on g.id = p.game and g.room <> $3
                join game_players o on o.game = p.game
                join players h on h.id = o.player
                where p.player = $1
                    and p.finished_at > $2::timestamptz - $4::bigint * interval '1 second'
                order by g.id
                "#,
                player.0,
                to_sql(now) as _,
                PRIVATE_ROOM,
                day_seconds()
            )
            .fetch_all(&self.reads)
        };
        let seats = bahay_db::retry(once).await?;
        let mut winnings = Winnings::default();
        for (seat, other, thousandths) in pair_results(&seats) {
            if seat.player == player.0 {
                winnings.add(other, thousandths);
            }
        }
        Ok(winnings)
    }
}

/// Returns a limit of zero for each player of these openings in rooms who has reached a limit at the
/// same table.
pub(crate) async fn read_limits(
    connection: &mut PgConnection,
    openings: &[&GameStart],
) -> Result<BTreeMap<PlayerId, Coins>, sqlx::Error> {
    if openings.is_empty() {
        return Ok(BTreeMap::new());
    }
    // The games of a table are found by the players: a table has hundreds of games a day, and most of
    // them without any of these players.
    let mut players = vec![];
    let mut tables = vec![];
    let mut times = vec![];
    for GameStart { table, players: seated, opened_at_ms, .. } in openings {
        players.extend(seated.iter().map(|player| player.0));
        tables.extend(seated.iter().map(|_| table.0));
        times.extend(seated.iter().map(|_| to_sql(Timestamp::from_ms(*opened_at_ms))));
    }
    let rows = sqlx::query_as!(
        SeatResult,
        r#"
        select g.table_id, g.id as game, p.player, p.stake, p.net as "net!",
            h.kind = 'bot' as "is_bot!"
        from (
            -- Two players have the same game, and a batch may hold an opening twice.
            select distinct q.game, n.table_id
            from unnest($1::uuid[], $2::uuid[], $3::timestamptz[])
                as n (player, table_id, opened_at)
            join game_players q on q.player = n.player
                and q.finished_at > n.opened_at - $4::bigint * interval '1 second'
        ) m
        join games g on g.id = m.game and g.table_id = m.table_id
        join game_players p on p.game = g.id
        join players h on h.id = p.player
        order by g.id
        "#,
        &players,
        &tables,
        &times as _,
        day_seconds()
    );
    let seats = rows.fetch_all(connection).await?;
    let mut winnings = BTreeMap::<_, Winnings>::new();
    for (seat, other, thousandths) in pair_results(&seats) {
        let won = winnings.entry((seat.table_id, PlayerId(seat.player))).or_default();
        won.add(other, thousandths);
    }
    let mut limits = BTreeMap::new();
    for GameStart { table, players, .. } in openings {
        let is_limited = |player: &&PlayerId| {
            winnings.get(&(table.0, **player)).is_some_and(|won| {
                won.is_day_limit_reached()
                    || players.iter().any(|other| won.is_pair_limit_reached(*other))
            })
        };
        limits.extend(players.iter().filter(is_limited).map(|player| (*player, Coins::ZERO)));
    }
    Ok(limits)
}

/// The result of a seat in a game of a table.
struct SeatResult {
    table_id: Uuid,
    game: Uuid,
    player: Uuid,
    /// In hundredths of a coin.
    stake: i64,
    /// The change of the player's coins, in hundredths.
    net: i64,
    is_bot: bool,
}

impl SeatResult {
    /// Returns the coins won of another seat of the game with the opposite result, negative for a
    /// loss, in thousandths of the larger stake.
    fn won_of(&self, other: &Self) -> i64 {
        let won = i128::from(self.net.unsigned_abs().min(other.net.unsigned_abs()));
        let stake = i128::from(self.stake.max(other.stake)).max(1);
        let thousandths = i64::try_from(won * 1_000 / stake).unwrap_or(i64::MAX);
        self.net.signum() * thousandths
    }
}

/// Returns what each seat has won of each other one that had the opposite result and is no house
/// bot, by games, whose seats follow each other. The pairs are formed here and not by the query,
/// because a game has more pairs than seats.
fn pair_results(seats: &[SeatResult]) -> impl Iterator<Item = (&SeatResult, PlayerId, i64)> {
    let games = seats.chunk_by(|one, other| one.game == other.game);
    let pairs =
        games.flat_map(|game| game.iter().flat_map(|seat| game.iter().map(move |o| (seat, o))));
    let opposite = |(seat, other): &(&SeatResult, &SeatResult)| {
        !other.is_bot && seat.net.signum() * other.net.signum() < 0
    };
    pairs.filter(opposite).map(|(seat, other)| (seat, PlayerId(other.player), seat.won_of(other)))
}

fn day_seconds() -> i64 {
    i64::try_from(DAY.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{PlayerId, SeatResult, Uuid, pair_results};

    fn seat(game: u128, player: u128, stake: i64, net: i64) -> SeatResult {
        let table_id = Uuid::nil();
        let is_bot = player >= 100;
        let [game, player] = [game, player].map(Uuid::from_u128);
        SeatResult { table_id, game, player, stake, net, is_bot }
    }

    #[test]
    fn pairs_are_formed_of_opposite_results_within_a_game() {
        let seats = [
            // One of two losers can lose less than the winner gains.
            seat(1, 1, 1_400, 1_900),
            seat(1, 2, 1_400, -1_400),
            seat(1, 3, 1_400, -700),
            // The stakes of a game differ, and house bots do not count as others.
            seat(2, 1, 700, -350),
            seat(2, 2, 1_400, 350),
            seat(2, 100, 1_400, 0),
            seat(3, 1, 1_400, 1_400),
            seat(3, 100, 1_400, -1_400),
            seat(3, 2, 1_400, 0),
        ];
        let found: Vec<_> = pair_results(&seats)
            .map(|(seat, PlayerId(other), won)| (seat.player.as_u128(), other.as_u128(), won))
            .collect();
        let expected = [
            (1, 2, 1_000),
            (1, 3, 500),
            (2, 1, -1_000),
            (3, 1, -500),
            (1, 2, -250),
            (2, 1, 250),
            (100, 1, -1_000),
        ];
        assert_eq!(found, expected);
    }
}
