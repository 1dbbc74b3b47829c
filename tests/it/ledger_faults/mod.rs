//! The ledger under faults of connections, locks, transactions, nodes and PostgreSQL itself.
//!
//! Each test ends with a clean audit. `cuts` cuts the connection at every request of every
//! operation, `lost_connections` cuts all connections at once, `nodes` lets two nodes settle and
//! void the same games, `contention` provokes deadlocks and serialization failures, and `outages`
//! removes the connections or the whole server.

mod contention;
mod cuts;
mod lost_connections;
mod nodes;
mod outages;

use std::future::Future;

use bahay::ledger::{Ledger, LedgerError, OpeningOutcome, SettleGame};
use bahay_engine::table::{GameId, PlayerId, TableId};

use crate::support::bank::{Bank, PotGoes, settlement, table};
use crate::support::house::PATIENCE;

/// The ante and the stake that the opening of a game of
/// [`Bank::deal`](crate::support::bank::Bank::deal) takes from a wallet, in hundredths of a coin.
const TAKEN: i64 = 100 + 1_400;

/// The change of each wallet by a whole game in which seat 0 wins three counts and the POT of that
/// one game, in hundredths of a coin.
const WON: [i64; 3] = [-100 + 570 + 300, -100 - 300, -100 - 300];

/// Repeats a call while the ledger is unavailable and returns the first other result.
async fn retry_until_answered<T, F>(call: impl Fn() -> F) -> Result<T, LedgerError>
where
    F: Future<Output = Result<T, LedgerError>>,
{
    let retries = async {
        loop {
            match call().await {
                Err(LedgerError::Unavailable { .. }) => {}
                answer => return answer,
            }
        }
    };
    // The timeout guards against a hang: the longest outage of a test lasts a few seconds.
    tokio::time::timeout(8 * PATIENCE, retries).await.expect("the ledger is available again")
}

/// Opens a game at a table of its own and returns its settlement, in which each player wins what
/// [`WON`] says.
async fn open_won(bank: &Bank, players: &[PlayerId]) -> SettleGame {
    let game = bank.deal(table(), players);
    let (stakes, pot) = bank.open(&game).await;
    bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot))
}

/// Plays such a game through a node that may be unavailable for some time.
async fn play_won(bank: &Bank, node: &Ledger, table: TableId, players: &[PlayerId]) -> GameId {
    let game = bank.deal(table, players);
    let opening = retry_until_answered(|| node.open_game(game.clone())).await.unwrap();
    let OpeningOutcome::Opened { stakes, pot } = opening else { panic!("all can pay") };
    let input = bank.finish(&game, settlement(0, 3, &stakes, PotGoes::ToWinner, pot));
    retry_until_answered(|| node.settle_game(input.clone())).await.unwrap();
    game.game
}
