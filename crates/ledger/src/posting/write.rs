//! The write of a decided batch: operations with their transfers, balances, games and records. One
//! call of the database function `write_books` writes everything in one round trip, as a
//! transaction of its own unless the caller has one.
//!
//! Before the write an operation is identified by its index in the batch. The function takes one id
//! of the sequence, whose increments leave gaps, under the locks of the accounts, and adds the
//! index, so that ids ascend along each account.
//!
//! The function locks the games that end, creates accounts, locks all accounts that were read,
//! compares their versions, and only then writes, operations first, in the order of keys. These are
//! the phases of `locked`: after a locked read the call finds the locks held, and after an
//! optimistic read it detects whether the decisions are still valid.

use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::books::{Books, ChangedAccountRow, Games, NewAccountRow, OperationRow, TransferColumns};
use crate::operation::Request;
use bahay_base::clock::Timestamp;
use bahay_db::to_sql;

/// The maximum number of operations per call: the increment of the sequence of ids.
pub(crate) const OPERATIONS_MAX: usize = 64;

/// The SQLSTATE that `write_books` raises after a version conflict.
const VERSION_CONFLICT: &str = "BH001";

/// A decided operation of this batch.
pub(crate) struct DecidedOperation<'a> {
    /// The index in the batch, below [`OPERATIONS_MAX`].
    pub(super) place: i64,
    pub(super) request: &'a Request,
    pub(super) answer: Value,
    pub(super) transfers: TransferColumns,
}

/// Returns whether the write was rejected because the books have changed since they were read.
pub(crate) fn is_version_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.as_deref() == Some(VERSION_CONFLICT)
}

/// Writes the decided operations, all or none. `decided` is in the order of keys.
pub(crate) async fn write_batch(
    connection: &mut PgConnection,
    decided: &[DecidedOperation<'_>],
    books: &Books,
) -> Result<(), sqlx::Error> {
    if decided.iter().any(|one| usize::try_from(one.place).is_ok_and(|at| at >= OPERATIONS_MAX)) {
        return Err(sqlx::Error::Protocol("a batch has more operations than ids".into()));
    }
    let operations: Vec<_> = decided.iter().map(|one| operation_row(one, &books.games)).collect();
    let (new_accounts, changed_accounts) = account_rows(books);
    sqlx::query!(
        r#"select write_books($1, $2, $3, $4) as "nothing?: ()""#,
        &operations as _,
        &books.games.seat_rows() as _,
        &new_accounts as _,
        &changed_accounts as _
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}

fn operation_row<'a>(decided: &'a DecidedOperation<'_>, games: &'a Games) -> OperationRow<'a> {
    let DecidedOperation { place, request, answer, transfers } = decided;
    let finish = games.finished_by(*place);
    let documents = request.documents();
    let game = games.opened_by(*place);
    let opened = game.map(|(_, opened)| opened);
    let game = game.map(|(game, _)| game);
    let to_time = |ms| to_sql(Timestamp::from_ms(ms));
    OperationRow {
        place: *place,
        key: &request.key,
        kind: request.kind,
        input_hash: &request.input_hash,
        answer: Json(answer),
        game: request.game.map(|game| game.0),
        codes: &transfers.codes,
        sources: &transfers.sources,
        destinations: &transfers.destinations,
        amounts: &transfers.amounts,
        accounts: &transfers.accounts,
        versions: &transfers.versions,
        balances: &transfers.balances,
        listed: &transfers.listed,
        end_state: finish.map(|finish| finish.state.as_str()),
        finished_at: finish.and_then(|end| end.finished_at_ms).map(to_time),
        void_reason: finish.and_then(|finish| finish.void_reason.as_deref()),
        settlement: documents.map(|documents| Json(documents.settlement)),
        record: documents.map(|documents| documents.record.as_str()),
        game_kind: opened.map(|opened| opened.kind.as_str()),
        table_id: game.map(|game| game.table.0),
        room: game.map(|game| game.room.as_str()),
        ante: game.map(|game| game.ante.hundredths()),
        commitment: opened.map(|opened| opened.commitment.0.0.as_slice()),
        opened_at: opened.map(|opened| to_time(opened.opened_at_ms)),
    }
}

/// Returns the accounts to be created, and all accounts that were read, whether or not anything is
/// booked on them, in ascending order of ids.
fn account_rows(books: &Books) -> (Vec<NewAccountRow>, Vec<ChangedAccountRow>) {
    let mut new = Vec::new();
    let mut changed = Vec::new();
    for (account, account_state) in &books.account_states {
        if !account_state.is_new {
            changed.push(account_state.row());
        } else if account_state.has_changed() {
            new.push(NewAccountRow {
                id: account_state.id,
                code: account.to_string(),
                kind: account.kind(),
                player: account.player().map(|player| player.0),
                balance: account_state.balance.hundredths(),
                version: account_state.version,
            });
        }
    }
    changed.sort_unstable_by_key(|row| row.id);
    (new, changed)
}
