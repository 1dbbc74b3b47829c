//! Names and avatars: who may use them, how often they change, and what others see.

use std::time::Duration;

use bahay::accounts::{AVATARS, RENAME_INTERVAL};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::http::server::{
    DEVICE, OTHER_DEVICE, Server, expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::db::count_rows;
use crate::support::rest::assert_fields;

fn rename(server: &Server, by: &(impl AsRef<str> + ?Sized), name: &str) -> RequestBuilder {
    server.change_profile(by, &json!({ "name": name }))
}

#[tokio::test]
async fn a_name_changes_once_in_seven_days() {
    let (server, guest) = Server::with_guest().await;
    assert!(guest.answer["player"]["renamable_at"].is_null());
    let first = ok(rename(&server, &guest, "Maria")).await;
    assert_eq!(first["renamable_at"], "2026-03-08T12:00:00.000Z");
    // Setting the same name is not a change, and a refused change changes nothing.
    ok(rename(&server, &guest, "Maria")).await;
    let both = json!({ "name": "Luz", "avatar": "tarsier" });
    expect_refusal(server.change_profile(&guest, &both), 409, "name_changed_lately").await;
    assert_eq!(ok(server.get("/v1/me", &guest)).await, first);
    server.clock.advance(RENAME_INTERVAL - Duration::from_millis(1));
    let guest = server.guest(DEVICE).await;
    expect_refusal(server.change_profile(&guest, &both), 409, "name_changed_lately").await;
    server.clock.advance(Duration::from_millis(1));
    let changed = ok(server.change_profile(&guest, &both)).await;
    assert_fields(&changed, both);
    // The previous name is free.
    let other = server.guest(OTHER_DEVICE).await;
    ok(rename(&server, &other, "Maria")).await;
}

#[tokio::test]
async fn a_confusable_name_is_refused() {
    let (server, maria) = Server::with_guest().await;
    ok(rename(&server, &maria, "Maria Clara")).await;
    let other = server.guest(OTHER_DEVICE).await;
    for name in [
        "Maria Clara",
        "maria clara",
        "MARIA CLARA",
        "MariaClara",
        "Maria_Clara",
        "Mаria Clara",
        "Μaria Clara",
        "Ｍａｒｉａ Clara",
        "Maria CIara",
        "Maria C1ara",
        "rnaria clara",
    ] {
        expect_refusal_of(name, rename(&server, &other, name), 409, "name_taken").await;
        // A new guest cannot have the name either.
        let body = json!({ "device_id": "device-0000000000", "name": name });
        expect_refusal_of(name, server.post("/v1/sign-in/guest", &body), 409, "name_taken").await;
    }
    for name in ["Bahay", "Admin", "ADMlN", "Ang Moderator", "t0ngits"] {
        expect_refusal_of(name, rename(&server, &other, name), 422, "name_reserved").await;
        let body = json!({ "device_id": "device-0000000000", "name": name });
        expect_refusal(server.post("/v1/sign-in/guest", &body), 422, "name_reserved").await;
    }
    assert_eq!(count_rows(&server.bank.pool, "players").await, 2);
    ok(rename(&server, &other, "Maria Klara")).await;
}

/// The name remains free until one of them claims it.
#[tokio::test]
async fn two_guests_may_have_the_same_unclaimed_name() {
    let server = Server::new().await;
    let bring = |device: &'static str| {
        let body = json!({ "device_id": device, "name": "Luz" });
        async { server.sign_in(&{ body }).await }
    };
    let one = bring(DEVICE).await;
    let two = bring(OTHER_DEVICE).await;
    assert_eq!(one.answer["player"]["name"], two.answer["player"]["name"]);
    let claimed = ok(rename(&server, &one, "Luz")).await;
    assert!(claimed["renamable_at"].is_null(), "setting the same name is not a change");
    expect_refusal(rename(&server, &two, "Luz"), 409, "name_taken").await;
    let again = bring(OTHER_DEVICE).await;
    assert_eq!(again.answer["player"]["name"], "Luz", "an existing player keeps its name");
}

#[tokio::test]
async fn an_avatar_is_one_of_the_catalogue() {
    let (server, guest) = Server::with_guest().await;
    assert_eq!(ok(server.request(Method::GET, "/v1/avatars")).await, json!({ "items": AVATARS }));
    assert_eq!(guest.answer["player"]["avatar"], AVATARS[0]);
    let changed = ok(server.change_profile(&guest, &json!({ "avatar": "jeepney" }))).await;
    assert_eq!(changed["avatar"], "jeepney");
    for avatar in ["", "Jeepney", "https://evil.example/a.png"] {
        let request = server.change_profile(&guest, &json!({ "avatar": avatar }));
        expect_refusal_of(avatar, request, 422, "body_invalid").await;
    }
}

#[tokio::test]
async fn players_see_only_names_and_avatars_of_others() {
    let (server, one) = Server::with_guest().await;
    let two = server.guest(OTHER_DEVICE).await;
    let body = json!({ "avatar": "maya", "time_zone": "UTC" });
    ok(server.change_profile(&two, &body)).await;
    let look_up = |ids: &str| server.get(&format!("/v1/players?ids={ids}"), &one);
    let nobody = uuid::Uuid::max();
    let found = ok(look_up(&format!("{},{},{nobody}", two.id, one.id))).await;
    let mut expected = [
        json!({ "id": one.id, "name": one.answer["player"]["name"], "avatar": "carabao",
            "is_bot": false }),
        json!({ "id": two.id, "name": two.answer["player"]["name"], "avatar": "maya",
            "is_bot": false }),
    ];
    expected.sort_by_key(|player| text(&player["id"]));
    assert_eq!(found, json!({ "items": expected }));
    let many = vec![nobody.to_string(); 33].join(",");
    for ids in ["", ",", "x", &many, &format!("{nobody},")] {
        expect_refusal_of(ids, look_up(ids), 422, "query_invalid").await;
    }
}
