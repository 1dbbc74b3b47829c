//! A running game, as operators view and void it over the API.

use bahay_client_tokio::{Client, Play};
use bahay_engine::cards::CardSet;
use bahay_engine::catalog::AnyView;
use bahay_engine::table::{GameId, PhaseView};
use reqwest::header::COOKIE;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::db::read_value;
use crate::support::house::{House, guest_at};
use crate::support::operators::admin_session;
use crate::support::play::{deal_game, join_tables};
use crate::support::process::run_bahay;
use crate::support::rest::{Answer, assert_fields, call_at, http_client, items, post_json};
use crate::support::waiting::wait_until;

/// A program of an administrator that uses the API.
struct ApiProgram {
    base: String,
    token: String,
}

impl ApiProgram {
    async fn sign_in(house: &House) -> Self {
        Self { base: house.base.clone(), token: admin_session(house).await }
    }

    async fn get(&self, path: &str) -> Value {
        let path = format!("/v1/operator/{path}");
        call_at(&self.base, &self.token, "GET", &path, None).await.expect(200)
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        let path = format!("/v1/operator/{path}");
        call_at(&self.base, &self.token, "POST", &path, Some(body)).await
    }

    /// Loads a page of the desk with the session of this program.
    async fn load_page(&self, path: &str) -> String {
        let request = http_client().get(format!("{}{path}", self.base));
        let cookie = format!("__Host-bahay-desk={}", self.token);
        let page = request.header(COOKIE, cookie).send().await.unwrap();
        page.error_for_status().unwrap().text().await.unwrap()
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
    let (house, table, clients) = House::with_table().await;
    let luz = ApiProgram::sign_in(&house).await;
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
    let detail = json!({ "game": game, "reason": "a player complains of it" });
    assert_fields(noted, json!({ "operator": "ate.luz", "channel": "api", "detail": detail }));
    assert_eq!(noted["subject"], format!("table:{table}"));

    // The desk shows the refunds beforehand: the stake and the ante of each player.
    let page = luz.load_page(&format!("/desk/tables/{table}/voiding")).await;
    for words in ["The open game ends without a winner", "<td class=\"number\">14.00</td>", "1.00"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    // Neither another game nor a table without one is voided in its place.
    assert!(page.contains(&format!("name=\"game\" value=\"{game}\"")), "{page}");
    let voiding = format!("tables/{table}/voiding");
    for expected in [json!(null), json!(Uuid::nil())] {
        let order = json!({ "reason": "a player complains of it", "expected_game": expected });
        luz.post(&voiding, &order).await.expect_refusal(409, "game_changed");
    }
    let noted = luz.get("audit?action=table_void").await;
    assert_eq!(noted["items"], json!([]));
    let order = json!({ "reason": "a player complains of it", "expected_game": game });
    let voided = luz.post(&voiding, &order).await.expect(200);
    assert_eq!(voided["game"], json!(game));
    let refunds = voided["refunds"].as_array().unwrap();
    assert_eq!(refunds.len(), 3, "{voided}");
    for refund in refunds {
        assert_fields(refund, json!({ "stake": 1_400, "ante": 100, "pot": 0 }));
    }
    assert_eq!(clients[0].wallet().await.unwrap().available, before, "the stakes are refunded");
    let noted = luz.get("audit?action=table_order_completed").await;
    assert_eq!(noted["items"][0]["detail"]["outcome"]["refunds"], voided["refunds"]);
}

/// The longest reason has 500 characters, whatever their number of bytes; a longer one is rejected
/// without an effect.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_voided_only_with_a_valid_reason() {
    let (house, table, clients) = House::with_table().await;
    let luz = ApiProgram::sign_in(&house).await;
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
    let kept = format!("select void_reason from games where id = '{game}'");
    assert_eq!(read_value::<String>(&house.pool, &kept).await, longest);
}

/// Waits until the client's node observes that the house is closed, and asserts that nobody is
/// seated.
async fn wait_until_closed(client: &Client) {
    wait_until("the node observes the closing", async || {
        let rooms: Value = client.read("/v1/rooms").await.unwrap();
        items(&rooms).iter().all(|room| room["is_open"] == json!(false))
    })
    .await;
    let refused = client.seat("newbie").await.unwrap_err().to_string();
    assert!(refused.contains("room_closed"), "{refused}");
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
    wait_until_closed(&late).await;
    wait_until("the seat is freed", async || waiting.read::<Value>("/v1/table").await.is_err())
        .await;

    luz.post("house/opening", &json!({})).await.expect(200);
    wait_until("the other node observes the change", async || late.seat("newbie").await.is_ok())
        .await;
    running.stop().await.unwrap();
}

/// The command line closes the house while a server runs: nobody is seated meanwhile, and operators
/// see who closed it and why.
#[tokio::test(flavor = "multi_thread")]
async fn the_house_is_closed_and_opened_by_command() {
    let (house, client) = House::with_guest().await;
    let luz = ApiProgram::sign_in(&house).await;
    let run =
        |words: &[&str]| run_bahay(&house.database, [&["house"][..], words].concat()).unwrap();
    assert_eq!(run(&["show"]), "open");
    let closed = "closed: maintenance tonight";
    assert_eq!(run(&["close", "--reason", "maintenance tonight"]), closed);
    assert_eq!(run(&["show"]), closed);
    wait_until_closed(&client).await;
    let table = json!({ "room": "newbie", "bet": 100 });
    let refused = post_json(&client, "/v1/private-tables", &table).await;
    refused.expect_refusal(409, "room_closed");
    let state = luz.get("house").await;
    assert_fields(&state, json!({ "is_open": false, "reason": "maintenance tonight" }));
    let page = luz.load_page("/desk/switches").await;
    assert!(page.contains("maintenance tonight"), "{page}");
    assert!(page.contains("the command line"), "{page}");

    assert_eq!(run(&["open"]), "open");
    assert_eq!(run(&["show"]), "open");
    wait_until("the server observes the opening", async || client.seat("newbie").await.is_ok())
        .await;
    for action in ["house_close", "house_open"] {
        let noted = luz.get(&format!("audit?action={action}")).await;
        let noted = &noted["items"][0];
        assert_fields(noted, json!({ "operator": null, "channel": "command", "subject": "house" }));
    }
}
