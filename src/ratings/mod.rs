//! Ratings: the skill of players in a kind of game, as a Weng-Lin rating computed from the ranks of
//! finished games alone. The winner has the first rank, all others share the second one. Games with
//! a house bot or at a private table are not rated.
//!
//! Ratings are a [`Projection`] of the ledger's seals, some seconds late. Whole thousandths are
//! stored; a rating is a floating-point number only between two rows.
//!
//! The module also reads the other attributes of a player that matchmaking needs; `standings` has
//! the leaderboard by rating. Deliberately absent: any effect of a rating on coins.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::seat::Seat;
use bahay_engine::table::Timestamp;
use jiff_sqlx::ToSqlx as _;
use skillratings::MultiTeamOutcome;
use skillratings::weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::db;
use crate::ids::PlayerId;
use crate::projections::{self, Projection};

/// The rating of a new player, in thousandths.
pub const INITIAL_RATING: i32 = 25_000;

/// The number of the last games whose players count as recently met.
const LAST_GAMES: i64 = 3;

/// The number of thousandths in one.
const SCALE: f64 = 1_000.0;

/// The ratings. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Ratings {
    pool: PgPool,
}

/// The number of a player's devices that matchmaking considers, the newest first. A device id is
/// supplied by the client, so more devices would not bind a player who signs in with ever new ones.
const DEVICES_MAX: i64 = 64;

/// The attributes of a player that matchmaking uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchmakingProfile {
    /// The display name.
    pub name: String,
    /// The avatar.
    pub avatar: Option<String>,
    /// The rating in thousandths.
    pub rating: i32,
    /// The players met in the last games.
    pub recent: Vec<PlayerId>,
    /// The hashes of the player's devices: those that sign it in, and those of its sessions.
    pub devices: Vec<Vec<u8>>,
    /// The players whom this player has blocked. Blocks by others are in their lists.
    pub blocked: Vec<PlayerId>,
    /// The end of the player's last game.
    pub last_finished: Option<Timestamp>,
}

/// The key of a rating: a player and a kind.
type Key = (Uuid, String);

/// A player's rating during a batch.
#[derive(Clone, Copy)]
struct RatingUpdate {
    rating: i32,
    uncertainty: i32,
    /// The number of games rated in this batch.
    games: i32,
    /// The end of the last of these games.
    rated_at: Option<jiff::Timestamp>,
}

/// A game to be rated.
struct RatedGame {
    kind: String,
    finished_at: jiff_sqlx::Timestamp,
    players: Vec<Uuid>,
    /// The winner's index in `players`; `None` without a winner, with a house bot, or at a private
    /// table.
    winner: Option<usize>,
}

impl Ratings {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Returns the current profile of a player who wants to play a game of this kind.
    pub async fn matchmaking_profile(
        &self,
        player: PlayerId,
        kind: &str,
    ) -> Result<MatchmakingProfile, sqlx::Error> {
        let once = || {
            sqlx::query!(
                r#"
                select
                    coalesce((select p.name from players p where p.id = $1), '') as "name!",
                    (select p.avatar from players p where p.id = $1) as "avatar",
                    (
                        select r.rating from ratings r where r.player = $1 and r.kind = $4
                    ) as "rating",
                    array(
                        select distinct o.player
                        from (
                            select p.game
                            from game_players p
                            where p.player = $1 and p.finished_at is not null
                            order by p.finished_at desc, p.game desc
                            limit $2
                        ) l
                        join game_players o on o.game = l.game
                        where o.player <> $1
                            and not exists (
                                select from players h where h.id = o.player and h.kind = 'bot'
                            )
                    ) as "recent!",
                    array(
                        select u.device
                        from (
                            select d.id_hash as device, d.last_seen_at
                            from devices d
                            where d.player = $1
                            union all
                            select s.device, s.last_seen_at
                            from sessions s
                            where s.player = $1 and s.device is not null
                        ) u
                        group by u.device
                        order by max(u.last_seen_at) desc
                        limit $3
                    ) as "devices!",
                    array(
                        select r.other
                        from player_relations r
                        where r.kind = 'block' and r.player = $1
                    ) as "blocked!",
                    (
                        select max(p.finished_at)
                        from game_players p
                        where p.player = $1 and p.finished_at is not null
                    ) as "last_finished: jiff_sqlx::Timestamp"
                "#,
                player.0,
                LAST_GAMES,
                DEVICES_MAX,
                kind
            )
            .fetch_one(&self.pool)
        };
        let row = db::retry(once).await?;
        let recent = row.recent.into_iter().map(PlayerId).collect();
        let blocked = row.blocked.into_iter().map(PlayerId).collect();
        let last_finished = row.last_finished.map(|at| at.to_jiff().as_millisecond());
        Ok(MatchmakingProfile {
            name: row.name,
            avatar: row.avatar,
            rating: row.rating.unwrap_or(INITIAL_RATING),
            recent,
            devices: row.devices,
            blocked,
            last_finished: last_finished.map(Timestamp::from_ms),
        })
    }

    /// Projects all sealed operations, unless another process is projecting.
    pub async fn catch_up(&self) -> Result<(), sqlx::Error> {
        projections::catch_up(self).await.map(|_| ())
    }
}

impl Projection for Ratings {
    const NAME: &'static str = "ratings";
    const TABLES: &'static [&'static str] = &["ratings"];
    const SEALS_MAX: i64 = 4;

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
        let games = projections::read_settled_games(connection, operations).await?;
        let games = games.into_iter().map(|row| {
            let winner = row.settlement.winner.filter(|_| row.is_ranked()).map(Seat::index);
            RatedGame { kind: row.kind, finished_at: row.finished_at, players: row.players, winner }
        });
        let games: Vec<_> = games.collect();
        let mut rated = read_ratings(connection, &games).await?;
        for game in &games {
            apply_game(&mut rated, game);
        }
        write_ratings(connection, &rated).await
    }
}

/// Reads the existing ratings of these games' players.
async fn read_ratings(
    tx: &mut PgConnection,
    games: &[RatedGame],
) -> Result<BTreeMap<Key, RatingUpdate>, sqlx::Error> {
    let players: BTreeSet<Uuid> = games.iter().flat_map(|game| game.players.clone()).collect();
    let players: Vec<Uuid> = players.into_iter().collect();
    let rows = sqlx::query!(
        "select r.player, r.kind, r.rating, r.uncertainty from ratings r where r.player = any($1)",
        &players
    )
    .fetch_all(tx)
    .await?;
    let rated =
        |rating, uncertainty| RatingUpdate { rating, uncertainty, games: 0, rated_at: None };
    let rows = rows.into_iter();
    Ok(rows.map(|row| ((row.player, row.kind), rated(row.rating, row.uncertainty))).collect())
}

/// Applies a game to the ratings of its players.
fn apply_game(rated: &mut BTreeMap<Key, RatingUpdate>, game: &RatedGame) {
    let Some(winner) = game.winner else {
        return;
    };
    let keys: Vec<Key> = game.players.iter().map(|player| (*player, game.kind.clone())).collect();
    let rating = |key| rated.get(key).map_or_else(WengLinRating::new, RatingUpdate::rating);
    let before: Vec<WengLinRating> = keys.iter().map(rating).collect();
    for (key, after) in keys.into_iter().zip(rate_players(&before, winner)) {
        let (rating, uncertainty) = to_thousandths(after);
        let before = rated.get(&key);
        let games = before.map_or(0, |before| before.games) + 1;
        let finished_at = Some(game.finished_at.to_jiff());
        let rated_at = finished_at.max(before.and_then(|before| before.rated_at));
        rated.insert(key, RatingUpdate { rating, uncertainty, games, rated_at });
    }
}

/// Writes the changed ratings.
async fn write_ratings(
    tx: &mut PgConnection,
    rated: &BTreeMap<Key, RatingUpdate>,
) -> Result<(), sqlx::Error> {
    let changed = || {
        let changed = |(key, rated): (_, &RatingUpdate)| Some((key, *rated, rated.rated_at?));
        rated.iter().filter_map(changed)
    };
    let players: Vec<Uuid> = changed().map(|((player, _), ..)| *player).collect();
    let kinds: Vec<&str> = changed().map(|((_, kind), ..)| kind.as_str()).collect();
    let ratings: Vec<i32> = changed().map(|(_, rated, _)| rated.rating).collect();
    let uncertainties: Vec<i32> = changed().map(|(_, rated, _)| rated.uncertainty).collect();
    let games: Vec<i32> = changed().map(|(_, rated, _)| rated.games).collect();
    let times: Vec<jiff_sqlx::Timestamp> = changed().map(|(.., at)| at.to_sqlx()).collect();
    sqlx::query!(
        r#"
        insert into ratings as r (player, kind, rating, uncertainty, games, rated_at)
        select p.player, p.kind, p.rating, p.uncertainty, p.games, p.rated_at
        from (
            select unnest($1::uuid[]) as player, unnest($2::text[]) as kind,
                unnest($3::int[]) as rating, unnest($4::int[]) as uncertainty,
                unnest($5::int[]) as games, unnest($6::timestamptz[]) as rated_at
        ) p
        on conflict (player, kind) do update
        set rating = excluded.rating, uncertainty = excluded.uncertainty,
            games = r.games + excluded.games,
            rated_at = greatest(r.rated_at, excluded.rated_at)
        "#,
        &players,
        &kinds as _,
        &ratings,
        &uncertainties,
        &games,
        &times as _
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the players' ratings after a game.
fn rate_players(before: &[WengLinRating], winner: usize) -> Vec<WengLinRating> {
    let each: Vec<[WengLinRating; 1]> = before.iter().map(|rating| [*rating]).collect();
    let ranked: Vec<(&[WengLinRating], MultiTeamOutcome)> = each
        .iter()
        .enumerate()
        .map(|(place, one)| {
            (one.as_slice(), MultiTeamOutcome::new(if place == winner { 1 } else { 2 }))
        })
        .collect();
    weng_lin_multi_team(&ranked, &WengLinConfig::new()).into_iter().flatten().collect()
}

impl RatingUpdate {
    fn rating(&self) -> WengLinRating {
        from_thousandths(self.rating, self.uncertainty)
    }
}

#[expect(clippy::float_arithmetic, reason = "ratings are estimates and not coins")]
fn from_thousandths(rating: i32, uncertainty: i32) -> WengLinRating {
    WengLinRating { rating: f64::from(rating) / SCALE, uncertainty: f64::from(uncertainty) / SCALE }
}

#[expect(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    reason = "a cast to an integer saturates, and no rating comes near the bounds"
)]
fn to_thousandths(rating: WengLinRating) -> (i32, i32) {
    ((rating.rating * SCALE).round() as i32, ((rating.uncertainty * SCALE).round() as i32).max(1))
}

#[cfg(test)]
mod tests {
    use skillratings::weng_lin::WengLinRating;

    use std::collections::BTreeMap;

    use jiff_sqlx::ToSqlx as _;
    use uuid::Uuid;

    use super::{
        INITIAL_RATING, Key, RatedGame, RatingUpdate, apply_game, from_thousandths, rate_players,
        to_thousandths,
    };

    fn finished(players: [u128; 3], winner: Option<usize>) -> RatedGame {
        RatedGame {
            kind: "tongits".to_owned(),
            finished_at: jiff::Timestamp::UNIX_EPOCH.to_sqlx(),
            players: players.map(Uuid::from_u128).to_vec(),
            winner,
        }
    }

    #[test]
    fn a_batch_of_games_rates_like_single_games() {
        let games = [
            finished([1, 2, 3], Some(0)),
            finished([3, 1, 4], Some(2)),
            finished([1, 2, 3], None),
            finished([1, 2, 3], Some(1)),
        ];
        let mut together = BTreeMap::new();
        let mut stored = BTreeMap::new();
        for game in &games {
            apply_game(&mut together, game);
            // The ratings are reloaded before the next game.
            for rated in stored.values_mut() {
                *rated = RatingUpdate { games: 0, rated_at: None, ..*rated };
            }
            apply_game(&mut stored, game);
        }
        let ratings = |rated: &BTreeMap<Key, RatingUpdate>| -> Vec<_> {
            rated.values().map(|one| (one.rating, one.uncertainty)).collect()
        };
        assert_eq!(ratings(&together), ratings(&stored));
        assert_eq!(together.values().map(|one| one.games).collect::<Vec<_>>(), [3, 2, 3, 1]);
    }

    #[test]
    fn a_game_changes_ratings_of_its_own_kind_alone() {
        let mut rated = BTreeMap::new();
        apply_game(&mut rated, &finished([1, 2, 3], Some(0)));
        apply_game(
            &mut rated,
            &RatedGame { kind: "other".to_owned(), ..finished([1, 2, 3], Some(1)) },
        );
        let gained_and_games = |player: u128, kind: &str| {
            let one = rated[&(Uuid::from_u128(player), kind.to_owned())];
            (one.rating > INITIAL_RATING, one.games)
        };
        assert_eq!(
            [gained_and_games(1, "tongits"), gained_and_games(2, "tongits")],
            [(true, 1), (false, 1)]
        );
        assert_eq!(
            [gained_and_games(1, "other"), gained_and_games(2, "other")],
            [(false, 1), (true, 1)]
        );
    }

    #[test]
    fn a_rating_round_trips() {
        assert_eq!(to_thousandths(from_thousandths(31_415, 2_718)), (31_415, 2_718));
        assert_eq!(to_thousandths(WengLinRating::new()).0, INITIAL_RATING);
    }

    #[test]
    fn the_winner_gains_and_the_others_lose_equally() {
        let after: Vec<i32> = rate_players(&[WengLinRating::new(); 3], 1)
            .into_iter()
            .map(|rating| to_thousandths(rating).0)
            .collect();
        assert!(after[1] > INITIAL_RATING && after[0] < INITIAL_RATING);
        assert_eq!(after[0], after[2]);
    }
}
