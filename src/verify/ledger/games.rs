//! The comparison of every booked operation of a game with the game's rows and record, in pages in
//! the order of operations.

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, Record, TableId};
use jiff_sqlx::Timestamp;
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

use super::archived::{self, RecordRow};
use super::expected::{ExpectedTransfer, Seating, first_difference};
use super::{Difference, Extent, LISTED_MAX, Mismatch};
use crate::archive::GameState;
use crate::db;
use crate::ledger::{
    LedgerError, OpeningOutcome, SettlementOutcome, StoredSettlement, VoidOutcome, settlement_hash,
};
use crate::records::Records;
use crate::verify;
use bahay_engine::catalog::AnyGame;

/// The number of operations per page. A record has some kilobytes.
const PAGE: i64 = 200;

/// The counts of compared operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    pub opened: u64,
    /// The openings refused because a player could not pay or had reached a limit.
    pub refused: u64,
    pub settled: u64,
    pub voided: u64,
    /// The replayed actions.
    pub actions: u64,
    /// The last compared operation; 0 if there was none.
    pub last_operation: i64,
}

/// An operation joined with its game.
#[derive(Debug)]
struct Row {
    id: i64,
    kind: String,
    input_hash: Vec<u8>,
    answer: Value,
    game: Uuid,
    /// The kind of the game.
    game_kind: Option<String>,
    table: Option<Uuid>,
    room: Option<String>,
    state: Option<String>,
    ante: Option<i64>,
    commitment: Option<Vec<u8>>,
    finished_at: Option<Timestamp>,
    players: Vec<Uuid>,
    stakes: Vec<i64>,
    nets: Vec<Option<i64>>,
    settlement: Option<Value>,
    record: Option<String>,
    codes: Vec<String>,
    sources: Vec<String>,
    destinations: Vec<String>,
    amounts: Vec<i64>,
}

impl RecordRow for Row {
    fn game(&self) -> Uuid {
        self.game
    }

    /// The row of an opening has neither settlement nor record.
    fn is_archived(&self) -> bool {
        self.settlement.is_some() && self.record.is_none()
    }

    fn set_record(&mut self, text: String) {
        self.record = Some(text);
    }
}

pub(super) async fn check(
    pool: &PgPool,
    records: &Records,
    extent: Extent,
) -> Result<(ReplayCounts, Vec<Difference>), LedgerError> {
    let mut counted = ReplayCounts::default();
    let mut differences = find_unbooked(pool).await?;
    let mut after = match extent {
        Extent::Everything => 0,
        Extent::After(operation) => operation,
    };
    loop {
        let mut rows = db::retry(|| read_page(pool, after)).await?;
        let Some(last) = rows.last() else {
            break;
        };
        after = last.id;
        counted.last_operation = last.id;
        differences.extend(archived::fill_records(pool, records, &mut rows).await?);
        // A page of replays occupies a core for a while.
        let (some, found) =
            tokio::task::spawn_blocking(move || check_page(&rows, counted))
                .await
                .map_err(|error| LedgerError::Unavailable { reason: error.to_string() })?;
        counted = some;
        differences.extend(found);
        differences.truncate(LISTED_MAX);
    }
    Ok((counted, differences))
}

async fn read_page(pool: &PgPool, after: i64) -> Result<Vec<Row>, sqlx::Error> {
    sqlx::query_as!(
        Row,
        r#"
        select o.id, o.kind, o.input_hash, o.answer, o.game as "game!",
            g.kind as "game_kind?", g.table_id as "table?", g.room as "room?",
            g.state as "state?", g.ante as "ante?", g.commitment as "commitment?",
            g.finished_at as "finished_at?: Timestamp",
            array(
                select p.player from game_players p where p.game = o.game order by p.seat
            ) as "players!",
            array(
                select p.stake from game_players p where p.game = o.game order by p.seat
            ) as "stakes!",
            array(
                select p.net from game_players p where p.game = o.game order by p.seat
            ) as "nets!: Vec<Option<i64>>",
            r.settlement as "settlement?", r.record as "record?",
            o.codes, o.amounts,
            array(
                select coalesce(a.code, 'account ' || s.id)
                from unnest(o.sources) with ordinality as s (id, number)
                left join accounts a on a.id = s.id
                order by s.number
            ) as "sources!",
            array(
                select coalesce(a.code, 'account ' || d.id)
                from unnest(o.destinations) with ordinality as d (id, number)
                left join accounts a on a.id = d.id
                order by d.number
            ) as "destinations!"
        from operations o
        left join games g on g.id = o.game
        left join game_records r on r.game = o.game and o.kind = 'settle'
        where o.id > $1 and o.kind in ('open', 'settle', 'void') and o.game is not null
        order by o.id
        limit $2
        "#,
        after,
        PAGE
    )
    .fetch_all(pool)
    .await
}

/// Returns games whose state requires an operation that is not booked.
async fn find_unbooked(pool: &PgPool) -> Result<Vec<Difference>, LedgerError> {
    let query = || {
        sqlx::query!(
            r#"
            select g.id, g.state,
                exists (
                    select from operation_keys k
                    join operations o on o.id = k.operation
                    where k.key = 'open:' || g.id
                ) as "opened!"
            from games g
            where not exists (
                select from operation_keys k
                join operations o on o.id = k.operation
                where k.key = 'open:' || g.id
            )
                or g.state = 'settled'
                    and not exists (
                    select from operation_keys k
                    join operations o on o.id = k.operation
                    where k.key = 'settle:' || g.id
                )
                or g.state = 'voided'
                    and not exists (
                    select from operation_keys k
                    join operations o on o.id = k.operation
                    where k.key = 'void:' || g.id
                )
            order by g.id
            limit $1
            "#,
            i64::try_from(LISTED_MAX).unwrap_or(i64::MAX)
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?;
    let differences = rows.into_iter().map(|row| {
        let key = match row.state.as_str() {
            _ if !row.opened => "open",
            "settled" => "settle",
            _ => "void",
        };
        let what = Mismatch::NotBooked { state: row.state, key };
        Difference { game: GameId(row.id), what }
    });
    Ok(differences.collect())
}

fn check_page(rows: &[Row], mut counted: ReplayCounts) -> (ReplayCounts, Vec<Difference>) {
    let mut differences = Vec::new();
    for row in rows {
        if let Err(what) = check_row(row, &mut counted) {
            differences.push(Difference { game: GameId(row.game), what });
        }
    }
    (counted, differences)
}

fn check_row(row: &Row, counted: &mut ReplayCounts) -> Result<(), Mismatch> {
    match row.kind.as_str() {
        "open" => check_opening(row, counted),
        "settle" => check_settlement(row, counted),
        // The query selects three kinds.
        _ => check_void(row, counted),
    }
}

fn check_opening(row: &Row, counted: &mut ReplayCounts) -> Result<(), Mismatch> {
    const KEY: &str = "open";
    let answer: OpeningOutcome = serde_json::from_value(row.answer.clone())
        .map_err(|_| Mismatch::AnswerDiffers { key: KEY })?;
    match answer {
        OpeningOutcome::CannotPay { .. } | OpeningOutcome::OverAllowance { .. } => {
            counted.refused += 1;
            let nothing = row.codes.is_empty() && row.state.is_none();
            if nothing { Ok(()) } else { Err(Mismatch::RefusedAndBooked) }
        }
        OpeningOutcome::Opened { stakes, .. } => {
            counted.opened += 1;
            let game = OperationGame::new(row, KEY)?;
            if stakes != game.stakes {
                return Err(Mismatch::AnswerDiffers { key: KEY });
            }
            check_transfers(row, KEY, game.seating().opening())
        }
    }
}

fn check_settlement(row: &Row, counted: &mut ReplayCounts) -> Result<(), Mismatch> {
    const KEY: &str = "settle";
    counted.settled += 1;
    let game = OperationGame::new(row, KEY)?;
    game.check_state(GameState::Settled, KEY)?;
    let (Some(record), Some(settlement), Some(finished_at)) =
        (&row.record, &row.settlement, row.finished_at)
    else {
        return Err(Mismatch::NoRecord);
    };
    let verdict =
        verify::verify(record).map_err(|error| Mismatch::Record { fault: error.to_string() })?;
    let record = serde_json::from_str(record)
        .map_err(|error| Mismatch::Record { fault: error.to_string() })?;
    counted.actions += verdict.verified.actions as u64;
    let recomputed = &verdict.record;
    check_same_game(recomputed, &game)?;
    let recomputed_settlement = serde_json::to_value(&recomputed.settlement);
    if recomputed_settlement.ok().as_ref() != Some(settlement) {
        return Err(Mismatch::RecordDiffers { what: "settlement" });
    }
    let stored = StoredSettlement {
        game: game.game,
        table: game.table,
        room: game.room.to_owned(),
        players: game.players.clone(),
        settlement: settlement.clone(),
        record,
        finished_at_ms: finished_at.to_jiff().as_millisecond(),
    };
    if settlement_hash(&stored).as_slice() != row.input_hash {
        return Err(Mismatch::HashDiffers);
    }
    check_answer(row, recomputed)?;
    let expected = game.seating().settlement(&recomputed.settlement).ok_or(Mismatch::Overflow)?;
    check_transfers(row, KEY, expected)
}

/// Checks that the stored answer and the players' rows follow from the record.
fn check_answer(row: &Row, record: &Record<AnyGame>) -> Result<(), Mismatch> {
    let differs = Mismatch::AnswerDiffers { key: "settle" };
    let Ok(SettlementOutcome { net, pot, .. }) = serde_json::from_value(row.answer.clone()) else {
        return Err(differs);
    };
    let seats = bahay_engine::seat::Seat::all(u8::try_from(record.players.len()).unwrap_or(0));
    let nets: Option<Vec<_>> = seats.map(|seat| record.settlement.net(seat)).collect();
    let nets = nets.ok_or(Mismatch::Overflow)?;
    let rows: Option<Vec<_>> = row.nets.iter().map(|net| net.map(Coins::from_hundredths)).collect();
    if net != nets || rows != Some(nets) || pot != record.pot_after {
        return Err(differs);
    }
    Ok(())
}

fn check_void(row: &Row, counted: &mut ReplayCounts) -> Result<(), Mismatch> {
    const KEY: &str = "void";
    counted.voided += 1;
    let game = OperationGame::new(row, KEY)?;
    game.check_state(GameState::Voided, KEY)?;
    let Ok(VoidOutcome { ante, stakes, .. }) = serde_json::from_value(row.answer.clone()) else {
        return Err(Mismatch::AnswerDiffers { key: KEY });
    };
    if ante != game.ante || stakes != game.stakes {
        return Err(Mismatch::AnswerDiffers { key: KEY });
    }
    check_transfers(row, KEY, game.seating().voiding())
}

fn check_same_game(record: &Record<AnyGame>, game: &OperationGame<'_>) -> Result<(), Mismatch> {
    let pairs = [
        ("game", record.game == game.game),
        ("kind", record.kind == game.kind),
        ("table", record.table == game.table),
        ("room", record.terms.room == game.room),
        ("ante", record.terms.ante() == Some(game.ante)),
        ("commitment", record.commitment.0.0 == game.commitment),
        ("set of players", record.players == game.players),
        ("set of stakes", record.stakes == game.stakes),
    ];
    match pairs.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(Mismatch::RecordDiffers { what }),
        None => Ok(()),
    }
}

fn check_transfers(
    row: &Row,
    key: &'static str,
    expected: Vec<ExpectedTransfer>,
) -> Result<(), Mismatch> {
    let transfers = row.codes.iter().zip(&row.sources).zip(&row.destinations).zip(&row.amounts);
    let booked = transfers.map(|(((code, source), destination), amount)| ExpectedTransfer {
        code: code.clone(),
        source: source.clone(),
        destination: destination.clone(),
        amount: Coins::from_hundredths(*amount),
    });
    match first_difference(booked.collect(), expected) {
        Some(first) => Err(Mismatch::TransfersDiffer { key, first }),
        None => Ok(()),
    }
}

/// The game of an operation, from the game's own rows.
struct OperationGame<'a> {
    game: GameId,
    kind: &'a str,
    table: TableId,
    room: &'a str,
    state: &'a str,
    ante: Coins,
    commitment: &'a [u8],
    players: Vec<PlayerId>,
    stakes: Vec<Coins>,
}

impl<'a> OperationGame<'a> {
    fn new(row: &'a Row, key: &'static str) -> Result<Self, Mismatch> {
        let (Some(kind), Some(table), Some(room), Some(state), Some(ante), Some(commitment)) = (
            row.game_kind.as_deref(),
            row.table,
            row.room.as_deref(),
            row.state.as_deref(),
            row.ante,
            row.commitment.as_deref(),
        ) else {
            return Err(Mismatch::Unknown { key });
        };
        Ok(Self {
            game: GameId(row.game),
            kind,
            table: TableId(table),
            room,
            state,
            ante: Coins::from_hundredths(ante),
            commitment,
            players: row.players.iter().copied().map(PlayerId).collect(),
            stakes: row.stakes.iter().copied().map(Coins::from_hundredths).collect(),
        })
    }

    fn check_state(&self, state: GameState, key: &'static str) -> Result<(), Mismatch> {
        if self.state == state.as_str() {
            return Ok(());
        }
        Err(Mismatch::StateDiffers { key, state: self.state.to_owned() })
    }

    fn seating(&self) -> Seating<'_> {
        Seating {
            game: self.game,
            table: self.table,
            room: self.room,
            ante: self.ante,
            players: &self.players,
            stakes: &self.stakes,
        }
    }
}
