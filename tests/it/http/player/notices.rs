//! The inbox of a player: each notice is sent once, can be read once, and is private.

use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{Guest, Server, expect_refusal, list_players, ok};
use crate::support::rest::assert_fields;

#[tokio::test]
async fn players_of_a_voided_game_receive_a_notice() {
    let (server, guests) = Server::with_guests(4).await;
    let game = server.bank.open_game(&list_players(&guests[..3])).await;
    for _ in 0..2 {
        server.bank.void_game(&game).await;
    }
    let list = |guest: &Guest| server.get("/v1/me/notices", guest);
    for guest in &guests[..3] {
        let notices = ok(list(guest)).await["items"].clone();
        assert_eq!(notices.as_array().expect("a page has items").len(), 1, "{notices}");
        assert_fields(&notices[0], json!({ "kind": "game_voided", "game": game.game }));
        assert_fields(&notices[0], json!({ "amount": 1_500, "read_at": null }));
    }
    assert_eq!(ok(list(&guests[3])).await["items"], json!([]));

    let notices = ok(list(&guests[0])).await;
    let notice = notices["items"][0]["id"].as_str().expect("the notice has an id").to_owned();
    let read = |guest: &Guest, notice: &str| {
        let path = format!("/v1/me/notices/{notice}/read");
        server.call(Method::POST, &path, guest)
    };
    expect_refusal(read(&guests[1], &notice), 404, "notice_not_found").await;
    let mut read_at = Value::Null;
    for time in 0..2 {
        let response = read(&guests[0], &notice).send().await.expect("the server responds");
        assert_eq!(response.status(), 204);
        let now = ok(list(&guests[0])).await["items"][0]["read_at"].clone();
        assert!(now.is_string());
        assert!(time == 0 || now == read_at, "the first time is kept");
        read_at = now;
    }
    expect_refusal(read(&guests[0], "1"), 422, "path_invalid").await;
}
