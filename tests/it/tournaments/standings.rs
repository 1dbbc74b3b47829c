//! The standings that are pushed to players.

use bahay::ws::protocol::Message;
use bahay_client_tokio::Play;
use serde_json::json;

use super::{announce, led_to_table, register, sit_and_go};
use crate::support::house::{FRIENDS, House};
use crate::support::play::TestPlay as _;
use crate::support::rest::get;

/// Waits for the next standing that is pushed. Returns the rank, the score and the number of entrants.
async fn next_standing(play: &mut Play) -> (u32, i64, u32) {
    loop {
        if let Message::Standing { rank, score, entrants, .. } = play.next_message().await {
            return (rank, score, entrants);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_is_told_of_the_own_standing_after_each_game() {
    let house = House::new().await;
    let clients = house.guests(FRIENDS).await;
    let mut terms = sit_and_go();
    terms.game.clocks.prepare_ms = 100;
    let tournament = announce(&house.pool, terms, None).await;
    let mut play = clients[0].play().await.unwrap();
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    // Nobody is ready, so the AI plays for all.
    led_to_table(&mut play).await;
    let [(first, _, _), (rank, score, entrants)] =
        [next_standing(&mut play).await, next_standing(&mut play).await];
    assert!((1..=3).contains(&first));
    let own = get(&clients[0], &tournament).await.expect(200)["entry"].clone();
    assert_eq!((&own["rank"], &own["score"]), (&json!(rank), &json!(score)));
    assert_eq!(entrants, 3);
}
