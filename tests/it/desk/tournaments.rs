//! Tournaments at the desk: announced after they were shown in full, requested from a second operator
//! above a guarantee, cancelled after the amounts were shown.

use bahay::operators::Role;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::browser::{Browser, between, form_token};
use crate::http::server::{REASON, Server, expect_refusal, ok, text};
use crate::support::checks::check_ledger;
use crate::support::db::{execute, read_rows, read_value, read_values};
use crate::support::rest::items;

const HERE: &str = "/desk/tournaments";
const REQUESTS: &str = "/desk/tournament-requests";

/// Returns the fields of a sit-and-go with a guarantee.
fn fields<'a>(attempt: &'a str, guarantee: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("attempt", attempt),
        ("preset", "sit_and_go_3"),
        ("name", "Ring of three"),
        ("game", "tongits/kingdom"),
        ("buy_in", "5"),
        ("fee", "0.50"),
        ("guarantee", guarantee),
        ("reason", REASON),
    ]
}

#[tokio::test]
async fn a_tournament_is_announced_as_it_was_shown_and_cancelled_after_the_amounts_were_shown() {
    let (server, guests) = Server::with_guests(2).await;
    let [guest, late] = guests.as_slice() else { panic!("two guests") };
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let new = format!("{HERE}/new");
    let blank = luz.load(&new).await;
    blank.shows("championship").hides("Announce this tournament");
    // A refusal keeps the fields and names the invalid one.
    let query = "preset=arena_hour&name=Friday&game=tongits/kingdom&guarantee=12.5";
    let refused = luz.load(&format!("{new}?{query}")).await;
    refused.shows("value=\"12.5\"").shows("value=\"Friday\"").hides("Announce this tournament");
    refused.shows("start: ").shows("every other tournament one");
    let query = format!("{query}&starts_at=2099-01-01T20:00");
    luz.load(&format!("{new}?{query}")).await.shows("by at most a year");
    let query = "preset=sit_and_go_3&name=Ring&game=tongits/kingdom&buy_in=5&payouts=60+40&late=";
    let shown = luz.load(&format!("{new}?{query}")).await;
    shown.shows("Announce this tournament").shows("60 40").shows("as soon as it is full");

    let attempt = Uuid::now_v7().to_string();
    let announced = luz.send(&new, HERE, &fields(&attempt, "30")).await.expect(303);
    let path = announced.location.unwrap();
    let again = luz.send(&new, HERE, &fields(&attempt, "30")).await;
    again.expect_redirect(&path);
    let count = "select count(*) from tournaments";
    assert_eq!(read_value::<i64>(&server.bank.pool, count).await, 1);
    let id = path.rsplit('/').next().unwrap().to_owned();
    luz.load(HERE).await.shows("Ring of three").shows("30.00").shows("0 of 3");
    luz.load(&format!("{HERE}?state=running")).await.hides("Ring of three");
    luz.load(&format!("{HERE}?format=sit_and_go&kind=tongits")).await.shows("Ring of three");
    let page = luz.load(&path).await;
    page.shows("Commitment to the seed").shows("Tournament announced").hides("Seed</dt>");

    let entry = format!("/v1/tournaments/{id}/entry");
    ok(server.call(Method::PUT, &entry, guest).json(&json!({}))).await;
    let page = luz.load(&path).await;
    page.shows(&guest.id).shows("Tournament entry").shows("5.50");
    let token = luz.create_token().await;
    let over_api = ok(server.get(&format!("/v1/operator/tournaments/{id}"), &token)).await;
    assert_eq!(over_api["balance"], json!(550));
    assert_eq!(over_api["transfers"][0]["code"], "tournament_entry");
    let listed = ok(server.get("/v1/operator/tournaments?state=announced", &token)).await;
    assert_eq!(items(&listed)[0]["id"], json!(id));
    let standings = format!("/v1/operator/tournaments/{id}/standings");
    assert_eq!(items(&ok(server.get(&standings, &token)).await).len(), 1);
    let file = luz.get(&format!("{path}/results.jsonl")).await.expect(200);
    let lines = file.text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let types: Vec<String> = lines.map(|line| text(&line["type"])).collect();
    assert_eq!(types[0], "announced");
    assert!(types.len() > 1, "{types:?}");

    luz.load(&format!("{path}/collusion")).await.shows("No entries.");
    let cancellation = format!("{path}/cancellation");
    let shown = luz.load(&cancellation).await;
    shown.shows("5.50").shows(&guest.id).hides(&late.id).hides("the amounts change again");
    let digest = between(&shown.text, "name=\"shown\" value=\"", "\"").to_owned();
    let one_player = [("reason", REASON), ("shown", &*digest)];
    // Another player registers between the page and its form.
    ok(server.call(Method::PUT, &entry, late).json(&json!({}))).await;
    let refused = luz.send(&cancellation, &cancellation, &one_player).await.expect(409);
    refused.shows("the amounts have changed").shows(&late.id).shows("the amounts change again");
    luz.load(&path).await.shows("announced").hides("Tournament entry returned");
    let over_api = json!({ "reason": REASON, "digest": digest });
    let cancel_path = format!("/v1/operator/tournaments/{id}/cancellation");
    let cancel = server.post_once(&token, &cancel_path, &over_api);
    expect_refusal(cancel, 409, "cancellation_changed").await;
    let preview = ok(server.get(&cancel_path, &token)).await;
    let two_players = text(&preview["digest"]);
    assert_eq!(between(&refused.text, "name=\"shown\" value=\"", "\""), two_players);
    let seen = [("reason", REASON), ("shown", &*two_players)];
    luz.send(&cancellation, &cancellation, &seen).await.expect_redirect(&path);
    luz.load(&path).await.shows("cancelled").shows("Seed").shows("Tournament entry returned");
    let paid = "select p.player::text, t.amount
        from transfers t
        join accounts p on p.id = t.destination
        where t.code = 'tournament_return'
        order by 1";
    let paid: Vec<(String, i64)> = read_rows(&server.bank.pool, paid).await;
    let mut amounts: Vec<(String, i64)> = preview["refunds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refund| (text(&refund["player"]), refund["amount"].as_i64().unwrap()))
        .collect();
    amounts.sort_unstable();
    assert_eq!(paid, amounts, "exactly the amounts that were shown are paid");
    let balance = ok(server.get(&format!("/v1/operator/tournaments/{id}"), &token)).await;
    assert_eq!((&balance["balance"], &balance["house_result"]), (&json!(0), &json!(0)));
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn a_form_that_is_sent_twice_at_once_announces_one_tournament() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let attempt = Uuid::now_v7().to_string();
    let page = luz.load(&format!("{HERE}/new")).await;
    let token = form_token(&page.text);
    let mut twin = Browser::new(&server);
    twin.cookies = luz.cookies.clone();
    let mut private = fields(&attempt, "0");
    private.push(("code", "K7MWQ2XA"));
    let (one, two) =
        tokio::join!(luz.send_with(&token, HERE, &private), twin.send_with(&token, HERE, &private));
    let path = one.location.clone().unwrap();
    one.expect_redirect(&path);
    two.expect_redirect(&path);
    let count = "select count(*) from tournaments";
    assert_eq!(read_value::<i64>(&server.bank.pool, count).await, 1);
}

/// Rule 1.7: each sit-and-go of the presets has its own wait, at the desk and over the API alike.
#[tokio::test]
async fn house_bots_complete_a_sit_and_go_after_the_wait_of_its_preset() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let token = luz.create_token().await;
    let new = format!("{HERE}/new");
    let waits = [("sit_and_go_3", "30 s"), ("sit_and_go_9", "1 min"), ("sit_and_go_27", "2 min")];
    for (preset, wait) in waits {
        let query = format!("preset={preset}&name=Ring&game=tongits/kingdom&bots=yes");
        let shown = luz.load(&format!("{new}?{query}")).await;
        shown.shows(&format!("complete it when its first player has waited {wait}<"));
        let attempt = Uuid::now_v7().to_string();
        let fields = [
            ("attempt", &*attempt),
            ("preset", preset),
            ("name", "Ring"),
            ("game", "tongits/kingdom"),
            ("bots", "yes"),
        ];
        luz.send(&new, HERE, &fields).await.expect(303);
        let request = json!({ "preset": preset, "name": "Ring", "bots": true });
        ok(server.post_once(&token, "/v1/operator/tournaments", &request)).await;
    }
    let terms = "select (t.terms ->> 'bots_after_ms')::bigint from tournaments t order by 1";
    let terms: Vec<i64> = read_values(&server.bank.pool, terms).await;
    assert_eq!(terms, [30_000, 30_000, 60_000, 60_000, 120_000, 120_000]);
    // The terms of a tournament may still have another wait, or none.
    let query = "preset=sit_and_go_9&name=Ring&game=tongits/kingdom&bots=yes&bots_after=0";
    luz.load(&format!("{new}?{query}")).await.shows("complete it at the first registration");
}

#[tokio::test]
async fn an_operator_accepts_that_the_amounts_change_again() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let new = format!("{HERE}/new");
    let attempt = Uuid::now_v7().to_string();
    let path = luz.send(&new, HERE, &fields(&attempt, "0")).await.expect(303).location.unwrap();
    let entry = format!("/v1/tournaments/{}/entry", path.rsplit('/').next().unwrap());
    ok(server.call(Method::PUT, &entry, &guest).json(&json!({}))).await;
    let cancellation = format!("{path}/cancellation");
    let other = "0".repeat(64);
    let accepted = [("reason", REASON), ("shown", &*other), ("changes", "accept")];
    let refused = luz.send(&cancellation, &cancellation, &accepted[..2]).await.expect(409);
    refused.shows("Cancel and pay the changed amounts");
    luz.send(&cancellation, &cancellation, &[("reason", REASON)]).await.expect(422);
    luz.send(&cancellation, &cancellation, &accepted).await.expect_redirect(&path);
    luz.load(&path).await.shows("cancelled").shows("Tournament entry returned");
    luz.send(&path, &cancellation, &accepted).await.expect(409);
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn a_guarantee_above_the_setting_takes_two_operators() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Admin).await;
    let new = format!("{HERE}/new");
    let attempt = Uuid::now_v7().to_string();
    let query = "preset=sit_and_go_3&name=Ring&game=tongits/kingdom&guarantee=10,000.01";
    luz.load(&format!("{new}?{query}")).await.shows("Request this tournament");
    luz.send(&new, HERE, &fields(&attempt, "10,000.01")).await.expect(409);
    let asked = luz.send(&new, REQUESTS, &fields(&attempt, "10,000.01")).await.expect(303);
    let request = asked.location.unwrap();
    luz.load("/desk/alerts").await.shows("1 tournament to approve");
    luz.load(&request).await.shows("another operator decides").hides("Approve and announce");
    luz.send(&request, &format!("{request}/approval"), &[]).await.expect(403);
    ben.send(&request, &format!("{request}/withdrawal"), &[]).await.expect(409);
    ben.load(&request).await.shows("10,000.01").shows("Approve and announce");
    ben.send(&request, &format!("{request}/approval"), &[]).await.expect_redirect(&request);
    let id = request.rsplit('/').next().unwrap();
    ben.load(&request).await.shows("kuya.ben").shows(&format!("{HERE}/{id}"));
    luz.load(HERE).await.shows("Ring of three");
    // A repeated decision has the same result, another one is refused.
    ben.send(&request, &format!("{request}/approval"), &[]).await.expect_redirect(&request);
    let reason = [("reason", REASON)];
    ben.send(&request, &format!("{request}/rejection"), &reason).await.expect(409);

    let attempt = Uuid::now_v7().to_string();
    let asked = luz.send(&new, REQUESTS, &fields(&attempt, "20000")).await.expect(303);
    let second = asked.location.unwrap();
    luz.send(&second, &format!("{second}/withdrawal"), &[]).await.expect_redirect(&second);
    let attempt = Uuid::now_v7().to_string();
    let asked = luz.send(&new, REQUESTS, &fields(&attempt, "20000")).await.expect(303);
    let third = asked.location.unwrap();
    ben.send(&third, &format!("{third}/rejection"), &reason).await.expect_redirect(&third);
    ben.load(&format!("{REQUESTS}?state=rejected")).await.shows("ate.luz");
    let pool = &server.bank.pool;
    let count = "select count(*) from tournaments";
    assert_eq!(read_value::<i64>(pool, count).await, 1);
    let acts =
        "select a.action from audit_entries a where a.action like 'tournament%' order by a.id";
    let acts: Vec<String> = read_values(pool, acts).await;
    let expected = [
        "tournament_request",
        "tournament_approve",
        "tournament_request",
        "tournament_request_withdraw",
        "tournament_request",
        "tournament_reject",
    ];
    assert_eq!(acts, expected);

    // A token may announce below the setting, and neither announces nor requests above it.
    let token = luz.create_token().await;
    let large = json!({ "preset": "sit_and_go_3", "name": "Ring", "guarantee": 1_000_001 });
    let announce = server.post_once(&token, "/v1/operator/tournaments", &large);
    expect_refusal(announce, 409, "tournament_approval_required").await;
    let request = json!({ "tournament": large, "reason": REASON });
    let request = server.post_once(&token, "/v1/operator/tournament-requests", &request);
    expect_refusal(request, 403, "second_factor_missing").await;
    let at_the_setting =
        json!({ "preset": "sit_and_go_3", "name": "Ring", "guarantee": 1_000_000 });
    ok(server.post_once(&token, "/v1/operator/tournaments", &at_the_setting)).await;
}

#[tokio::test]
async fn a_tournament_with_a_transfer_that_is_due_for_minutes_is_an_alert() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Viewer).await;
    let admin = server.session("kuya.ben", Role::Admin).await;
    let announce = json!({ "preset": "sit_and_go_3", "name": "Ring" });
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &announce)).await;
    let id = text(&announced["id"]);
    ok(server.call(Method::PUT, &format!("/v1/tournaments/{id}/entry"), &guest).json(&json!({})))
        .await;
    luz.load("/desk/alerts").await.hides("stuck");
    let owner = server.owner_pool().await;
    // A day before the time of the server's clock.
    execute(&owner, "update tournaments set due_at = '2026-02-28T12:00:00Z'").await;
    luz.load("/desk/alerts").await.shows("1 tournament stuck");
    luz.load(HERE).await.shows("stuck");
    luz.load(&format!("{HERE}/{id}")).await.shows("has been due for minutes");
}
