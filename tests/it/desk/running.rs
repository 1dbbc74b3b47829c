//! A running game, as operators view and void it over the API.

use bahay::operators::Role;
use bahay_client::{Client, Play};
use bahay_engine::cards::CardSet;
use bahay_engine::catalog::AnyView;
use bahay_engine::table::{GameId, PhaseView};
use serde_json::{Value, json};

use crate::support::house::{House, guest_at};
use crate::support::operators::operator_session;
use crate::support::play::{deal_game, join_tables};
use crate::support::rest::{Answer, call_at, items};
use crate::support::waiting::wait_until;

/// A program of an administrator that uses the API.
struct ApiProgram {
    base: String,
    token: String,
}

impl ApiProgram {
    async fn sign_in(house: &House) -> Self {
        let owner = house.database.owner_pool().await;
        let token = operator_session(&owner, "ate.luz", Role::Admin).await;
        Self { base: house.base.clone(), token }
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("/v1/operator/{path}");
        call_at(&self.base, &self.token, "GET", &path, None).await.expect(200)
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        let path = format!("/v1/operator/{path}");
        call_at(&self.base, &self.token, "POST", &path, Some(body)).await
    }
}

/// Waits until a game has begun; returns the players' connections, the game, and the hand of the
/// first player.
async fn start_game(clients: &[Client]) -> (Vec<Play>, GameId, CardSet) {
    let mut plays = join_tables(clients).await;
    let game = deal_game(&mut plays).await;
    let Some(PhaseView::Playing { view: AnyView::Tongits(view), .. }) =
        plays[0].view().map(|view| &view.phase)
    else {
        panic!("a game is played: {:?}", plays[0].view());
    };
    let hand = view.hand().expect("the player has a hand");
    (plays, game, hand)
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_view_hands_of_a_running_game_and_void_it() {
    let house = House::new().await;
    let luz = ApiProgram::sign_in(&house).await;
    let (table, clients) = house.table().await;
    let before = clients[0].wallet().await.unwrap().available;
    let (_plays, game, hand) = start_game(&clients).await;

    let listed = luz.get("tables?room=newbie").await;
    assert_eq!(listed["items"], json!([{ "table": table, "players": 3 }]));
    let public = luz.get(&format!("tables/{table}")).await;
    let hands = &public["view"]["phase"]["view"]["hands"];
    assert_eq!(*hands, json!([null, null, null]), "{public}");

    let why = json!({ "reason": "a player complains of it" });
    let shown = luz.post(&format!("tables/{table}/hands-look"), &why).await.expect(200);
    let hands: Vec<CardSet> = serde_json::from_value(shown["view"]["hands"].clone()).unwrap();
    assert!(hands.len() == 3 && hands.contains(&hand), "{shown}");
    let noted = luz.get("audit?action=hands_look").await;
    let noted = &noted["items"][0];
    assert_eq!(noted["subject"], format!("table:{table}"));
    assert_eq!(noted["operator"], "ate.luz");
    assert_eq!(noted["channel"], "api");
    assert_eq!(noted["detail"], json!({ "game": game, "reason": "a player complains of it" }));

    let voided = luz.post(&format!("tables/{table}/voiding"), &why).await.expect(200);
    assert_eq!(voided["game"], json!(game));
    assert_eq!(clients[0].wallet().await.unwrap().available, before, "the stakes are refunded");
}

/// The longest reason has 500 characters, whatever their number of bytes; a longer one is rejected
/// without an effect.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_voided_only_with_a_valid_reason() {
    let house = House::new().await;
    let luz = ApiProgram::sign_in(&house).await;
    let (table, clients) = house.table().await;
    let before = clients[0].wallet().await.unwrap().available;
    let (_plays, game, _) = start_game(&clients).await;
    let voiding = format!("tables/{table}/voiding");
    for wrong in ["ñ".repeat(501), "ñ".repeat(9), format!("a bell\u{7}{}", "ñ".repeat(20))] {
        let why = json!({ "reason": wrong });
        luz.post(&voiding, &why).await.expect_refusal(422, "body_invalid");
    }
    let stranded = luz.get("stranded").await;
    assert_eq!(stranded["halted"], json!([]), "no table is halted");
    let noted = luz.get("audit?action=table_void").await;
    assert_eq!(noted["items"], json!([]));

    let longest = "ñ".repeat(500);
    let why = json!({ "reason": longest });
    let voided = luz.post(&voiding, &why).await.expect(200);
    assert_eq!(voided["game"], json!(game));
    assert_eq!(clients[0].wallet().await.unwrap().available, before, "the stakes are refunded");
    let kept: String = sqlx::query_scalar("select void_reason from games where id = $1")
        .bind(game.0)
        .fetch_one(&house.pool)
        .await
        .unwrap();
    assert_eq!(kept, longest);
}

/// A house that is closed on one node is closed on all nodes: nobody is seated, and waiting players
/// become free.
#[tokio::test(flavor = "multi_thread")]
async fn a_house_that_is_closed_on_one_node_is_closed_on_the_others() {
    let house = House::new().await;
    let (other, running) = house.node().await;
    let luz = ApiProgram::sign_in(&house).await;
    let waiting = house.guest("Althea").await;
    waiting.seat("newbie").await.unwrap();
    let late = guest_at(&other, "Benjie").await;

    let why = json!({ "reason": "closed for the test" });
    luz.post("house/closing", &why).await.expect(200);
    wait_until("the other node observes the change", async || {
        let rooms: Value = late.read("/v1/rooms").await.unwrap();
        items(&rooms).iter().all(|room| room["is_open"] == json!(false))
    })
    .await;
    let refused = late.seat("newbie").await.unwrap_err().to_string();
    assert!(refused.contains("room_closed"), "{refused}");
    wait_until("the seat is freed", async || waiting.read::<Value>("/v1/table").await.is_err())
        .await;

    luz.post("house/opening", &json!({})).await.expect(200);
    wait_until("the other node observes the change", async || late.seat("newbie").await.is_ok())
        .await;
    running.stop().await.unwrap();
}
