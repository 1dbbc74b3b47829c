//! What breaks under the ledger: connections, locks, transactions, nodes, PostgreSQL itself.
//!
//! Each test ends with clean books. `cuts` enumerates every request of every operation,
//! `lost_connections` cuts everything at once, `nodes` sets two nodes against each other,
//! `contention` provokes what PostgreSQL refuses to do at once, and `outages` takes the connections
//! or the whole server away.

mod contention;
mod cuts;
mod lost_connections;
mod nodes;
mod outages;

use std::future::Future;
use std::time::Duration;

use bahay::ledger::LedgerError;

use crate::support::house::PATIENCE;

/// What a game of [`Bank::deal`](crate::support::bank::Bank::deal) takes from a wallet at first:
/// the ante and the stake.
const TAKEN: i64 = 100 + 1_400;

/// What it changes in the end when seat 0 wins three counts and the POT of this one game.
const WON: [i64; 3] = [-100 + 570 + 300, -100 - 300, -100 - 300];

/// Asks until there is an answer, as whoever is owed one does.
async fn insist<T, F>(call: impl Fn() -> F) -> Result<T, LedgerError>
where
    F: Future<Output = Result<T, LedgerError>>,
{
    let asking = async {
        loop {
            match call().await {
                Err(LedgerError::Unavailable { .. }) => {}
                answer => return answer,
            }
        }
    };
    // A hang guard: the longest outage of a test is some seconds.
    tokio::time::timeout(8 * PATIENCE, asking).await.expect("the ledger is back sooner or later")
}

/// For conditions that only a query can tell.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}
