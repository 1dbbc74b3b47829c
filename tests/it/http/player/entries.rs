//! The filters of a wallet's entries.

use bahay_engine::table::TableId;
use serde_json::Value;
use uuid::Uuid;

use crate::http::server::{
    Guest, Server, expect_refusal, expect_refusal_of, list_players, ok, text,
};
use crate::support::bank::PotGoes;
use crate::support::db::execute;
use crate::support::rest::items;

/// Starts a server with three guests who have played two games and have one game open.
async fn start_with_games() -> (Server, Guest, Vec<String>) {
    let (server, mut guests) = Server::with_guests(3).await;
    let players = list_players(&guests);
    let table = TableId(Uuid::new_v4());
    let (first, _) = server.bank.play(table, &players, 0, 3, PotGoes::Nowhere).await;
    let (second, _) = server.bank.play(table, &players, 1, 2, PotGoes::ToWinner).await;
    let open = server.bank.deal(table, &players);
    server.bank.open(&open).await;
    let games = [first, second, open.game].map(|game| game.to_string()).to_vec();
    (server, guests.swap_remove(0), games)
}

async fn list_items(server: &Server, guest: &Guest, query: &str) -> Vec<Value> {
    let path = format!("/v1/me/wallet/entries?{query}");
    let page = ok(server.get(&path, guest)).await;
    items(&page).clone()
}

#[tokio::test]
async fn entries_name_their_game_and_its_record() {
    let (server, guest, games) = start_with_games().await;
    let antes = list_items(&server, &guest, "code=ante").await;
    let found: Vec<_> = antes.iter().map(|entry| text(&entry["game"])).collect();
    assert_eq!(found, [games[2].clone(), games[1].clone(), games[0].clone()]);
    assert!(antes[0]["record"].is_null(), "an open game has no record");
    for entry in &antes[1..] {
        assert_eq!(ok(server.get(&text(&entry["record"]), &guest)).await["game"], entry["game"]);
    }
    let welcome = list_items(&server, &guest, "code=welcome").await;
    assert!(welcome[0]["game"].is_null() && welcome[0]["record"].is_null());
}

#[tokio::test]
async fn entries_are_filtered_by_codes_and_time() {
    let (server, guest, _) = start_with_games().await;
    let codes = |items: Vec<Value>| -> Vec<String> {
        items.iter().map(|entry| text(&entry["code"])).collect()
    };
    let some = codes(list_items(&server, &guest, "code=fee&code=payment&code=fee").await);
    assert_eq!(some, ["fee", "payment", "payment"]);
    assert_eq!(codes(list_items(&server, &guest, "code=relief").await), Vec::<String>::new());

    // Moves entries one hour back, so that a time between the entries exists.
    let owner = server.owner_pool().await;
    let earlier = "update operations set created_at = '2026-02-28T15:59:59.999Z'";
    execute(&owner, &format!("{earlier} where kind = 'grant'")).await;
    let cut = "2026-02-28T16:00:00Z";
    assert_eq!(codes(list_items(&server, &guest, &format!("to={cut}")).await), ["welcome"]);
    let after = list_items(&server, &guest, &format!("from={cut}")).await;
    assert_eq!(codes(after.clone()).last().unwrap(), "ante");
    let manila = "from=2026-03-01T00:00:00%2B08:00";
    assert_eq!(list_items(&server, &guest, manila).await, after);
    // The interval includes its beginning but not its end.
    let at = "2026-02-28T15:59:59.999Z";
    let with = |from: &str, to: &str| format!("from={from}&to={to}");
    assert_eq!(codes(list_items(&server, &guest, &with(at, cut)).await), ["welcome"]);
    let before = with("2026-02-28T00:00:00Z", at);
    assert_eq!(codes(list_items(&server, &guest, &before).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_cursor_is_valid_for_its_filters() {
    let (server, guest, _) = start_with_games().await;
    let get = |query: &str| server.get(&format!("/v1/me/wallet/entries?{query}"), &guest);
    let page = ok(get("code=ante&code=hold&limit=1")).await;
    let cursor = text(&page["next_cursor"]);
    let mut seen = vec![page["items"][0]["version"].as_i64().unwrap()];
    // Neither the order of the codes nor the size of the page matters.
    let rest = ok(get(&format!("code=hold&code=ante&cursor={cursor}"))).await;
    assert!(rest["next_cursor"].is_null());
    seen.extend(items(&rest).iter().map(|one| one["version"].as_i64().unwrap()));
    assert_eq!(seen.len(), 6);
    assert!(seen.is_sorted_by(|newer, older| newer > older), "{seen:?}");
    for query in ["", "code=ante&", "code=ante&code=hold&from=2026-01-01T00:00:00Z&"] {
        expect_refusal(get(&format!("{query}cursor={cursor}")), 422, "cursor_invalid").await;
    }
}

#[tokio::test]
async fn invalid_filters_are_refused() {
    let (server, guest) = Server::with_guest().await;
    for query in [
        "code=gift",
        "code=",
        "code=ante,hold",
        "from=yesterday",
        "to=2026-03-01",
        "from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z",
        "from=2026-03-01T00:00:00Z&from=2026-03-01T00:00:00Z",
        "codes=ante",
    ] {
        let path = format!("/v1/me/wallet/entries?{query}");
        expect_refusal_of(query, server.get(&path, &guest), 422, "query_invalid").await;
    }
}
