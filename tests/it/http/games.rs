//! Games, for those who played them.

use bahay_engine::table::{PlayerId, TableId};
use uuid::Uuid;

use crate::support::bank::PotGoes;

use super::server::{Guest, Server, expect_refusal, ok, text};

/// Three guests and somebody else.
async fn guests(server: &Server) -> (Vec<Guest>, Vec<PlayerId>) {
    let mut guests = Vec::new();
    for number in 0..4 {
        guests.push(server.node.guest(&format!("device-00000000-{number}")).await);
    }
    let id = |guest: &Guest| guest.id.parse().expect("an id is a UUID");
    let players = guests[..3].iter().map(id).collect();
    (guests, players)
}

#[tokio::test]
async fn a_record_is_for_those_who_played() {
    let server = Server::new().await;
    let (guests, players) = guests(&server).await;
    let table = TableId(Uuid::new_v4());
    let (game, _) = server.bank.play(table, &players, 0, 3, PotGoes::Nowhere).await;
    let record = |id: &str, guest: &Guest| {
        server.node.get(&format!("/v1/games/{id}/record"), &guest.access_token)
    };
    let id = game.to_string();
    for guest in &guests[..3] {
        assert_eq!(ok(record(&id, guest)).await["game"], id);
    }
    // A stranger cannot tell this game from one that was never played.
    expect_refusal(record(&id, &guests[3]), 404, "game_not_found").await;
    let unknown = Uuid::new_v4().to_string();
    expect_refusal(record(&unknown, &guests[0]), 404, "game_not_found").await;
    for malformed in ["1", "newbie", "%F0%9F", "..%2f..%2fme"] {
        expect_refusal(record(malformed, &guests[0]), 422, "path_invalid").await;
    }
}

#[tokio::test]
async fn a_game_that_goes_on_or_was_voided_has_no_record() {
    let server = Server::new().await;
    let (guests, players) = guests(&server).await;
    let game = server.bank.deal(TableId(Uuid::new_v4()), &players);
    server.bank.open(&game).await;
    let record = |guest: &Guest| {
        server.node.get(&format!("/v1/games/{}/record", game.game), &guest.access_token)
    };
    expect_refusal(record(&guests[0]), 409, "game_not_finished").await;
    expect_refusal(record(&guests[3]), 404, "game_not_found").await;
    server.bank.ledger.void_game(game.game, "a test").await.expect("an open game is voided");
    expect_refusal(record(&guests[0]), 409, "game_voided").await;
    expect_refusal(record(&guests[3]), 404, "game_not_found").await;
    let list = ok(server.node.get("/v1/me/games", &guests[0].access_token)).await;
    assert_eq!(list["items"][0]["state"], "voided");
    assert_eq!(list["items"][0]["net"], 0);
}

#[tokio::test]
async fn own_games_come_in_pages_newest_first() {
    let server = Server::new().await;
    let (guests, players) = guests(&server).await;
    let mut played = Vec::new();
    for _ in 0..5 {
        let table = TableId(Uuid::new_v4());
        let (game, _) = server.bank.play(table, &players, 1, 2, PotGoes::Nowhere).await;
        played.insert(0, game.to_string());
    }
    let token = guests[1].access_token.as_str();
    let mut listed = Vec::new();
    let mut path = "/v1/me/games?limit=2".to_owned();
    loop {
        let page = ok(server.node.get(&path, token)).await;
        for game in page["items"].as_array().unwrap() {
            listed.push(text(&game["id"]));
            assert_eq!(game["room"], "newbie");
            assert_eq!(game["state"], "settled");
            assert_eq!(game["seat"], 1);
            // Twice two counts at bet 1, less the fee of 5 % (rule 6.8).
            assert_eq!(game["net"], 380);
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/me/games?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(listed, played);
    let nothing = ok(server.node.get("/v1/me/games", &guests[3].access_token)).await;
    assert_eq!(nothing["items"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_wallet_shows_what_is_held() {
    let server = Server::new().await;
    let (guests, players) = guests(&server).await;
    let game = server.bank.deal(TableId(Uuid::new_v4()), &players);
    let (stakes, _) = server.bank.open(&game).await;
    let wallet = ok(server.node.get("/v1/me/wallet", &guests[0].access_token)).await;
    assert_eq!(wallet["held"], stakes[0].hundredths());
}
