//! The write of a decided batch: operations, transfers, entries, balances, games and records. One
//! call of the database function `write_books` writes everything in one round trip, as a
//! transaction of its own unless the caller has one.
//!
//! Before the write an operation is identified by its index in the batch, and an account to be
//! created by a negative number. The function takes one id of each sequence, whose increments leave
//! gaps, and adds the index. An id taken during the read would turn the read into a transaction
//! that waits for the disk.
//!
//! The function locks the games that end, creates accounts, locks all accounts that were read,
//! compares their versions, and only then writes, operations first, in the order of keys. These are
//! the phases of `post`: after a locked read the call finds the locks held, and after an optimistic
//! read it detects whether the decisions are still valid.

use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::books::Books;
use super::operation::Request;
use crate::archive::store::Games;

/// The maximum number of operations per call: the increment of the sequence of ids.
pub(super) const OPERATIONS_MAX: usize = 64;

/// The SQLSTATE that `write_books` raises after a version conflict.
const VERSION_CONFLICT: &str = "BH001";

/// A decided operation of this batch.
pub(super) struct DecidedOperation<'a> {
    /// The index in the batch, below [`OPERATIONS_MAX`].
    pub(super) place: i64,
    pub(super) request: &'a Request,
    pub(super) answer: Value,
}

/// Returns whether the write was rejected because the books have changed since they were read.
pub(super) fn is_version_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some(VERSION_CONFLICT)
}

/// Writes the decided operations, all or none. `decided` is in the order of keys.
pub(super) async fn write_batch(
    connection: &mut PgConnection,
    decided: &[DecidedOperation<'_>],
    books: &Books,
    games: &Games,
) -> Result<(), sqlx::Error> {
    if decided.iter().any(|one| usize::try_from(one.place).is_ok_and(|at| at >= OPERATIONS_MAX)) {
        return Err(sqlx::Error::Protocol("a batch has more operations than ids".into()));
    }
    let operations = OperationColumns::from_decided(decided);
    let transfers = books.transfers();
    let entries = books.entries();
    let accounts = AccountColumns::from_books(books);
    let finished = games.finished_columns()?;
    let opened = games.opened_columns()?;
    let opened_seat_numbers: &[i16] = &opened.seat_numbers;
    sqlx::query!(
        r#"
        select write_books(
            $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
            $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36,
            $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50
        ) as "nothing?: ()"
        "#,
        &finished.games,
        &finished.states as _,
        &finished.times as _,
        &finished.reasons as _,
        &finished.seat_games,
        &finished.seat_players,
        &finished.seat_nets,
        &accounts.made_places,
        &accounts.made_codes,
        &accounts.made_kinds as _,
        &accounts.made_players as _,
        &accounts.made_balances,
        &accounts.made_versions,
        &accounts.read_ids,
        &accounts.read_versions,
        &accounts.read_balances_after,
        &accounts.read_versions_after,
        &operations.places,
        &operations.keys as _,
        &operations.kinds as _,
        &operations.input_hashes as _,
        &operations.answers as _,
        &operations.games as _,
        &collect_column(transfers, |row| row.operation),
        &collect_column(transfers, |row| row.number),
        &collect_column(transfers, |row| row.code.as_str()) as _,
        &collect_column(transfers, |row| row.source),
        &collect_column(transfers, |row| row.destination),
        &collect_column(transfers, |row| row.amount.hundredths()),
        &collect_column(&entries, |row| row.account),
        &collect_column(&entries, |row| row.version),
        &collect_column(&entries, |row| row.operation),
        &collect_column(&entries, |row| row.number),
        &collect_column(&entries, |row| row.amount.hundredths()),
        &collect_column(&entries, |row| row.balance_before.hundredths()),
        &collect_column(&entries, |row| row.balance_after.hundredths()),
        &operations.settled,
        &operations.settlements as _,
        &operations.records as _,
        &opened.games,
        &opened.kinds,
        &opened.tables,
        &opened.rooms,
        &opened.antes,
        &opened.commitments,
        &opened.times as _,
        &opened.seat_games,
        &opened.seat_players,
        opened_seat_numbers,
        &opened.seat_stakes
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}

#[derive(Default)]
struct OperationColumns<'a> {
    places: Vec<i64>,
    keys: Vec<&'a str>,
    kinds: Vec<&'static str>,
    input_hashes: Vec<&'a [u8]>,
    answers: Vec<Json<&'a Value>>,
    games: Vec<Option<Uuid>>,
    settled: Vec<Uuid>,
    settlements: Vec<Json<&'a bahay_engine::table::Settlement>>,
    records: Vec<&'a str>,
}

impl<'a> OperationColumns<'a> {
    fn from_decided(decided: &'a [DecidedOperation<'a>]) -> Self {
        let mut columns = Self::default();
        for DecidedOperation { place, request, answer } in decided {
            let operation = &request.operation;
            columns.places.push(*place);
            columns.keys.push(&request.key);
            columns.kinds.push(operation.kind());
            columns.input_hashes.push(&request.input_hash);
            columns.answers.push(Json(answer));
            columns.games.push(operation.game().map(|game| game.0));
            if let Some(input) = operation.documents() {
                columns.settled.push(input.game.0);
                columns.settlements.push(Json(&input.settlement));
                columns.records.push(input.record.as_str());
            }
        }
        columns
    }
}

/// Accounts by their treatment; existing ones are in ascending order of ids.
#[derive(Default)]
struct AccountColumns {
    /// All accounts that were read, whether or not anything is booked on them.
    read_ids: Vec<i64>,
    read_versions: Vec<i64>,
    read_balances_after: Vec<i64>,
    read_versions_after: Vec<i64>,
    made_places: Vec<i64>,
    made_codes: Vec<String>,
    made_kinds: Vec<&'static str>,
    made_players: Vec<Option<Uuid>>,
    made_balances: Vec<i64>,
    made_versions: Vec<i64>,
}

impl AccountColumns {
    fn from_books(books: &Books) -> Self {
        let mut columns = Self::default();
        let mut account_states: Vec<_> = books.account_states().collect();
        account_states.sort_unstable_by_key(|(_, account_state)| account_state.id);
        for (account, account_state) in account_states {
            let id = account_state.id;
            let balance = account_state.balance.hundredths();
            let version = account_state.version;
            if account_state.exists() {
                columns.read_ids.push(id);
                columns.read_versions.push(account_state.version_read);
                columns.read_balances_after.push(balance);
                columns.read_versions_after.push(version);
            } else if account_state.has_changed() {
                columns.made_places.push(-id - 1);
                columns.made_codes.push(account.to_string());
                columns.made_kinds.push(account.kind());
                columns.made_players.push(account.player().map(|player| player.0));
                columns.made_balances.push(balance);
                columns.made_versions.push(version);
            }
        }
        columns
    }
}

fn collect_column<R, T>(rows: &[R], field: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(field).collect()
}
