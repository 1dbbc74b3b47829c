//! Tables of several nodes: their games, players and clocks, and defective ones.

mod brief;
mod fairness;
mod halting;
mod house_clock;
mod lost;
mod nodes;
mod other_game;
mod parted;
mod play;
mod presence;
mod seeds;
mod shared;
mod takeovers;

use bahay::tables::{Tables, TermsSource};
use bahay_bots::Ai;
use bahay_engine::table::{Event, Readable};

use crate::support::bank::Bank;
use crate::support::live::TestLive;
use crate::support::node::ConnectedPlayer;

/// Starts the tables of a node without a ticker.
async fn start_tables<G: Ai + Readable>(bank: &Bank, live: &TestLive) -> Tables<G> {
    let (live, _publications) = live.connect().await;
    let (ledger, pool) = (bank.ledger.clone(), bank.pool.clone());
    Tables::start(live, ledger, pool, TermsSource::unchanging()).await.unwrap()
}

/// Waits until the game at a player's table is settled.
async fn wait_until_settled(seated: &mut ConnectedPlayer) {
    let is_settled = |event: &Event<_>| matches!(event, Event::Settled { .. });
    while !seated.next().await.events.iter().any(is_settled) {}
}
