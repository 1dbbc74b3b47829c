//! The daily reward, over HTTP.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{Guest, Server, WELCOME, expect_refusal, expect_refusal_of, ok, text};
use crate::support::db::read_values;

const DEVICE: &str = "device-0123456789";
const REWARDS: &str = "/v1/me/rewards";
const DAILY: &str = "/v1/me/rewards/daily";
const DAY: Duration = Duration::from_hours(24);

/// Signs in again, because access tokens expire within a day, and claims.
async fn claim(server: &Server) -> Value {
    let guest = server.node.guest(DEVICE).await;
    ok(server.node.request(Method::POST, DAILY).bearer_auth(&guest.access_token)).await
}

async fn load_rewards(server: &Server) -> Value {
    let guest = server.node.guest(DEVICE).await;
    ok(server.node.get(REWARDS, &guest.access_token)).await
}

async fn move_to(server: &Server, zone: &str) -> Guest {
    let guest = server.node.guest(DEVICE).await;
    let change = server.node.request(Method::PATCH, "/v1/me").bearer_auth(&guest.access_token);
    let me = ok(change.json(&json!({ "time_zone": zone }))).await;
    assert_eq!(me["time_zone"], zone);
    guest
}

#[tokio::test]
async fn a_streak_of_seven_days_pays_more_each_day_and_begins_again() {
    let server = Server::new().await;
    let amounts = [10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 100_000, 10_000];
    let mut available = WELCOME.hundredths();
    for (day, amount) in (1..).zip(amounts) {
        let streak_day = (day - 1) % 7 + 1;
        let before = load_rewards(&server).await["daily"].clone();
        assert_eq!(before["claimable"], true);
        assert_eq!(before["streak_day"], streak_day);
        assert_eq!(before["amount"], amount);
        assert_eq!(before["claimable_at"], format!("2026-03-{day:02}T00:00:00.000Z"));
        let claimed = claim(&server).await;
        available += amount;
        assert_eq!(claimed["streak_day"], streak_day);
        assert_eq!(claimed["amount"], amount);
        assert_eq!(claimed["available"], available);
        let next = &claimed["next"];
        assert_eq!(next["claimable"], false);
        assert_eq!(next["streak_day"], streak_day % 7 + 1);
        assert_eq!(next["claimable_at"], format!("2026-03-{:02}T00:00:00.000Z", day + 1));
        assert_eq!(&load_rewards(&server).await["daily"], next);
        server.clock.advance(DAY);
    }
    // One day is missed.
    server.clock.advance(DAY);
    let claimed = claim(&server).await;
    assert_eq!((&claimed["streak_day"], &claimed["amount"]), (&json!(1), &json!(10_000)));
    server.bank.audit_clean().await;
}

/// The clock stands at noon in UTC, which is eight in the evening in Manila.
#[tokio::test]
async fn a_day_follows_the_players_calendar() {
    let server = Server::new().await;
    let guest = move_to(&server, "Asia/Manila").await;
    let claimed = claim(&server).await;
    assert_eq!(claimed["next"]["claimable_at"], "2026-03-01T16:00:00.000Z");
    let daily = || server.node.request(Method::POST, DAILY).bearer_auth(&guest.access_token);
    let response = daily().send().await.unwrap();
    let problem: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(problem["code"], "daily_claimed");
    assert!(text(&problem["detail"]).contains("2026-03-01T16:00:00Z"), "{problem}");
    server.clock.advance(Duration::from_mins(4 * 60 - 1));
    assert_eq!(load_rewards(&server).await["daily"]["claimable"], false);
    server.clock.advance(Duration::from_mins(1));
    assert_eq!(claim(&server).await["streak_day"], 2);
}

#[tokio::test]
async fn changing_time_zones_gains_at_most_one_day_once() {
    let server = Server::new().await;
    // Noon in UTC is two in the morning of the next day in the easternmost zone.
    let zones = ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC", "Asia/Manila"];
    let mut claims = 0;
    let mut hours = 0;
    while hours < 72 {
        for zone in zones {
            let guest = move_to(&server, zone).await;
            let daily = server.node.request(Method::POST, DAILY).bearer_auth(&guest.access_token);
            let response = daily.send().await.unwrap();
            match response.status().as_u16() {
                200 => claims += 1,
                status => assert_eq!(status, 409),
            }
        }
        server.clock.advance(Duration::from_hours(1));
        hours += 1;
    }
    // From noon of March 1st to noon of the 4th: the days 2 to 4 in that zone, and 5 from 10
    // o'clock on.
    assert_eq!(claims, 4);
    // At home it is still the 4th; the next day that can be claimed is the 6th.
    let guest = move_to(&server, "UTC").await;
    let next = ok(server.node.get(REWARDS, &guest.access_token)).await;
    assert_eq!(next["daily"]["claimable_at"], "2026-03-06T00:00:00.000Z");
    assert_eq!(next["daily"]["streak_day"], 5);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn a_time_zone_must_exist() {
    let (server, guest) = Server::with_guest(DEVICE).await;
    let change = |zone: Value| {
        let change = server.node.request(Method::PATCH, "/v1/me").bearer_auth(&guest.access_token);
        change.json(&json!({ "time_zone": zone }))
    };
    for zone in ["Asia/Atlantis", "Manila", "Europe"] {
        expect_refusal_of(zone, change(zone.into()), 422, "time_zone_unknown").await;
    }
    for zone in [json!(""), json!("+08:00"), json!("../UTC"), json!(8)] {
        expect_refusal_of(&zone, change(zone.clone()), 422, "body_invalid").await;
    }
    let me = ok(change("America/Argentina/Buenos_Aires".into())).await;
    assert_eq!(me["time_zone"], "America/Argentina/Buenos_Aires");
    // A change of the name leaves the time zone as it is.
    let rename = server.node.request(Method::PATCH, "/v1/me").bearer_auth(&guest.access_token);
    let me = ok(rename.json(&json!({ "name": "Luz" }))).await;
    assert_eq!(me["time_zone"], "America/Argentina/Buenos_Aires");

    // At sign-in the device names the time zone, and an unknown one is ignored. An unknown zone
    // that a newer version of the program has stored leads to the house's calendar.
    for zone in ["Asia/Atlantis", "Etc/Unknown", "GMT+08:00", "+8", "", "Asia/Mañila"] {
        let body = json!({ "device_id": "device-9876543210", "time_zone": zone });
        let lost = server.node.sign_in(&body).await;
        assert_eq!(lost.answer["player"]["time_zone"], Value::Null, "{zone}");
    }
    let lost = server.node.sign_in(&json!({ "device_id": "device-9876543210" })).await;
    let stored = sqlx::query("update players set time_zone = 'Asia/Atlantis' where id = $1::uuid");
    stored.bind(&lost.id).execute(&server.bank.pool).await.unwrap();
    let rewards = ok(server.node.get(REWARDS, &lost.access_token)).await;
    assert_eq!(rewards["daily"]["claimable_at"], "2026-03-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_hundred_claims_at_once_pay_once() {
    let (server, other) = Server::with_other().await;
    let guest = server.node.guest(DEVICE).await;
    let claims = (0..100).map(|number| {
        let node = if number % 2 == 0 { &server.node } else { &other };
        let claim = node.request(Method::POST, DAILY).bearer_auth(&guest.access_token);
        // Some requests have keys, all different.
        let claim = if number % 3 == 0 {
            claim.header("Idempotency-Key", format!("claim-{number}"))
        } else {
            claim
        };
        tokio::spawn(async move { claim.send().await.unwrap() })
    });
    let claims: Vec<_> = claims.collect();
    let mut paid = 0;
    for claim in claims {
        let response = claim.await.unwrap();
        if response.status() == 200 {
            paid += 1;
        } else {
            let refusal = crate::http::server::refusal(response).await;
            assert_eq!(refusal, (409, "daily_claimed".into()));
        }
    }
    assert_eq!(paid, 1);
    let keys: Vec<String> =
        read_values(&server.bank.pool, "select key from operations where key like 'daily:%'").await;
    assert_eq!(keys, [format!("daily:{}:2026-03-01", guest.id)]);
    let wallet = ok(server.node.get("/v1/me/wallet", &guest.access_token)).await;
    assert_eq!(wallet["available"], WELCOME.hundredths() + 10_000);
    expect_refusal(
        other.request(Method::POST, DAILY).bearer_auth(&guest.access_token),
        409,
        "daily_claimed",
    )
    .await;
    server.bank.audit_clean().await;
}
