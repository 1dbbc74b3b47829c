//! Takeovers are played by the searching AI while the node has time for it, and by the quick one
//! otherwise.

use std::time::Duration;

use bahay::metrics::Metrics;
use bahay_engine::table::{Clocks, Phase};

use crate::support::house::unhurried_clocks;
use crate::support::node::{Node, deal, seat_new_players};

/// The AI's threads get only the time that other tests leave, so an answer may take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lets one player leave after the deal and plays the game to its end. Returns the AI's metrics.
async fn left_to_the_ai(thinkers: u8) -> String {
    let clocks = Clocks { think_ms: 1, ..unhurried_clocks() };
    let (bank, _live, node) = Node::with_stores(clocks).await;
    node.tables().start_ai_pool(thinkers, PATIENCE).unwrap();
    let (table, players) = seat_new_players([&node], &bank, [100_000; 3]).await;
    let mut seated = node.join_players(table, &players).await;
    deal(&node, &mut seated).await;
    let gone = seated.pop().unwrap();
    assert_eq!(node.lobby.leave(gone.player).await.unwrap(), table);
    loop {
        let now = node.read_table(table).await;
        if !matches!(now.phase(), Phase::Playing(_)) {
            break;
        }
        for one in &mut seated {
            one.table = now.clone();
            if let Some(input) = one.input() {
                // The clock or the AI may have been faster.
                let _ = node.tables().submit(table, input).await;
            }
        }
        tokio::task::yield_now().await;
    }
    let metrics = Metrics::default();
    metrics.register_counts("bahay_ai_decisions", "Thoughts", node.tables().ai_outcomes());
    metrics.text().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_takeover_is_played_by_the_searching_ai() {
    let figures = left_to_the_ai(2).await;
    let played = "bahay_ai_decisions_total{outcome=\"played\"} ";
    let played = figures.lines().find_map(|line| line.strip_prefix(played));
    assert!(played.is_some_and(|count| count != "0"), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_time_to_think_the_quick_ai_plays() {
    let figures = left_to_the_ai(0).await;
    let mut outcomes = figures.lines().filter(|line| line.contains("outcome="));
    assert!(outcomes.all(|line| line.ends_with(" 0")), "{figures}");
}
