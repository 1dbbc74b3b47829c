//! The archive of games: the players, the results, and the record from which anybody can verify a
//! game.
//!
//! The ledger writes the rows of games for coins, in the transaction that moves the coins, and
//! `tournament_games` those of tournaments. This module reads them, from the database and from the
//! object store of old records (`records`). It treats a record as a document; the engine defines
//! its content.

mod detail;
pub mod halted;
mod history;
pub mod tournament_games;
pub mod tournament_rounds;
mod unrevealed;

use bahay_engine::chance::Commitment;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::Timestamp;
use serde_json::Value;
use sqlx::PgPool;

use crate::db::{self, Page};
use crate::records::{RecordError, Records};

pub use bahay_base::states::{GameOutcome, GameState};
pub use detail::{GameDetail, SeatDetail, read_detail};
pub use history::list_by_player;
pub use unrevealed::{UnrevealedCommitment, UnrevealedFilter, unrevealed_commitments};

/// The maximum page size; a larger limit is reduced to it.
pub const PAGE_MAX: u32 = 100;

/// A game, with its documents if it is settled.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedGame {
    pub game: GameId,
    /// The kind of the game.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    pub state: GameState,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The record, with everything needed to verify the game. Only of a settled game.
    pub record: Option<Value>,
    /// The booked settlement. Only of a settled game.
    pub settlement: Option<Value>,
}

/// Reads a game, of a tournament too; `None` if there is no such game. The caller authorizes the
/// access, by `players`.
pub async fn read_game(
    pool: &PgPool,
    records: &Records,
    game: GameId,
) -> Result<Option<RecordedGame>, RecordError> {
    let query = || {
        sqlx::query!(
            r#"
        select g.kind, g.table_id, g.room, g.state,
            array(
                select p.player from game_players p where p.game = g.id order by p.seat
            ) as "players!",
            r.record as "record?", r.settlement as "settlement?"
        from games g
        left join game_records r on r.game = g.id
        where g.id = $1
        "#,
            game.0
        )
        .fetch_optional(pool)
    };
    let Some(row) = db::retry(query).await? else {
        return tournament_games::read_tournament_game(pool, records, game).await;
    };
    Ok(Some(RecordedGame {
        game,
        kind: row.kind,
        table: TableId(row.table_id),
        room: row.room,
        state: db::parse_column(&row.state)?,
        players: row.players.into_iter().map(PlayerId).collect(),
        record: read_record(pool, records, game, row.record, row.settlement.is_some()).await?,
        settlement: row.settlement,
    }))
}

/// Reads the record of a game from the database or the archive. Only settled games have one.
async fn read_record(
    pool: &PgPool,
    records: &Records,
    game: GameId,
    here: Option<String>,
    is_settled: bool,
) -> Result<Option<Value>, RecordError> {
    let text = match here {
        None if is_settled => records.read_one(pool, game).await?,
        here => here,
    };
    let document = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(document.map_err(|error| sqlx::Error::Decode(error.into()))?)
}

/// A game with held stakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenGame {
    pub game: GameId,
    pub table: TableId,
    pub opened_at_ms: i64,
}

/// Lists open games in the order of their ids, from behind `after`. Used to find games that have
/// lost their live state.
pub async fn list_open_games(
    pool: &PgPool,
    after: Option<GameId>,
    limit: u32,
) -> Result<Page<OpenGame, GameId>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let query = || {
        sqlx::query!(
            r#"
        select g.id, g.table_id, g.opened_at as "opened_at: Timestamp"
        from games g
        where g.state = 'open' and ($1::uuid is null or g.id > $1)
        order by g.id
        limit $2
        "#,
            after.map(|game| game.0),
            i64::from(limit) + 1
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?;
    let rows = rows.into_iter().map(|row| OpenGame {
        game: GameId(row.id),
        table: TableId(row.table_id),
        opened_at_ms: row.opened_at.to_jiff().as_millisecond(),
    });
    Ok(Page::from_rows(rows.collect(), limit, |last| last.game))
}

fn parse_seat(number: i16) -> Result<Seat, sqlx::Error> {
    let seat = u8::try_from(number).ok().and_then(Seat::new);
    seat.ok_or_else(|| sqlx::Error::Decode(format!("no seat: {number}").into()))
}

fn parse_commitment(bytes: &[u8]) -> Result<Commitment, sqlx::Error> {
    let bytes = <[u8; 32]>::try_from(bytes)
        .map_err(|_| sqlx::Error::Decode("a commitment is not 32 bytes long".into()))?;
    Ok(Commitment(Hex(bytes)))
}
