//! Finished games, for their players.

use std::time::Duration;

use bahay::clock::Clock;
use bahay::db;
use bahay::ratings::Ratings;
use bahay::records::{ArchiveSchedule, ArchiveStore, Archiver, Records};
use bahay::reports::Reports;
use bahay_engine::table::PlayerId;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use crate::http::server::{Guest, Server, Setup, expect_refusal, list_players, ok, text};
use crate::support::bank::{KIND, PotGoes, table};
use crate::support::checks::count_standings;
use crate::support::db::read_value;
use crate::support::rest::{assert_fields, items};

/// Starts a server with three guests, who play, and a fourth one.
async fn start_with_guests() -> (Server, Vec<Guest>, Vec<PlayerId>) {
    let (server, guests) = Server::with_guests(4).await;
    let players = list_players(&guests[..3]);
    (server, guests, players)
}

#[tokio::test]
async fn a_record_is_visible_to_its_players_only() {
    let (server, guests, players) = start_with_guests().await;
    let (game, _) = server.bank.play(table(), &players, 0, 3, PotGoes::Nowhere).await;
    let record = |id: &str, guest: &Guest| server.get(&format!("/v1/games/{id}/record"), guest);
    let id = game.to_string();
    for guest in &guests[..3] {
        assert_eq!(ok(record(&id, guest)).await["game"], id);
    }
    // For a stranger the game is indistinguishable from one that does not exist.
    expect_refusal(record(&id, &guests[3]), 404, "game_not_found").await;
    let unknown = Uuid::new_v4().to_string();
    expect_refusal(record(&unknown, &guests[0]), 404, "game_not_found").await;
    for malformed in ["1", "newbie", "%F0%9F", "..%2f..%2fme"] {
        expect_refusal(record(malformed, &guests[0]), 422, "path_invalid").await;
    }
}

/// An archived record is returned like any other. An unreachable archive is not reported as a
/// missing game.
#[tokio::test]
async fn an_archived_record_is_shown_or_reported_unreachable() {
    let (server, guests, players) = start_with_guests().await;
    let (game, _) = server.bank.play(table(), &players, 0, 3, PotGoes::Nowhere).await;
    let paths = ["record", "fairness", "steps"].map(|part| format!("/v1/games/{game}/{part}"));
    let before = ok(server.get(&paths[0], &guests[0])).await;

    server.bank.ledger.seal_operations().await.expect("the operations are sealed");
    count_standings(&server.bank.pool).await;
    Reports::with_own_pool(&server.bank.pool).catch_up().await.expect("the projection succeeds");
    let folder = tempfile::tempdir().expect("a folder can be created");
    let address = format!("file://{}", folder.path().display());
    let records = Records::new(Some(ArchiveStore::open(&address, []).expect("a valid key")));
    let pace = ArchiveSchedule::new(Duration::from_hours(48));
    let pool = server.bank.pool.clone();
    let owner = server.owner_pool().await;
    db::write_owner_settings(&owner, Some(0)).await.expect("the owner may do this");
    let mover = Archiver::new(pool, Clock::system(), records.clone(), pace);
    let moved = mover.archive_all(u64::MAX, false).await.expect("the records can be archived");
    assert_eq!(moved.records, 1);

    for path in &paths {
        expect_refusal(server.get(path, &guests[0]), 503, "archive_unreachable").await;
    }
    let stranger = &guests[3].access_token;
    let node = server.node_with(Setup { records, ..Setup::default() }).await;
    assert_eq!(ok(node.get(&paths[0], &guests[0])).await, before);
    expect_refusal(node.get(&paths[0], stranger), 404, "game_not_found").await;
}

#[tokio::test]
async fn a_running_or_voided_game_has_no_record() {
    let (server, guests, players) = start_with_guests().await;
    let game = server.bank.open_game(&players).await;
    let record = |guest: &Guest| server.get(&format!("/v1/games/{}/record", game.game), guest);
    expect_refusal(record(&guests[0]), 409, "game_not_finished").await;
    expect_refusal(record(&guests[3]), 404, "game_not_found").await;
    server.bank.void_game(&game).await;
    expect_refusal(record(&guests[0]), 409, "game_voided").await;
    expect_refusal(record(&guests[3]), 404, "game_not_found").await;
    let list = ok(server.get("/v1/me/games", &guests[0])).await;
    assert_fields(&list["items"][0], json!({ "state": "voided", "net": 0 }));
}

#[tokio::test]
async fn own_games_are_paginated_newest_first() {
    let (server, guests, players) = start_with_guests().await;
    let mut played = Vec::new();
    for _ in 0..5 {
        let (game, _) = server.bank.play(table(), &players, 1, 2, PotGoes::Nowhere).await;
        played.insert(0, game.to_string());
    }
    let listed = server.read_pages("/v1/me/games", "limit=2", &guests[1]).await.concat();
    for game in &listed {
        // Twice two counts at bet 1, less the fee of 5 % (rule 6.8).
        let net = 380;
        assert_fields(game, json!({ "room": "newbie", "state": "settled", "seat": 1, "net": net }));
    }
    let listed: Vec<_> = listed.iter().map(|game| text(&game["id"])).collect();
    assert_eq!(listed, played);
    assert_eq!(items(&ok(server.get("/v1/me/games", &guests[3])).await).len(), 0);
}

#[tokio::test]
async fn a_wallet_shows_held_coins() {
    let (server, guests, players) = start_with_guests().await;
    let game = server.bank.deal(table(), &players);
    let (stakes, _) = server.bank.open(&game).await;
    assert_eq!(ok(server.get("/v1/me/wallet", &guests[0])).await["held"], stakes[0].hundredths());
}

#[tokio::test]
async fn a_cursor_is_valid_only_for_its_filters() {
    let (server, guests, players) = start_with_guests().await;
    for _ in 0..3 {
        server.bank.play(table(), &players, 1, 2, PotGoes::Nowhere).await;
    }
    let first = ok(server.get("/v1/me/games?limit=2&outcome=won", &guests[1])).await;
    assert_eq!(first["items"][0]["outcome"], "won");
    let cursor = text(&first["next_cursor"]);
    let next =
        |filter: &str| server.get(&format!("/v1/me/games?{filter}cursor={cursor}"), &guests[1]);
    assert_eq!(items(&ok(next("outcome=won&")).await).len(), 1);
    expect_refusal(next(""), 422, "cursor_invalid").await;
    expect_refusal(next("outcome=won&room=newbie&"), 422, "cursor_invalid").await;
    let from = "from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z";
    for query in ["outcome=none", "ending=tie", "room=Newbie", "from=yesterday", from, "size=1"] {
        let refused = server.get(&format!("/v1/me/games?{query}"), &guests[1]);
        expect_refusal(refused, 422, "query_invalid").await;
    }
}

#[tokio::test]
async fn a_voided_game_has_a_detail_and_no_deal() {
    let (server, guests, players) = start_with_guests().await;
    let game = server.bank.open_game(&players).await;
    let get =
        |path: &str, guest: &Guest| server.get(&format!("/v1/games/{}{path}", game.game), guest);
    expect_refusal(get("", &guests[0]), 409, "game_not_finished").await;
    expect_refusal(get("/fairness", &guests[0]), 404, "game_not_found").await;
    server.bank.void_game(&game).await;
    let detail = ok(get("", &guests[0])).await;
    assert_eq!((&detail["state"], &detail["seats"][2]["net"]), (&"voided".into(), &0.into()));
    assert!(detail["settlement"].is_null() && detail["ending"].is_null());
    expect_refusal(get("", &guests[3]), 404, "game_not_found").await;
    expect_refusal(get("/steps", &guests[0]), 409, "game_voided").await;
    expect_refusal(get("/fairness", &guests[3]), 409, "game_voided").await;
}

#[tokio::test]
async fn blocks_and_mutes_are_listed_and_removed() {
    let (server, guests, players) = start_with_guests().await;
    let call =
        |method: Method, id: &str| server.call(method, &format!("/v1/me/blocks/{id}"), &guests[0]);
    let put = |id: &str| call(Method::PUT, id);
    for _ in 0..2 {
        ok(put(&guests[1].id)).await;
    }
    expect_refusal(put(&guests[0].id), 409, "own_player").await;
    expect_refusal(put(&Uuid::new_v4().to_string()), 404, "player_not_found").await;
    let listed = ok(server.get("/v1/me/blocks", &guests[0])).await;
    assert_eq!(items(&listed).len(), 1);
    assert_eq!(listed["items"][0]["player"], guests[1].id);
    let ratings = Ratings::new(server.bank.pool.clone());
    let blocked = async |player| ratings.matchmaking_profile(player, KIND).await.unwrap().blocked;
    assert_eq!(blocked(players[0]).await, [players[1]]);
    assert_eq!(blocked(players[1]).await, [], "only the blocking player lists a block");
    for _ in 0..2 {
        ok(call(Method::DELETE, &guests[1].id)).await;
    }
    assert_eq!(blocked(players[0]).await, []);
    let player = ok(server.get(&format!("/v1/players/{}", guests[1].id), &guests[0]));
    assert_eq!(player.await["statistics"][0]["games"], 0);
}

#[tokio::test]
async fn commitments_of_voided_games_are_listed_by_day_and_table() {
    let (server, _, players) = start_with_guests().await;
    let mut voided = Vec::new();
    for _ in 0..3 {
        let game = server.bank.open_game(&players).await;
        server.bank.void_game(&game).await;
        voided.push(game);
    }
    // Games are voided with the time of the database.
    let day: String =
        read_value(&server.bank.pool, "select (now() at time zone 'utc')::date::text").await;
    let list = |query: String| server.get(&format!("/v1/fairness/commitments?{query}"), "");
    let first = ok(list(format!("date={day}&limit=2"))).await;
    let cursor = text(&first["next_cursor"]);
    let rest = ok(list(format!("date={day}&limit=2&cursor={cursor}"))).await;
    assert!(rest["next_cursor"].is_null(), "{rest}");
    let listed = items(&first).iter().chain(items(&rest));
    let games: Vec<_> = listed.map(|item| text(&item["game"])).collect();
    let expected: Vec<_> = voided.iter().rev().map(|game| game.game.to_string()).collect();
    assert_eq!(games, expected, "newest first");
    let item = &first["items"][0];
    assert_eq!(item["commitment"], voided[2].commitment.0.to_string());
    assert!(!item["voided_at"].is_null(), "{item}");

    let at_table = ok(list(format!("date={day}&table={}", voided[0].table))).await;
    assert_eq!(items(&at_table).len(), 1);
    assert_eq!(at_table["items"][0]["table"], voided[0].table.to_string());
    assert_eq!(ok(list("date=2001-02-03".into())).await["items"], json!([]));
    expect_refusal(list(format!("cursor={cursor}&date=2001-02-03")), 422, "cursor_invalid").await;
    for query in ["date=9999-12-31", "date=-004713-01-01", "date=today", "table=none", "limit=0"] {
        expect_refusal(list(query.into()), 422, "query_invalid").await;
    }
}

/// The analysis covers the decisions of the record, and is available to its players only.
#[tokio::test(flavor = "multi_thread")]
async fn a_finished_game_is_analysed_for_its_players() {
    let (server, guests, _) = start_with_guests().await;
    let game = crate::http::core::matrix::play_game(&server, &guests[0]).await;
    let path = format!("/v1/games/{game}/analysis");
    let analysis = ok(server.get(&path, &guests[0])).await;
    assert_fields(&analysis, json!({ "game": game, "seat": 0, "engine": "strong" }));
    let steps = format!("/v1/games/{game}/steps");
    let steps = ok(server.get(&steps, &guests[0])).await;
    let items = items(&analysis);
    assert!(items.len() <= 3, "{analysis}");
    for item in items {
        let step = &steps["items"][usize::try_from(item["step"].as_u64().unwrap()).unwrap()];
        assert_eq!(step["taken"]["action"], item["action"]);
        assert_eq!((&step["taken"]["seat"], &step["taken"]["by"]), (&json!(0), &json!("player")));
        assert_ne!(item["advised"], item["action"]);
        let number = |field: &str| item[field].as_i64().unwrap();
        assert_eq!(number("advised_value") - number("value"), number("loss"));
        assert!(number("loss") > 0, "{item}");
    }
    assert_eq!(ok(server.get(&path, &guests[0])).await, analysis);
    expect_refusal(server.get(&path, &guests[1]), 404, "game_not_found").await;
}
