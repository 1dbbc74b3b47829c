//! Leaderboards over REST: the ranked players, and the days for which a board exists.

use serde_json::{Value, json};

use crate::http::server::{Server, expect_refusal, list_players, ok};
use crate::support::bank::{PotGoes, table};
use crate::support::db::read_value;
use crate::support::rest::items;

#[tokio::test]
async fn the_rating_board_lists_rated_players() {
    let (server, guests) = Server::with_guests(4).await;
    let players = list_players(&guests);
    let board = |span: &str, query: &str, guest: usize| {
        let path = format!("/v1/leaderboards/rating/{span}{query}");
        server.get(&path, &guests[guest])
    };
    assert_eq!(ok(board("ever", "", 0)).await["total"], 0);
    for _ in 0..2 {
        server.bank.play(table(), &players[..3], 0, 1, PotGoes::Nowhere).await;
    }
    let ratings = bahay::ratings::Ratings::new(server.bank.pool.clone());
    server.bank.ledger.seal_operations().await.unwrap();
    ratings.catch_up().await.unwrap();
    let ever = ok(board("ever", "", 0)).await;
    assert_eq!((&ever["total"], &ever["own"]["rank"]), (&3.into(), &1.into()));
    assert_eq!(ever["items"][0]["player"], guests[0].id.as_str());
    let scores: Vec<i64> =
        items(&ever).iter().map(|place| place["score"].as_i64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next) && scores[0] > scores[1], "{scores:?}");
    // Equal scores share a rank.
    let ranks: Vec<&Value> = items(&ever).iter().map(|place| &place["rank"]).collect();
    assert_eq!((ranks, scores[1]), (vec![&json!(1), &json!(2), &json!(2)], scores[2]));
    assert_eq!(ok(board("ever", "?offset=2", 0)).await["items"], json!([ever["items"][2]]));
    for guest in [1, 2] {
        let last = ok(board("ever", "?section=around&limit=1", guest)).await;
        assert_eq!(last["items"][0]["player"], guests[guest].id.as_str());
        assert_eq!([&last["items"][0]["rank"], &last["own"]["rank"]], [2, 2]);
    }
    for query in ["?offset=10001", "?offset=-1", "?section=around&offset=1"] {
        expect_refusal(board("ever", query, 0), 422, "query_invalid").await;
        let path = format!("/v1/leaderboards/coins/ever{query}");
        expect_refusal(server.get(&path, &guests[0]), 422, "query_invalid").await;
    }
    // A player without games has no rank.
    let stranger = ok(board("ever", "?section=around", 3)).await;
    assert_eq!((&stranger["own"], &stranger["items"]), (&Value::Null, &json!([])));
    // Ratings are not kept for past days.
    expect_refusal(board("day", "?date=2020-01-01", 0), 422, "query_invalid").await;
    ok(board("ever", "?date=2020-01-01", 0)).await;
}

/// Each requested day names keys in Redis. Therefore only days that can have scores are accepted,
/// and an empty board leaves no key.
#[tokio::test]
async fn a_board_covers_the_days_from_the_first_game_to_today() {
    let (server, guests) = Server::with_guests(3).await;
    let board = |span: &str, date: &str| {
        let path = format!("/v1/leaderboards/coins/{span}?date={date}");
        server.get(&path, &guests[0])
    };
    // Before the first game only today's board exists, and it is empty.
    assert_eq!(ok(board("day", "2026-03-01")).await["total"], 0);
    expect_refusal(board("day", "2026-02-28"), 422, "query_invalid").await;

    server.bank.play(table(), &list_players(&guests), 0, 3, PotGoes::Nowhere).await;
    server.bank.ledger.seal_operations().await.unwrap();
    let standings = server.node.standings.clone();
    standings.catch_up().await.unwrap();
    let first = "select min(starts_on)::text from board_scores where span = 'day'";
    let first: String = read_value(&server.bank.pool, first).await;
    assert_eq!(ok(board("day", &first)).await["total"], 1);
    for span in ["week", "season", "ever"] {
        let page = ok(board(span, &first)).await;
        assert_eq!(page["total"], 1, "{span}");
        // The first day of a span selects the same span.
        let again = ok(board(span, page["starts_on"].as_str().unwrap())).await;
        assert_eq!(again["total"], 1, "{span}");
    }
    let filled = server.node.live.keys_with("filled").await.len();
    for span in ["day", "week", "season", "ever"] {
        for date in ["2026-03-02", "2027-01-01", "9999-12-31", "1969-12-31", "0000-01-01"] {
            expect_refusal(board(span, date), 422, "query_invalid").await;
        }
    }
    for span in ["day", "week", "season"] {
        for date in ["2020-01-01", "1970-01-01", "-000001-01-01"] {
            expect_refusal(board(span, date), 422, "query_invalid").await;
        }
    }
    // Days without a game are empty and leave no key.
    for day in 1..=28 {
        ok(board("day", &format!("2026-02-{day:02}"))).await;
    }
    assert_eq!(server.node.live.keys_with("filled").await.len(), filled);
}
