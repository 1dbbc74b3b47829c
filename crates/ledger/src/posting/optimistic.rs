//! Optimistic posting of a batch: two round trips, without locks in between and without a
//! transaction around them.
//!
//! The database function `books_of` reads games, accounts and keys in one snapshot. All operations
//! are decided in memory. `write` then locks what was read, in the global lock order, and writes
//! only if every account still has the version that was read and every game that ends is still
//! open. So the result equals a decision under these locks from the beginning. Otherwise nothing is
//! written, and the caller falls back to `locked`, which waits for the locks.
//!
//! A value that is read and not written is valid as of the read, which lies within the call: a
//! stored answer was committed before, and a refusal was right when the books were read. The state
//! of a table or a game is of the same snapshot as the keys, so a game that was settled under this
//! very key is never refused as settled. Two cases are rejected by constraints on writing: a key
//! that another process has used in the meantime, and a second open game at a table. The refusal of
//! a seat that cannot pay is stored although no coins move: the versions of the insufficient
//! wallets are compared, and a missing wallet did not exist at the time of the read.
//!
//! Deleted accounts are not read here. The write rejects a game with a deleted player, and `locked`
//! then finds the seat.
//!
//! If the answer to the second statement is lost, a rerun of the batch finds its keys.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::account_ids::AccountIds;
use super::plan::Plan;
use super::snapshot::read_snapshot;
use super::write::is_version_conflict;
use crate::chart::Account;
use crate::operation::{Answer, Request};
use bahay_db::Failure;

/// Posts a batch on a connection that is in no transaction. Returns `None`, with nothing written,
/// after a version conflict or if only the books name the accounts of a game.
pub(crate) async fn try_post(
    connection: &mut PgConnection,
    account_ids: &AccountIds,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Option<Vec<Answer>>, sqlx::Error> {
    let plan = Plan::new(requests);
    if plan.booked_games().next().is_some() {
        return Ok(None);
    }
    let snapshot = read_snapshot(connection, &plan, account_ids).await?;
    match plan.post(connection, house_ids, snapshot).await {
        Ok(answers) => Ok(Some(answers)),
        Err(error)
            if is_version_conflict(&error) || Failure::classify(&error) == Failure::Contended =>
        {
            tracing::debug!(%error, "the books changed concurrently");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
