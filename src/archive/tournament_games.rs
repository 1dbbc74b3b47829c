//! The finished games of tournaments, which are played for points and are not in the ledger.
//!
//! A table stores its game before it goes on, so that nothing is lost with live state; its tournament
//! notes the game later, in the transaction of the line that scores it.

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Settlement, TableId, TournamentId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{PAGE_MAX, RecordedGame, read_record};
use crate::clock::Timestamp;
use crate::db::{self, Page, from_sql, to_sql};
use crate::ids::TOURNAMENT_ROOM;
use crate::records::{RecordError, Records};
use bahay_base::states::GameState;

/// The result of one player in a game of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TournamentScore {
    pub player: PlayerId,
    /// The points, in hundredths; those of a game sum to zero.
    pub points: Coins,
    /// True if the AI played for the player at the end of the game.
    pub is_absent: bool,
}

/// A finished game of a tournament, without its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentGame {
    pub game: GameId,
    pub tournament: TournamentId,
    pub table: TableId,
    /// The round of the tournament, from 1.
    pub round: u32,
    /// The number of the table in the round, from 1.
    pub table_number: u32,
    /// The number of the game at its table, from 1.
    pub number: u32,
    pub kind: String,
    /// The scores by seat.
    pub scores: Vec<TournamentScore>,
    pub finished_at_ms: i64,
}

/// A row of a game without its record.
struct GameRow {
    game: Uuid,
    table_id: Uuid,
    round: i32,
    table_number: i32,
    number: i32,
    kind: String,
    scores: Json<Vec<TournamentScore>>,
    finished_at: SqlTimestamp,
}

impl GameRow {
    fn into_game(self, tournament: TournamentId) -> TournamentGame {
        TournamentGame {
            game: GameId(self.game),
            tournament,
            table: TableId(self.table_id),
            round: from_number(self.round),
            table_number: from_number(self.table_number),
            number: from_number(self.number),
            kind: self.kind,
            scores: self.scores.0,
            finished_at_ms: from_sql(self.finished_at).ms(),
        }
    }
}

/// Stores a game with its settlement, in points, and its record, once. Returns false if the table has
/// another game of this number.
pub async fn store_tournament_game(
    pool: &PgPool,
    game: &TournamentGame,
    settlement: &Settlement,
    record: &str,
) -> Result<bool, sqlx::Error> {
    let insert = || {
        sqlx::query_scalar!(
            r#"
            with stored as (
                insert into tournament_games (
                    game, tournament, table_id, round, table_number, number, kind, scores,
                    finished_at
                )
                values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                on conflict do nothing
                returning game
            ),
            recorded as (
                insert into game_records (game, settlement, record)
                select s.game, $10, $11 from stored s
            )
            select exists (select from stored) or exists (
                    select from tournament_games g where g.game = $1
                ) as "is_stored!"
            "#,
            game.game.0,
            game.tournament.0,
            game.table.0,
            to_number(game.round),
            to_number(game.table_number),
            to_number(game.number),
            game.kind,
            Json(&game.scores) as _,
            to_sql(Timestamp::from_ms(game.finished_at_ms)) as _,
            Json(settlement) as _,
            record
        )
        .fetch_one(pool)
    };
    db::retry(insert).await
}

/// Returns the tournaments with stored games that they have not noted yet.
pub async fn tournaments_with_unscored_games(
    pool: &PgPool,
) -> Result<Vec<TournamentId>, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            "select distinct g.tournament from tournament_games g where g.scored_in is null"
        )
        .fetch_all(pool)
    };
    Ok(db::retry(query).await?.into_iter().map(TournamentId).collect())
}

/// Returns a tournament's games that it has not noted yet, in the order of their ends.
pub async fn unscored_games(
    pool: &PgPool,
    tournament: TournamentId,
) -> Result<Vec<TournamentGame>, sqlx::Error> {
    let query = || {
        sqlx::query_as!(
            GameRow,
            r#"
            select g.game, g.table_id, g.round, g.table_number, g.number, g.kind,
                g.scores as "scores: Json<Vec<TournamentScore>>",
                g.finished_at as "finished_at: SqlTimestamp"
            from tournament_games g
            where g.tournament = $1 and g.scored_in is null
            order by g.finished_at, g.table_id, g.number
            "#,
            tournament.0
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| row.into_game(tournament));
    Ok(rows.collect())
}

/// Marks a game as noted by the line with this version of its tournament's journal.
pub async fn mark_scored_in_tx(
    connection: &mut PgConnection,
    game: GameId,
    version: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update tournament_games set scored_in = $2 where game = $1 and scored_in is null",
        game.0,
        version
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Returns the number of games that a table has stored.
pub async fn count_tournament_games(pool: &PgPool, table: TableId) -> Result<u32, sqlx::Error> {
    let query = || {
        sqlx::query_scalar!(
            r#"
            select coalesce(max(g.number), 0) as "number!"
            from tournament_games g
            where g.table_id = $1
            "#,
            table.0
        )
        .fetch_one(pool)
    };
    db::retry(query).await.map(from_number)
}

/// A game whose players' conduct is not measured yet.
#[derive(Clone, Debug)]
pub struct UnmeasuredGame {
    pub game: Uuid,
    /// The record; `None` once only the archive has it.
    pub record: Option<String>,
}

/// Returns games that tournaments have noted and whose conduct is not measured yet, in the order of
/// their ids.
pub async fn unmeasured_games(
    pool: &PgPool,
    limit: u32,
) -> Result<Vec<UnmeasuredGame>, sqlx::Error> {
    let query = || {
        sqlx::query_as!(
            UnmeasuredGame,
            "
            select g.game, r.record
            from tournament_games g
            join game_records r on r.game = g.game
            where g.conduct is null and g.scored_in is not null
            order by g.game
            limit $1
            ",
            i64::from(limit)
        )
        .fetch_all(pool)
    };
    db::retry(query).await
}

/// Stores the conduct of games, each as JSON.
pub async fn store_conduct(
    pool: &PgPool,
    games: &[Uuid],
    conduct: &[String],
) -> Result<(), sqlx::Error> {
    let update = || {
        sqlx::query!(
            "
            update tournament_games g
            set conduct = m.conduct::jsonb
            from unnest($1::uuid[], $2::text[]) as m (game, conduct)
            where g.game = m.game
            ",
            games,
            conduct
        )
        .execute(pool)
    };
    db::retry(update).await.map(|_| ())
}

/// Converts a number from 1 as its column has it.
fn to_number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn from_number(column: i32) -> u32 {
    u32::try_from(column).unwrap_or_default()
}

/// Returns a page of a tournament's games, in the order of their ends, after a time and a game;
/// without those of a round whose deals are secret.
pub async fn list_tournament_games(
    pool: &PgPool,
    tournament: TournamentId,
    after: Option<(Timestamp, Uuid)>,
    limit: u32,
) -> Result<Page<TournamentGame, (Timestamp, Uuid)>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let (time, id) = after.unwrap_or((Timestamp::from_ms(0), Uuid::nil()));
    let query = || {
        sqlx::query_as!(
            GameRow,
            r#"
            select g.game, g.table_id, g.round, g.table_number, g.number, g.kind,
                g.scores as "scores: Json<Vec<TournamentScore>>",
                g.finished_at as "finished_at: SqlTimestamp"
            from tournament_games g
            join tournaments t on t.id = g.tournament
            where g.tournament = $1 and (g.finished_at, g.game) > ($2::timestamptz, $3::uuid)
                and (t.secret_round is null or g.round < t.secret_round)
            order by g.finished_at, g.game
            limit $4
            "#,
            tournament.0,
            to_sql(time) as _,
            id,
            i64::from(limit) + 1
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| row.into_game(tournament));
    let key = |last: &TournamentGame| (Timestamp::from_ms(last.finished_at_ms), last.game.0);
    Ok(Page::from_rows(rows.collect(), limit, key))
}

/// Reads a game of a tournament with its record, which may be archived; `None` if there is none. A
/// game counts as open while other tables play its deal, so that nobody reads its record.
pub(super) async fn read_tournament_game(
    pool: &PgPool,
    records: &Records,
    game: GameId,
) -> Result<Option<RecordedGame>, RecordError> {
    let query = || {
        sqlx::query!(
            r#"
            select g.kind, g.table_id, g.scores as "scores: Json<Vec<TournamentScore>>",
                g.round >= t.secret_round as is_secret, r.record as "record?", r.settlement
            from tournament_games g
            join tournaments t on t.id = g.tournament
            join game_records r on r.game = g.game
            where g.game = $1
            "#,
            game.0
        )
        .fetch_optional(pool)
    };
    let Some(row) = db::retry(query).await? else { return Ok(None) };
    let open = RecordedGame {
        game,
        kind: row.kind,
        table: TableId(row.table_id),
        room: TOURNAMENT_ROOM.to_owned(),
        state: GameState::Open,
        players: row.scores.0.iter().map(|score| score.player).collect(),
        record: None,
        settlement: None,
    };
    if row.is_secret.unwrap_or(false) {
        return Ok(Some(open));
    }
    let record = read_record(pool, records, game, row.record, true).await?;
    let settlement = Some(row.settlement);
    Ok(Some(RecordedGame { state: GameState::Settled, record, settlement, ..open }))
}
