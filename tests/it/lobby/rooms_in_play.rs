//! Changes of a room while its tables play: the running game ends under its own terms, the next one
//! has the new terms, and a waiting POT keeps the rules of its beginning.

use bahay::lobby::house_rooms;
use bahay_client_tokio::Play;
use bahay_engine::coins::Coins;
use bahay_engine::table::{PhaseView, Price};
use serde_json::{Value, json};

use crate::support::house::{House, ai_clocks};
use crate::support::operators::admin_session;
use crate::support::play::{TestPlay as _, become_ready, is_playing, join_new_table};
use crate::support::rest::call_at;

fn price(play: &Play) -> Price {
    play.view().unwrap().terms.price
}

fn is_settling(play: &Play) -> bool {
    matches!(play.view().unwrap().phase, PhaseView::Settling { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_changes_between_games_and_never_while_a_pot_waits() {
    let clocks = ai_clocks(20);
    let house = House::with_clocks(clocks).await;
    assert_eq!(house_rooms(clocks)[0].id(), "newbie");
    let token = admin_session(&house).await;
    let (_, clients, mut plays) = join_new_table(&house).await;
    become_ready(&mut plays).await;
    // The AI plays for the two others.
    let mut play = plays.swap_remove(0);
    drop(plays);
    play.act_until("a game", is_playing).await;
    let before = price(&play);
    let room = "/v1/operator/rooms/newbie";
    let kept = call_at(&house.base, &token, "GET", &format!("{room}/revisions"), None).await;
    let kept = kept.expect(200);
    let mut settings = kept["items"][0]["settings"].clone();
    let bet = before.bet.hundredths();
    settings["bet"] = json!(bet * 2);
    settings["pot"]["hits_to_win"] = json!(3);
    let body = json!({ "revision": kept["items"][0]["revision"], "settings": settings });
    call_at(&house.base, &token, "PUT", room, Some(&body)).await.expect(200);

    // The game is played to its end and settled at the old bet.
    play.act_until("the end", |play| {
        assert!(is_settling(play) || price(play) == before);
        is_settling(play)
    })
    .await;
    assert_eq!(price(&play), before);
    play.act_until("new terms", |play| price(play) != before).await;
    let view = play.view().unwrap();
    assert_eq!(view.terms.price.bet, Coins::from_hundredths(bet * 2));
    assert_eq!(
        view.terms.hits.unwrap().to_win,
        2,
        "a POT waits, and is played for as it was begun"
    );
    assert_eq!(view.pot, Coins::from_hundredths(bet * 3));
    let games: Value = clients[0].read("/v1/me/games").await.unwrap();
    assert_eq!(games["items"][0]["ante"], bet);
    let game = games["items"][0]["id"].as_str().unwrap().parse().unwrap();
    let record = clients[0].record(bahay_engine::table::GameId(game)).await.unwrap();
    assert_eq!(record["terms"]["price"]["bet"], bet);
    assert_eq!(record["terms"]["hits"]["to_win"], 2);
}
