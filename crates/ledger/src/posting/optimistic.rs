//! Optimistic posting of a batch: a read, unless all books are cached, and a write, without locks in
//! between and without a transaction around them.
//!
//! Games, accounts and keys that are not in the [cache](super::books_cache) are read in one
//! snapshot by the database function `books_of`. All operations are decided in memory. `write` then
//! locks what was read, in the global lock order, and writes only if every account is still as it
//! was read and every game that ends is still open. So the result equals a decision under these
//! locks from the beginning. Otherwise nothing is written, and the batch is decided again on books
//! that are all read. If these are outdated too, the caller falls back to `locked`, which waits for
//! the locks.
//!
//! A value that is read and not written is valid as of the read, which lies within the call: a
//! stored answer was committed before, and a refusal was right when the books were read. The state
//! of a table or a game is of the same snapshot as the keys, so a game that was settled under this
//! very key is never refused as settled. Two cases are rejected by constraints on writing: a key
//! that was used in the meantime, or that was not looked up, and a second open game at a table. The
//! refusal of a seat that cannot pay is stored although no coins move: the versions of the
//! insufficient wallets are compared, and a missing wallet did not exist at the time of the read.
//!
//! Deleted accounts are not read here. The write rejects a game with a deleted player, and `locked`
//! then finds the seat.
//!
//! If the answer to the write is lost, a rerun of the batch finds its keys.

use std::collections::BTreeMap;

use sqlx::PgConnection;

use super::PostingCache;
use super::account_ids::AccountIds;
use super::books_cache::CachedPart;
use super::plan::{BatchSnapshot, DecidedBatch, Plan};
use super::snapshot::read_snapshot;
use super::write::is_version_conflict;
use crate::books::AccountState;
use crate::chart::Account;
use crate::operation::{Answer, Request};
use bahay_db::Failure;

/// Posts a batch on a connection that is in no transaction. Returns `None`, with nothing written,
/// after a version conflict or if only the books name the accounts of a game.
pub(crate) async fn try_post(
    connection: &mut PgConnection,
    cache: &PostingCache,
    house_ids: &BTreeMap<Account, i64>,
    requests: &[&Request],
) -> Result<Option<Vec<Answer>>, sqlx::Error> {
    let plan = Plan::new(requests);
    if plan.booked_games().next().is_some() {
        return Ok(None);
    }
    let cached = cache.books.find(requests);
    if !cached.is_empty() {
        let snapshot = complete_snapshot(connection, &cache.account_ids, requests, &cached).await?;
        let decision = plan.decide(connection, house_ids, snapshot).await?;
        if decision.answers.iter().any(Result::is_err) {
            cache.books.remove(&plan);
        } else if write(connection, cache, &decision).await? {
            return Ok(Some(decision.answers));
        } else {
            cache.books.note_conflict(&plan);
        }
    }
    let snapshot = read_snapshot(connection, &plan, &cache.account_ids).await?;
    let decision = plan.decide(connection, house_ids, snapshot).await?;
    let is_written = write(connection, cache, &decision).await?;
    Ok(is_written.then_some(decision.answers))
}

/// Reads the books that are not cached, and joins them with those that are.
async fn complete_snapshot(
    connection: &mut PgConnection,
    account_ids: &AccountIds,
    requests: &[&Request],
    cached: &CachedPart,
) -> Result<BatchSnapshot, sqlx::Error> {
    let others = requests.iter().enumerate().filter(|(place, _)| !cached.covers(*place));
    let others: Vec<_> = others.map(|(_, request)| *request).collect();
    let (mut books, stored) = if others.is_empty() {
        BatchSnapshot::default()
    } else {
        read_snapshot(connection, &Plan::new(&others), account_ids).await?
    };
    for (account, state) in &cached.account_states {
        books.account_states.entry(account.clone()).or_insert(*state);
    }
    let ids = account_ids.take_ids(connection, cached.new_stakes.len()).await?;
    for (stake, id) in cached.new_stakes.iter().zip(ids) {
        books.account_states.entry(stake.clone()).or_insert_with(|| AccountState::new(id));
    }
    for game in &cached.games {
        books.games.add(game.clone());
    }
    let mut stored = stored.into_iter();
    let stored = (0..requests.len())
        .map(|place| if cached.covers(place) { None } else { stored.next().flatten() });
    Ok((books, stored.collect()))
}

/// Writes a decided batch. Returns false, with nothing written, after a version conflict.
async fn write(
    connection: &mut PgConnection,
    cache: &PostingCache,
    decision: &DecidedBatch<'_>,
) -> Result<bool, sqlx::Error> {
    match decision.write(connection).await {
        Ok(()) => {
            cache.books.store(&decision.books);
            Ok(true)
        }
        Err(error)
            if is_version_conflict(&error) || Failure::classify(&error) == Failure::Contended =>
        {
            tracing::debug!(%error, "the books changed concurrently");
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
