//! The search of operators: each kind of thing by name, by id and by the beginning of an id.

use bahay::operators::Role;
use serde_json::{Value, json};

use crate::desk::browser::Browser;
use crate::http::server::{REASON, Server, expect_refusal, list_players, ok, text};
use crate::support::bank::{PotGoes, table};
use crate::support::db::read_value;

/// Announces a sit-and-go, and returns its id.
async fn announce_tournament(luz: &mut Browser<'_>) -> String {
    let fields = [
        ("attempt", &*uuid::Uuid::now_v7().to_string()),
        ("preset", "sit_and_go_3"),
        ("name", "Ring of Three, ₱5"),
        ("game", "tongits/kingdom"),
        ("buy_in", "5"),
    ];
    let announced = luz.send("/desk/tournaments/new", "/desk/tournaments", &fields).await;
    let path = announced.expect(303).location.unwrap();
    path.rsplit('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn anything_is_found_by_a_part_of_its_name_or_id() {
    let (server, guests) = Server::with_guests(3).await;
    let table_id = table();
    let (game, _) =
        server.bank.play(table_id, &list_players(&guests), 1, 3, PotGoes::Nowhere).await;
    let player = &guests[1].id;
    let rename = format!("update players set name = 'Maria 100%' where id = '{player}'");
    crate::support::db::execute(&server.owner_pool().await, &rename).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let attempt = "0199a944-3c00-7000-8000-00000007ab1e";
    let request = [
        ("attempt", attempt),
        ("kind", "adjustment"),
        ("player", player),
        ("amount", "12.50"),
        ("reason", REASON),
    ];
    luz.send("/desk/corrections/new", "/desk/corrections", &request).await.expect(303);
    let correction: uuid::Uuid = read_value(&server.bank.pool, "select id from corrections").await;
    let key = format!("settle:{game}");
    let operation = format!("select operation from operation_keys where key = '{key}'");
    let operation: i64 = read_value(&server.bank.pool, &operation).await;
    let wallet = format!("wallet:{player}");
    let tournament = announce_tournament(&mut luz).await;
    // A table without a game, which the database does not know.
    let seat = server.post_by(&guests[2], "/v1/rooms/newbie/seat", &json!({}));
    let waiting = text(&ok(seat).await["table"]);

    let token = server.operator("api", Role::Viewer).await;
    let find = async |text: &str| -> Vec<Value> {
        let query = serde_urlencoded::to_string([("text", text)]).unwrap();
        let hits = ok(server.get(&format!("/v1/operator/search?{query}"), &token)).await;
        hits.as_array().unwrap().clone()
    };
    let (game, table_id) = (game.to_string(), table_id.to_string());
    let (correction, operation) = (correction.to_string(), operation.to_string());
    for (typed, kind, id, page) in [
        ("maria", "player", player, "/desk/players/"),
        ("IA 100%", "player", player, "/desk/players/"),
        (player, "player", player, "/desk/players/"),
        ("assets-newb", "room", &"tongo-assets-newbie".to_owned(), "/desk/rooms/"),
        ("(ASSETS), N", "room", &"tongo-assets-newbie".to_owned(), "/desk/rooms/"),
        (&game, "game", &game, "/desk/games/"),
        (&table_id, "table", &table_id, "/desk/tables/"),
        (&waiting, "table", &waiting, "/desk/tables/"),
        (&waiting[..18], "table", &waiting, "/desk/tables/"),
        ("of three, ₱", "tournament", &tournament, "/desk/tournaments/"),
        (&tournament, "tournament", &tournament, "/desk/tournaments/"),
        (&correction, "correction", &correction, "/desk/corrections/"),
        (&operation, "operation", &operation, "/desk/ledger?operation="),
        (&key, "operation", &operation, "/desk/ledger?operation="),
        (&wallet, "account", &wallet, "/desk/ledger?account="),
    ] {
        let hits = find(typed).await;
        assert_eq!(hits.len(), 1, "{typed}: {hits:?}");
        assert_eq!((text(&hits[0]["kind"]), text(&hits[0]["id"])), (kind.into(), id.clone()));
        // The only match is shown at once.
        let query = serde_urlencoded::to_string([("text", typed)]).unwrap();
        let found = luz.get(&format!("/desk/search?{query}")).await;
        found.expect_redirect(&format!("{page}{id}"));
    }
    for part in [&game[..8], &table_id[..9], &player[..13], &tournament[..13]] {
        let hits = find(part).await;
        assert!(hits.iter().any(|hit| text(&hit["id"]).starts_with(part)), "{part}: {hits:?}");
    }
    for nothing in ["ia_100", "100%%", "nobody at all", "0000", "ring_of", "₱"] {
        assert_eq!(find(nothing).await, Vec::<Value>::new(), "{nothing}");
    }
    luz.load("/desk/search?text=nobody").await.shows("No entries.");
    luz.load("/desk/search").await.shows("role=\"search\"");
    let long = format!("/v1/operator/search?text={}", "x".repeat(65));
    for path in [long.as_str(), "/v1/operator/search?text=+", "/v1/operator/search?text=%00"] {
        expect_refusal(server.get(path, &token), 422, "query_invalid").await;
    }
}
