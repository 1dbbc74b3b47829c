//! A game that is being played, as operators look at it and void it over the API.

use bahay::operators::audit::Trail;
use bahay::operators::{Operators, Role};
use bahay_engine::cards::CardSet;
use bahay_engine::table::PhaseView;
use reqwest::Client as Http;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, joined};

#[tokio::test(flavor = "multi_thread")]
async fn hands_of_a_running_game_are_shown_to_administrators_once_and_the_game_is_voided() {
    let house = House::new().await;
    let operators = Operators::new(house.database.owner_pool().await);
    let (name, now) = ("ate.luz".parse().unwrap(), bahay::clock::Clock::system().now());
    let made = operators.add(&Trail::COMMAND, &name, Role::Admin, now).await.unwrap();
    let token = made.token.reveal().to_owned();
    let (table, clients) = house.table().await;
    let before = clients[0].wallet().await.unwrap().available;
    let mut plays = Vec::new();
    for client in &clients {
        plays.push(joined(client).await);
    }
    let began = async {
        for play in &mut plays {
            loop {
                match play.view().map(|view| view.phase.clone()) {
                    Some(PhaseView::Preparing { game, .. }) => {
                        let readied = play.ready(game, None).await.unwrap();
                        play.answered(readied).await.unwrap();
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
                && let Some(hand) = view.hand()
            {
                return (game, hand);
            }
            plays[0].next().await.unwrap();
        }
    };
    let (game, hand) = tokio::time::timeout(PATIENCE, began).await.expect("a game begins");

    let http = Http::builder().no_proxy().build().unwrap();
    let ask = async |method: reqwest::Method, path: &str, body: Value| {
        let request = http.request(method, format!("{}/v1/operator/{path}", house.base));
        let request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
        let answer = request.bearer_auth(&token).json(&body).send().await.unwrap();
        let status = answer.status();
        let body = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {body}");
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let (get, post) = (reqwest::Method::GET, reqwest::Method::POST);
    let listed = ask(get.clone(), "tables?room=newbie", json!({})).await;
    assert_eq!(listed["items"], json!([{ "table": table, "players": 3 }]));
    let public = ask(get.clone(), &format!("tables/{table}"), json!({})).await;
    let hands = &public["view"]["phase"]["view"]["hands"];
    assert_eq!(*hands, json!([null, null, null]), "{public}");

    let why = json!({ "reason": "a player complains of it" });
    let shown = ask(post.clone(), &format!("tables/{table}/hands-look"), why.clone()).await;
    let hands: Vec<CardSet> = serde_json::from_value(shown["view"]["hands"].clone()).unwrap();
    assert!(hands.len() == 3 && hands.contains(&hand), "{shown}");
    let noted = ask(get, "actions?action=hands_look", json!({})).await;
    let noted = &noted["items"][0];
    assert_eq!(noted["subject"], format!("table:{table}"));
    assert_eq!(noted["operator"], "ate.luz");
    assert_eq!(noted["way"], "api");
    assert_eq!(noted["detail"], json!({ "game": game, "reason": "a player complains of it" }));

    let voided = ask(post, &format!("tables/{table}/voiding"), why).await;
    assert_eq!(voided["game"], json!(game));
    assert_eq!(clients[0].wallet().await.unwrap().available, before, "its coins went back");
}
