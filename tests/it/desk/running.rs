//! A running game, as operators view and void it over the API.

use bahay::operators::Role;
use bahay_client::{Client, Play};
use bahay_engine::cards::CardSet;
use bahay_engine::catalog::AnyView;
use bahay_engine::table::{GameId, PhaseView};
use reqwest::{Client as Http, Method};
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, guest_at, join_table};
use crate::support::operators::operator_session;

/// A program of an administrator that uses the API.
struct ApiProgram {
    http: Http,
    base: String,
    token: String,
}

impl ApiProgram {
    async fn sign_in(house: &House) -> Self {
        let owner = house.database.owner_pool().await;
        let token = operator_session(&owner, "ate.luz", Role::Admin).await;
        let http = Http::builder().no_proxy().build().unwrap();
        Self { http, base: house.base.clone(), token }
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, body) = self.send(method, path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {body}");
        body
    }

    /// Returns the status and the body of any response.
    async fn send(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}/v1/operator/{path}", self.base));
        let request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
        let answer = request.bearer_auth(&self.token).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

/// Waits until a game has begun; returns the players' connections, the game, and the hand of the
/// first player.
async fn start_game(clients: &[Client]) -> (Vec<Play>, GameId, CardSet) {
    let mut plays = Vec::new();
    for client in clients {
        plays.push(join_table(client).await);
    }
    let began = async {
        for play in &mut plays {
            loop {
                match play.view().map(|view| view.phase.clone()) {
                    Some(PhaseView::Preparing { game, .. }) => {
                        let readied = play.ready(game, None).await.unwrap();
                        play.wait_for_answer(readied).await.unwrap();
                        break;
                    }
                    Some(PhaseView::Playing { .. }) => break,
                    _ => play.next().await.map(|_| ()).unwrap(),
                }
            }
        }
        loop {
            if let Some(PhaseView::Playing { view, game, .. }) =
                plays[0].view().map(|view| view.phase.clone())
                && let AnyView::Tongits(view) = &view
                && let Some(hand) = view.hand()
            {
                return (game, hand);
            }
            plays[0].next().await.unwrap();
        }
    };
    let (game, hand) = timeout(PATIENCE, began).await.expect("a game begins");
    (plays, game, hand)
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_view_hands_of_a_running_game_and_void_it() {
    let house = House::new().await;
    let luz = ApiProgram::sign_in(&house).await;
    let (table, clients) = house.table().await;
    let before = clients[0].wallet().await.unwrap().available;
    let (_plays, game, hand) = start_game(&clients).await;

    let listed = luz.call(Method::GET, "tables?room=newbie", json!({})).await;
    assert_eq!(listed["items"], json!([{ "table": table, "players": 3 }]));
    let public = luz.call(Method::GET, &format!("tables/{table}"), json!({})).await;
    let hands = &public["view"]["phase"]["view"]["hands"];
    assert_eq!(*hands, json!([null, null, null]), "{public}");

    let why = json!({ "reason": "a player complains of it" });
    let shown = luz.call(Method::POST, &format!("tables/{table}/hands-look"), why.clone()).await;
    let hands: Vec<CardSet> = serde_json::from_value(shown["view"]["hands"].clone()).unwrap();
    assert!(hands.len() == 3 && hands.contains(&hand), "{shown}");
    let noted = luz.call(Method::GET, "audit?action=hands_look", json!({})).await;
    let noted = &noted["items"][0];
    assert_eq!(noted["subject"], format!("table:{table}"));
    assert_eq!(noted["operator"], "ate.luz");
    assert_eq!(noted["channel"], "api");
    assert_eq!(noted["detail"], json!({ "game": game, "reason": "a player complains of it" }));

    let voided = luz.call(Method::POST, &format!("tables/{table}/voiding"), why).await;
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
        let (status, refusal) = luz.send(Method::POST, &voiding, why).await;
        assert_eq!((status, &refusal["code"]), (422, &json!("body_invalid")), "{refusal}");
    }
    let stranded = luz.call(Method::GET, "stranded", json!({})).await;
    assert_eq!(stranded["halted"], json!([]), "no table is halted");
    let noted = luz.call(Method::GET, "audit?action=table_void", json!({})).await;
    assert_eq!(noted["items"], json!([]));

    let longest = "ñ".repeat(500);
    let why = json!({ "reason": longest });
    let (status, voided) = luz.send(Method::POST, &voiding, why).await;
    assert_eq!((status, &voided["game"]), (200, &json!(game)), "{voided}");
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
    luz.call(Method::POST, "house/closing", why).await;
    let closed = async {
        loop {
            let rooms: Value = late.read("/v1/rooms").await.unwrap();
            let rooms = rooms["items"].as_array().unwrap().clone();
            if rooms.iter().all(|room| room["is_open"] == json!(false)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, closed).await.expect("the other node observes the change");
    let refused = late.seat("newbie").await.unwrap_err().to_string();
    assert!(refused.contains("room_closed"), "{refused}");
    let freed = async {
        while waiting.read::<Value>("/v1/table").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, freed).await.expect("the seat is freed");

    luz.call(Method::POST, "house/opening", json!({})).await;
    let opened = async {
        while late.seat("newbie").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, opened).await.expect("the other node observes the change");
    running.stop().await.unwrap();
}
