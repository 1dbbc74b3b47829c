//! Changes of a room while its tables play: the running game ends under its own terms, the next one
//! has the new terms, and a waiting POT keeps the rules of its beginning.

use bahay::lobby::house_rooms;
use bahay::operators::Role;
use bahay_client::Play;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PhaseView, Price};
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, join_table};
use crate::support::operators::operator_session;

/// Calls the operators' REST API for a room.
async fn ask(house: &House, token: &str, method: &str, body: Option<&Value>) -> Value {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let path = match body {
        Some(_) => "/v1/operator/rooms/newbie",
        None => "/v1/operator/rooms/newbie/revisions",
    };
    let request = http.request(method.parse().unwrap(), format!("{}{path}", house.base));
    let request = request.bearer_auth(token).header("idempotency-key", Uuid::new_v4().to_string());
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{status} {text}");
    serde_json::from_str(&text).unwrap()
}

fn price(play: &Play) -> Price {
    play.view().unwrap().terms.price
}

/// Plays as a house bot would, until the condition holds.
async fn play_until(play: &mut Play, what: &str, is_so: impl Fn(&Play) -> bool) {
    let playing = async {
        while !is_so(play) {
            if let Some(action) = play.advice() {
                // The action is rejected only if the clock was faster.
                if let Ok(id) = play.act(action).await {
                    let _ = play.wait_for_answer(id).await;
                }
            } else {
                play.next().await.unwrap();
            }
        }
    };
    timeout(PATIENCE, playing).await.unwrap_or_else(|_| panic!("no {what}: {:?}", play.view()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_changes_between_games_and_never_while_a_pot_waits() {
    let clocks = Clocks { think_ms: 20, grace_ms: 1, ..Clocks::default() };
    let house = House::with_clocks(clocks).await;
    assert_eq!(house_rooms(clocks)[0].id(), "newbie");
    let token = operator_session(&house.database.owner_pool().await, "ate.luz", Role::Admin).await;
    let (_, clients) = house.table().await;
    let mut plays = vec![];
    for client in &clients {
        plays.push(join_table(client).await);
    }
    for play in &mut plays {
        let PhaseView::Preparing { game, .. } = play.view().unwrap().phase else {
            panic!("{:?}", play.view());
        };
        let ready = play.ready(game, None).await.unwrap();
        play.wait_for_answer(ready).await.unwrap();
    }
    // The AI plays for the two others.
    let mut play = plays.swap_remove(0);
    for other in plays {
        other.drop_connection();
    }
    play_until(&mut play, "game", |play| {
        matches!(play.view().unwrap().phase, PhaseView::Playing { .. })
    })
    .await;
    let before = price(&play);

    let kept = ask(&house, &token, "GET", None).await;
    let mut settings = kept["items"][0]["settings"].clone();
    let bet = before.bet.hundredths();
    settings["bet"] = json!(bet * 2);
    settings["pot"]["hits_to_win"] = json!(3);
    let body = json!({ "revision": kept["items"][0]["revision"], "settings": settings });
    ask(&house, &token, "PUT", Some(&body)).await;

    // The game is played to its end and settled at the old bet.
    play_until(&mut play, "end", |play| {
        assert!(
            matches!(play.view().unwrap().phase, PhaseView::Settling { .. })
                || price(play) == before
        );
        matches!(play.view().unwrap().phase, PhaseView::Settling { .. })
    })
    .await;
    assert_eq!(price(&play), before);
    play_until(&mut play, "new terms", |play| price(play) != before).await;
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
