//! The daily reward, over HTTP.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::http::server::{
    DEVICE, Guest, OTHER_DEVICE, Server, WELCOME, answer_all, count_successes, expect_refusal,
    expect_refusal_of, ok, status_of, text,
};
use crate::support::db::{execute, read_values};
use crate::support::rest::assert_fields;

const REWARDS: &str = "/v1/me/rewards";
const DAILY: &str = "/v1/me/rewards/daily";
const DAY: Duration = Duration::from_hours(24);

/// Signs in again, because access tokens expire within a day, and claims.
async fn claim(server: &Server) -> Value {
    let guest = server.guest(DEVICE).await;
    ok(server.call(Method::POST, DAILY, &guest)).await
}

async fn load_rewards(server: &Server) -> Value {
    let guest = server.guest(DEVICE).await;
    ok(server.get(REWARDS, &guest)).await
}

async fn move_to(server: &Server, zone: &str) -> Guest {
    let guest = server.guest(DEVICE).await;
    let me = ok(server.change_profile(&guest, &json!({ "time_zone": zone }))).await;
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
        let midnight = |day: i32| format!("2026-03-{day:02}T00:00:00.000Z");
        assert_fields(&before, json!({ "claimable": true, "claimable_at": midnight(day) }));
        assert_fields(&before, json!({ "streak_day": streak_day, "amount": amount }));
        let claimed = claim(&server).await;
        available += amount;
        assert_fields(&claimed, json!({ "streak_day": streak_day, "amount": amount }));
        assert_eq!(claimed["available"], available);
        let next = &claimed["next"];
        assert_fields(next, json!({ "claimable": false, "claimable_at": midnight(day + 1) }));
        assert_eq!(next["streak_day"], streak_day % 7 + 1);
        assert_eq!(&load_rewards(&server).await["daily"], next);
        server.clock.advance(DAY);
    }
    // One day is missed.
    server.clock.advance(DAY);
    let claimed = claim(&server).await;
    assert_fields(&claimed, json!({ "streak_day": 1, "amount": 10_000 }));
    server.bank.audit_clean().await;
}

/// The clock stands at noon in UTC, which is eight in the evening in Manila.
#[tokio::test]
async fn a_day_follows_the_players_calendar() {
    let server = Server::new().await;
    let guest = move_to(&server, "Asia/Manila").await;
    let claimed = claim(&server).await;
    assert_eq!(claimed["next"]["claimable_at"], "2026-03-01T16:00:00.000Z");
    let daily = server.call(Method::POST, DAILY, &guest);
    let problem: Value = daily.send().await.unwrap().json().await.unwrap();
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
    for _hour in 0..72 {
        for zone in zones {
            let guest = move_to(&server, zone).await;
            match status_of(server.call(Method::POST, DAILY, &guest)).await {
                200 => claims += 1,
                status => assert_eq!(status, 409),
            }
        }
        server.clock.advance(Duration::from_hours(1));
    }
    // From noon of March 1st to noon of the 4th: the days 2 to 4 in that zone, and 5 from 10
    // o'clock on.
    assert_eq!(claims, 4);
    // At home it is still the 4th; the next day that can be claimed is the 6th.
    let guest = move_to(&server, "UTC").await;
    let next = ok(server.get(REWARDS, &guest)).await;
    assert_eq!(next["daily"]["claimable_at"], "2026-03-06T00:00:00.000Z");
    assert_eq!(next["daily"]["streak_day"], 5);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn a_time_zone_must_exist() {
    let (server, guest) = Server::with_guest().await;
    let change = |zone: Value| server.change_profile(&guest, &json!({ "time_zone": zone }));
    for zone in ["Asia/Atlantis", "Manila", "Europe"] {
        expect_refusal_of(zone, change(zone.into()), 422, "time_zone_unknown").await;
    }
    for zone in [json!(""), json!("+08:00"), json!("../UTC"), json!(8)] {
        expect_refusal_of(&zone, change(zone.clone()), 422, "body_invalid").await;
    }
    let me = ok(change("America/Argentina/Buenos_Aires".into())).await;
    assert_eq!(me["time_zone"], "America/Argentina/Buenos_Aires");
    // A change of the name leaves the time zone as it is.
    let me = ok(server.change_profile(&guest, &json!({ "name": "Luz" }))).await;
    assert_eq!(me["time_zone"], "America/Argentina/Buenos_Aires");

    // At sign-in the device names the time zone, and an unknown one is ignored. An unknown zone
    // that a newer version of the program has stored leads to the house's calendar.
    for zone in ["Asia/Atlantis", "Etc/Unknown", "GMT+08:00", "+8", "", "Asia/Mañila"] {
        let body = json!({ "device_id": OTHER_DEVICE, "time_zone": zone });
        let lost = server.sign_in(&body).await;
        assert_eq!(lost.answer["player"]["time_zone"], Value::Null, "{zone}");
    }
    let lost = server.sign_in(&json!({ "device_id": OTHER_DEVICE })).await;
    let store = "update players set time_zone = 'Asia/Atlantis' where id =";
    execute(&server.bank.pool, &format!("{store} '{}'", lost.id)).await;
    let rewards = ok(server.get(REWARDS, &lost)).await;
    assert_eq!(rewards["daily"]["claimable_at"], "2026-03-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_hundred_claims_at_once_pay_once() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let claims = (0..100).map(|number: usize| {
        let claim = server.alternate(&other, number).call(Method::POST, DAILY, &guest);
        // Some requests have keys, all different.
        match number % 3 {
            0 => claim.header("Idempotency-Key", format!("claim-{number}")),
            _ => claim,
        }
    });
    assert_eq!(
        count_successes("the daily reward", answer_all(200, claims).await, 409, "daily_claimed"),
        1
    );
    let keys: Vec<String> =
        read_values(&server.bank.pool, "select key from operations where key like 'daily:%'").await;
    assert_eq!(keys, [format!("daily:{}:2026-03-01", guest.id)]);
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await;
    assert_eq!(wallet["available"], WELCOME.hundredths() + 10_000);
    expect_refusal(other.call(Method::POST, DAILY, &guest), 409, "daily_claimed").await;
    server.bank.audit_clean().await;
}
