//! Leaderboards over REST: who has a place, and of which days they can be asked.

use bahay_engine::table::PlayerId;
use serde_json::{Value, json};

use super::server::{Guest, Server, expect_refusal, ok};
use crate::support::bank::{PotGoes, table};

#[tokio::test]
async fn the_board_by_rating_has_whom_games_have_rated() {
    let server = Server::new().await;
    let mut guests: Vec<Guest> = Vec::new();
    for number in 0..4 {
        guests.push(server.node.guest(&format!("device-00000000-{number}")).await);
    }
    let players: Vec<PlayerId> = guests.iter().map(|guest| guest.id.parse().unwrap()).collect();
    let board = |span: &str, query: &str, guest: usize| {
        let path = format!("/v1/leaderboards/rating/{span}{query}");
        server.node.get(&path, &guests[guest].access_token)
    };
    assert_eq!(ok(board("ever", "", 0)).await["total"], 0);
    for _ in 0..2 {
        server.bank.play(table(), &players[..3], 0, 1, PotGoes::Nowhere).await;
    }
    let ratings = bahay::ratings::Ratings::new(server.bank.pool.clone());
    server.bank.ledger.fold().await.unwrap();
    ratings.count().await.unwrap();
    let ever = ok(board("ever", "", 0)).await;
    assert_eq!((&ever["total"], &ever["own"]["rank"]), (&3.into(), &1.into()));
    assert_eq!(ever["items"][0]["player"], guests[0].id.as_str());
    let scores: Vec<i64> = ever["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| place["score"].as_i64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|one, next| one >= next) && scores[0] > scores[1], "{scores:?}");
    // Equal scores have one rank.
    let ranks: Vec<&Value> =
        ever["items"].as_array().unwrap().iter().map(|place| &place["rank"]).collect();
    assert_eq!((ranks, scores[1]), (vec![&json!(1), &json!(2), &json!(2)], scores[2]));
    let next = ok(board("ever", "?offset=2", 0)).await;
    assert_eq!(next["items"], json!([ever["items"][2]]));
    for guest in [1, 2] {
        let last = ok(board("ever", "?section=around&limit=1", guest)).await;
        assert_eq!(last["items"][0]["player"], guests[guest].id.as_str());
        assert_eq!((&last["items"][0]["rank"], &last["own"]["rank"]), (&json!(2), &json!(2)));
    }
    for query in ["?offset=10001", "?offset=-1", "?section=around&offset=1"] {
        expect_refusal(board("ever", query, 0), 422, "query_invalid").await;
        let path = format!("/v1/leaderboards/coins/ever{query}");
        let coins = server.node.get(&path, &guests[0].access_token);
        expect_refusal(coins, 422, "query_invalid").await;
    }
    // Who has not played has no place.
    let stranger = ok(board("ever", "?section=around", 3)).await;
    assert_eq!((&stranger["own"], &stranger["items"]), (&Value::Null, &json!([])));
    // Ratings are not kept for days that are over.
    expect_refusal(board("day", "?date=2020-01-01", 0), 422, "query_invalid").await;
    ok(board("ever", "?date=2020-01-01", 0)).await;
}
