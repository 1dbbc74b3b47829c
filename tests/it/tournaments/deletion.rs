//! A registration and a deletion of the account at the same moment: one of them is refused.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::json;

use crate::http::server::{Server, expect_refusal, ok, text};
use crate::support::db::{count_waiting, read_value};
use crate::support::waiting::wait_until;

#[tokio::test]
async fn a_registration_waits_for_a_deletion_and_is_refused() {
    let (server, guest) = Server::with_guest().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let ring = json!({ "preset": "sit_and_go_3", "name": "Ring" });
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &ring)).await;
    let entry = format!("/v1/tournaments/{}/entry", text(&announced["id"]));
    // A deletion has locked the row of the player and looked for tournaments.
    let owner = server.owner_pool().await;
    let mut deletion = owner.begin().await.unwrap();
    let delete = format!("update players set deleted_at = now() where id = '{}'", guest.id);
    sqlx::query(sqlx::AssertSqlSafe(delete)).execute(&mut *deletion).await.unwrap();
    let register = server.call(Method::PUT, &entry, &guest).json(&json!({}));
    let commit = async {
        wait_until("the registration waits", async || count_waiting(&owner).await > 0).await;
        deletion.commit().await.unwrap();
    };
    tokio::join!(expect_refusal(register, 401, "session_ended"), commit);
    let entrants = "select count(*) from tournament_entrants";
    assert_eq!(read_value::<i64>(&server.bank.pool, entrants).await, 0);
    let version = "select version from tournaments";
    assert_eq!(read_value::<i64>(&server.bank.pool, version).await, 0);
}

#[tokio::test]
async fn the_export_of_a_player_has_its_tournaments() {
    let (server, guest) = Server::with_guest().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let ring = json!({ "preset": "sit_and_go_3", "name": "Ring" });
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &ring)).await;
    let entry = format!("/v1/tournaments/{}/entry", text(&announced["id"]));
    ok(server.call(Method::PUT, &entry, &guest).json(&json!({}))).await;
    let export = ok(server.get("/v1/me/export", &guest)).await;
    let [tournament] = export["tournaments"].as_array().unwrap().as_slice() else {
        panic!("one tournament: {export}")
    };
    assert_eq!((&tournament["name"], &tournament["state"]), (&json!("Ring"), &json!("announced")));
    assert_eq!((&tournament["place"], &tournament["prize"]), (&json!(null), &json!(null)));
}
