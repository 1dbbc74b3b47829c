//! Relief, over HTTP.

use std::time::Duration;

use bahay_engine::coins::Coins;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::server::{
    DEVICE, Guest, Node, Server, answer_all, count_successes, expect_refusal, list_players, ok,
    status_of,
};
use crate::support::db::{execute, read_values};
use crate::support::rest::assert_fields;

const RELIEF: &str = "/v1/me/rewards/relief";

fn claim(node: &Node, guest: &Guest) -> RequestBuilder {
    node.call(Method::POST, RELIEF, guest)
}

/// Reduces the wallet to an amount in hundredths, as a loss would.
async fn reduce_wallet(server: &Server, guest: &Guest, hundredths: i64) {
    let player = guest.player();
    let has = server.bank.ledger.wallet(player).await.unwrap().available.hundredths();
    if has == hundredths {
        return;
    }
    let amount = Coins::from_hundredths(hundredths - has);
    let correction = bahay::ids::CorrectionId(Uuid::new_v4());
    let input = bahay::ledger::AdjustWallet { correction, player, amount };
    let mut tx = server.bank.pool.begin().await.unwrap();
    server.bank.ledger.adjust_in_tx(&mut tx, input).await.unwrap();
    tx.commit().await.unwrap();
}

async fn load_relief(server: &Server, guest: &Guest) -> Value {
    ok(server.get("/v1/me/rewards", guest)).await["relief"].clone()
}

#[tokio::test]
async fn relief_is_limited_by_balance_and_per_day() {
    let (server, guest) = Server::with_guest().await;
    expect_refusal(claim(&server, &guest), 409, "relief_not_due").await;
    reduce_wallet(&server, &guest, 5_000).await;
    assert_eq!(load_relief(&server, &guest).await["claimable"], false);
    expect_refusal(claim(&server, &guest), 409, "relief_not_due").await;

    for left in [2, 1, 0] {
        reduce_wallet(&server, &guest, 4_999).await;
        let before = load_relief(&server, &guest).await;
        assert_fields(&before, json!({ "claimable": true, "left_today": left + 1 }));
        assert_fields(&before, json!({ "floor": 5_000, "amount": 10_000 }));
        let claimed = ok(claim(&server, &guest)).await;
        assert_fields(&claimed, json!({ "amount": 10_000, "available": 14_999 }));
        assert_eq!(claimed["left_today"], left);
        expect_refusal(claim(&server, &guest), 409, "relief_not_due").await;
    }
    reduce_wallet(&server, &guest, 1).await;
    assert_eq!(load_relief(&server, &guest).await["claimable"], false);
    expect_refusal(claim(&server, &guest), 409, "relief_used_up").await;

    // The clock stood at noon in UTC.
    server.clock.advance(Duration::from_hours(12));
    let guest = server.guest(DEVICE).await;
    assert_eq!(load_relief(&server, &guest).await["left_today"], 3);
    ok(claim(&server, &guest)).await;
    let keys = "select key from operations where key like 'relief:%' order by id";
    let keys: Vec<String> = read_values(&server.bank.pool, keys).await;
    let expected = ["2026-03-01:1", "2026-03-01:2", "2026-03-01:3", "2026-03-02:1"];
    assert_eq!(keys, expected.map(|key| format!("relief:{}:{key}", guest.id)));
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn held_coins_count_against_relief() {
    let (server, guests) = Server::with_guests(3).await;
    reduce_wallet(&server, &guests[0], 1_500).await;
    server.bank.open_game(&list_players(&guests)).await;
    // 15.00 less the ante of 1.00 is at stake. The available coins are below the floor, but not
    // together with the held ones.
    let wallet = ok(server.get("/v1/me/wallet", &guests[0])).await;
    assert_fields(&wallet, json!({ "available": 0, "held": 1_400 }));
    ok(claim(&server, &guests[0])).await;

    reduce_wallet(&server, &guests[0], 3_700).await;
    // 37.00 and 14.00 together are not below 50.00.
    expect_refusal(claim(&server, &guests[0]), 409, "relief_not_due").await;
    reduce_wallet(&server, &guests[0], 3_599).await;
    ok(claim(&server, &guests[0])).await;
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn concurrent_claims_never_exceed_the_daily_reliefs() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let mut granted = 0;
    for round in 0..5 {
        reduce_wallet(&server, &guest, 0).await;
        let claims = (0..100).map(|number| claim(server.alternate(&other, number), &guest));
        let expected = if round < 3 { "relief_not_due" } else { "relief_used_up" };
        let paid = count_successes(
            &format!("round {round}"),
            answer_all(200, claims).await,
            409,
            expected,
        );
        granted += paid;
        assert_eq!(paid, usize::from(round < 3), "round {round}");
    }
    assert_eq!(granted, 3);
    server.bank.audit_clean().await;
}

/// A player who crosses the date line in both directions finds the day's reliefs used up.
#[tokio::test]
async fn changing_time_zones_does_not_restore_reliefs() {
    let (server, guest) = Server::with_guest().await;
    let move_to = async |zone: &str| {
        execute(&server.bank.pool, &format!("update players set time_zone = '{zone}'")).await;
    };
    let mut granted = 0;
    for zone in ["Pacific/Kiritimati", "UTC", "Pacific/Pago_Pago", "Pacific/Kiritimati"] {
        move_to(zone).await;
        for _ in 0..4 {
            reduce_wallet(&server, &guest, 0).await;
            granted += i32::from(status_of(claim(&server, &guest)).await == 200);
        }
    }
    assert_eq!(granted, 3);
}
