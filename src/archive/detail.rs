//! The details of one game: seats, stakes and results.

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::Timestamp;
use serde_json::Value;
use sqlx::PgPool;

use super::{GameState, parse_commitment, parse_seat, read_record};
use crate::db;
use crate::records::{RecordError, Records};

/// A game in any state.
#[derive(Clone, Debug, PartialEq)]
pub struct GameDetail {
    pub game: GameId,
    /// The kind of the game.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    pub state: GameState,
    pub ante: Coins,
    /// The commitment of the house, as booked with the opening.
    pub commitment: Commitment,
    pub opened_at_ms: i64,
    pub finished_at_ms: Option<i64>,
    /// The ending of a settled game, once it is projected.
    pub ending: Option<String>,
    /// The time at which a reversal of the settlement was booked.
    pub reversed_at_ms: Option<i64>,
    pub seats: Vec<SeatDetail>,
    /// The record; only of a settled game.
    pub record: Option<Value>,
    pub settlement: Option<Value>,
}

/// A seat in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatDetail {
    pub seat: bahay_engine::seat::Seat,
    pub player: PlayerId,
    /// The player's current name.
    pub name: String,
    /// True if the player is a house bot.
    pub is_bot: bool,
    pub stake: Coins,
    /// The change by the game without the ante; `None` while the game is open, zero after a
    /// reversal.
    pub net: Option<Coins>,
}

/// Reads a game's details; `None` if there is no such game. The caller authorizes the access, by
/// the seats.
pub async fn read_detail(
    pool: &PgPool,
    records: &Records,
    game: GameId,
) -> Result<Option<GameDetail>, RecordError> {
    let query = || {
        sqlx::query!(
            r#"
            select g.id, g.kind, g.table_id, g.room, g.state, g.ante, g.commitment,
                g.opened_at as "opened_at: Timestamp", g.finished_at as "finished_at: Timestamp",
                e.ending as "ending?", r.record as "record?", r.settlement as "settlement?",
                (
                    select o.created_at
                    from operation_keys s
                    join operation_keys k on k.key = 'reverse:' || s.operation
                    join operations o on o.id = k.operation
                    where s.key = 'settle:' || g.id
                ) as "reversed_at: Timestamp"
            from games g
            left join game_records r on r.game = g.id
            left join game_results e on e.game = g.id
            where g.id = $1
            "#,
            game.0
        )
        .fetch_optional(pool)
    };
    let Some(row) = db::retry(query).await? else {
        return Ok(None);
    };
    let query = || {
        sqlx::query!(
            r#"
            select p.seat, p.player, n.name, n.kind = 'bot' as "is_bot!", p.stake, p.net
            from game_players p
            join players n on n.id = p.player
            where p.game = $1
            order by p.seat
            "#,
            game.0
        )
        .fetch_all(pool)
    };
    let is_reversed = row.reversed_at.is_some();
    let net =
        |hundredths| if is_reversed { Coins::ZERO } else { Coins::from_hundredths(hundredths) };
    let seats = db::retry(query).await?.into_iter().map(|row| {
        Ok(SeatDetail {
            seat: parse_seat(row.seat)?,
            player: PlayerId(row.player),
            name: row.name,
            is_bot: row.is_bot,
            stake: Coins::from_hundredths(row.stake),
            net: row.net.map(net),
        })
    });
    Ok(Some(GameDetail {
        game: GameId(row.id),
        kind: row.kind,
        table: TableId(row.table_id),
        room: row.room,
        state: db::parse_column(&row.state)?,
        ante: Coins::from_hundredths(row.ante),
        commitment: parse_commitment(&row.commitment)?,
        opened_at_ms: row.opened_at.to_jiff().as_millisecond(),
        finished_at_ms: row.finished_at.map(|at| at.to_jiff().as_millisecond()),
        ending: row.ending,
        reversed_at_ms: row.reversed_at.map(|at| at.to_jiff().as_millisecond()),
        seats: seats.collect::<Result<_, sqlx::Error>>()?,
        record: read_record(pool, records, game, row.record, row.settlement.is_some()).await?,
        settlement: row.settlement,
    }))
}
