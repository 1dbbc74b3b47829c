//! Names and avatars: who may use them, how often they change, and what others see.

use std::time::Duration;

use bahay::accounts::{AVATARS, RENAME_INTERVAL};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::http::server::{Server, expect_refusal, expect_refusal_of, ok, refused, text};
use crate::support::db::read_value;

const DEVICE: &str = "device-0123456789";
const OTHER_DEVICE: &str = "device-9876543210";

fn change_profile(server: &Server, token: &str, body: &Value) -> RequestBuilder {
    server.node.request(Method::PATCH, "/v1/me").bearer_auth(token).json(body)
}

#[tokio::test]
async fn a_name_changes_once_in_seven_days() {
    let (server, guest) = Server::with_guest(DEVICE).await;
    let token = || async { text(&server.node.guest(DEVICE).await.answer["access_token"]) };
    assert!(guest.answer["player"]["renamable_at"].is_null());
    let first = ok(change_profile(&server, &guest.access_token, &json!({ "name": "Maria" }))).await;
    assert_eq!(first["renamable_at"], "2026-03-08T12:00:00.000Z");
    // Setting the same name is not a change, and a refused change changes nothing.
    ok(change_profile(&server, &guest.access_token, &json!({ "name": "Maria" }))).await;
    let both = json!({ "name": "Luz", "avatar": "tarsier" });
    let refusal = refused(change_profile(&server, &guest.access_token, &both)).await;
    assert_eq!(refusal, (409, "name_changed_lately".into()));
    assert_eq!(ok(server.node.get("/v1/me", &guest.access_token)).await, first);
    server.clock.advance(RENAME_INTERVAL - Duration::from_millis(1));
    let later = change_profile(&server, &token().await, &both);
    expect_refusal(later, 409, "name_changed_lately").await;
    server.clock.advance(Duration::from_millis(1));
    let changed = ok(change_profile(&server, &token().await, &both)).await;
    assert_eq!((&changed["name"], &changed["avatar"]), (&json!("Luz"), &json!("tarsier")));
    // The previous name is free.
    let other = server.node.guest(OTHER_DEVICE).await;
    ok(change_profile(&server, &other.access_token, &json!({ "name": "Maria" }))).await;
}

#[tokio::test]
async fn a_confusable_name_is_refused() {
    let (server, maria) = Server::with_guest(DEVICE).await;
    ok(change_profile(&server, &maria.access_token, &json!({ "name": "Maria Clara" }))).await;
    let other = server.node.guest(OTHER_DEVICE).await;
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
        let body = json!({ "name": name });
        expect_refusal_of(
            name,
            change_profile(&server, &other.access_token, &body),
            409,
            "name_taken",
        )
        .await;
        // A new guest cannot have the name either.
        let body = json!({ "device_id": "device-0000000000", "name": name });
        let guest = server.node.post("/v1/sign-in/guest", &body);
        expect_refusal_of(name, guest, 409, "name_taken").await;
    }
    for name in ["Bahay", "Admin", "ADMlN", "Ang Moderator", "t0ngits"] {
        let request = change_profile(&server, &other.access_token, &json!({ "name": name }));
        expect_refusal_of(name, request, 422, "name_reserved").await;
        let body = json!({ "device_id": "device-0000000000", "name": name });
        let guest = server.node.post("/v1/sign-in/guest", &body);
        expect_refusal(guest, 422, "name_reserved").await;
    }
    let players: i64 = read_value(&server.bank.pool, "select count(*) from players").await;
    assert_eq!(players, 2);
    ok(change_profile(&server, &other.access_token, &json!({ "name": "Maria Klara" }))).await;
}

/// The name remains free until one of them claims it.
#[tokio::test]
async fn two_guests_may_have_the_same_unclaimed_name() {
    let server = Server::new().await;
    let bring = |device: &'static str| {
        let body = json!({ "device_id": device, "name": "Luz" });
        async { server.node.sign_in(&{ body }).await }
    };
    let one = bring(DEVICE).await;
    let two = bring(OTHER_DEVICE).await;
    assert_eq!(one.answer["player"]["name"], two.answer["player"]["name"]);
    let claimed = ok(change_profile(&server, &one.access_token, &json!({ "name": "Luz" }))).await;
    assert!(claimed["renamable_at"].is_null(), "setting the same name is not a change");
    let late = change_profile(&server, &two.access_token, &json!({ "name": "Luz" }));
    expect_refusal(late, 409, "name_taken").await;
    let again = bring(OTHER_DEVICE).await;
    assert_eq!(again.answer["player"]["name"], "Luz", "an existing player keeps its name");
}

#[tokio::test]
async fn an_avatar_is_one_of_the_catalogue() {
    let (server, guest) = Server::with_guest(DEVICE).await;
    let catalogue = ok(server.node.request(Method::GET, "/v1/avatars")).await;
    assert_eq!(catalogue, json!({ "items": AVATARS }));
    assert_eq!(guest.answer["player"]["avatar"], AVATARS[0]);
    let request = change_profile(&server, &guest.access_token, &json!({ "avatar": "jeepney" }));
    let changed = ok(request).await;
    assert_eq!(changed["avatar"], "jeepney");
    for avatar in ["", "Jeepney", "https://evil.example/a.png"] {
        let request = change_profile(&server, &guest.access_token, &json!({ "avatar": avatar }));
        let refusal = refused(request);
        assert_eq!(refusal.await, (422, "body_invalid".into()), "{avatar}");
    }
}

#[tokio::test]
async fn players_see_only_names_and_avatars_of_others() {
    let (server, one) = Server::with_guest(DEVICE).await;
    let two = server.node.guest(OTHER_DEVICE).await;
    let body = json!({ "avatar": "maya", "time_zone": "UTC" });
    ok(change_profile(&server, &two.access_token, &body)).await;
    let look_up = |ids: &str| server.node.get(&format!("/v1/players?ids={ids}"), &one.access_token);
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
