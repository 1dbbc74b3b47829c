//! Acts of operators at the desk, their effects, and their audit entries.

use std::time::Duration;

use bahay::lobby::house_rooms;
use bahay::operators::Role;
use bahay_engine::table::Clocks;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::browser::{Browser, advance_to_next_code, between};
use crate::http::server::{DEVICE, Server, expect_refusal, ok, text};
use crate::support::csv::CsvFile;
use crate::support::db::read_values;
use crate::support::rest::{assert_fields, items};

/// Returns the lines of the exported audit log, oldest first: operator, action and subject.
async fn read_audit_log(browser: &mut Browser<'_>) -> Vec<String> {
    let file = browser.get("/desk/audit.csv").await.expect(200);
    let file = CsvFile::parse(&file.text);
    let [operators, actions, subjects] =
        ["operator", "action", "subject"].map(|name| file.column(name));
    let lines = (0..file.lines.len()).rev();
    lines.map(|at| format!("{} {} {}", operators[at], actions[at], subjects[at])).collect()
}

#[tokio::test]
async fn a_correction_is_requested_once_and_approved_by_another_operator() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Finance).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Admin).await;
    let form = format!("/desk/corrections/new?player={}", guest.id);
    luz.get(&format!("/desk/players/{}", guest.id)).await.shows(&form);
    luz.get(&form).await.shows(&format!("value=\"{}\"", guest.id));
    let attempt = Uuid::new_v4().to_string();
    let fields = [
        ("attempt", &*attempt),
        ("kind", "adjustment"),
        ("player", &guest.id),
        ("amount", "12.50"),
        ("reason", "a game was lost to a fault of ours"),
    ];
    let asked = luz.send("/desk/corrections/new", "/desk/corrections", &fields).await;
    let again = luz.send("/desk/corrections/new", "/desk/corrections", &fields).await;
    assert_eq!((asked.status, &asked.location), (303, &again.location));
    let here = asked.location.unwrap();
    luz.get(&here).await.shows("another operator decides");
    luz.send(&here, &format!("{here}/approval"), &[]).await.expect(403);
    ben.send(&here, &format!("{here}/approval"), &[]).await.expect(303);
    let booked = ben.get(&here).await.text;
    let operation = between(&booked, "/desk/ledger?operation=", "\"");
    let wallet = ok(server.get("/v1/me/wallet", &guest)).await;
    assert_eq!(wallet["available"], 101_250);

    let id = here.rsplit('/').next().unwrap();
    let entries = read_audit_log(&mut ben).await;
    let expected = [
        " operator_add operator:ate.luz".to_owned(),
        " enrolment_look operator:ate.luz".to_owned(),
        "ate.luz enrolment ".to_owned(),
        " operator_add operator:kuya.ben".to_owned(),
        " enrolment_look operator:kuya.ben".to_owned(),
        "kuya.ben enrolment ".to_owned(),
        format!("ate.luz correction_request correction:{id}"),
        format!("kuya.ben correction_approve correction:{id}"),
        "kuya.ben export audit".to_owned(),
    ];
    assert_eq!(entries, expected);
    let found = ben.get(&format!("/desk/audit?subject=correction:{id}&operator=ate.luz")).await;
    found.shows("<td>Correction requested</td>").hides("<td>Correction approved</td>");
    ben.get("/desk/audit?from=2999-01-01T00:00").await.shows("No entries.");
    // The entry of an export has the conditions of its search, in the words of the form.
    ben.get("/desk/audit.csv?subject=room:newbie&from=2026-02-01T00:00").await.expect(200);
    let exports = ben.get("/desk/audit?action=export").await;
    exports.shows("<div>subject: room:newbie</div>").hides("Some(").hides("None").hides("{&quot;");
    exports.shows("<div>from: <time datetime=");
    ben.get("/desk/audit?from=yesterday").await.expect(422);

    // The reversal: the page of the booking links to the request, and the other operator approves
    // it.
    let form = format!("/desk/corrections/new?operation={operation}");
    ben.get(&format!("/desk/ledger?operation={operation}")).await.shows(&form);
    ben.get(&form).await.shows(&format!("value=\"{operation}\""));
    let attempt = Uuid::new_v4().to_string();
    let fields = [
        ("attempt", &*attempt),
        ("kind", "reversal"),
        ("operation", operation),
        ("reason", "the fault was not ours after all"),
    ];
    let here = ben.send(&form, "/desk/corrections", &fields).await.location.unwrap();
    ben.send(&here, &format!("{here}/approval"), &[]).await.expect(403);
    luz.send(&here, &format!("{here}/approval"), &[]).await.expect(303);
    assert_eq!(ok(server.get("/v1/me/wallet", &guest)).await["available"], 100_000);
    server.bank.audit_clean().await;
}

#[tokio::test]
async fn a_table_is_found_by_its_id() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Viewer).await;
    let table = Uuid::new_v4();
    let found = luz.get(&format!("/desk/tables?table=+{table}")).await;
    assert_eq!(found.location, Some(format!("/desk/tables/{table}")));
    luz.get("/desk/tables?table=seven").await.expect(422);
}

#[tokio::test]
async fn a_closed_house_seats_nobody_in_rooms_and_at_private_tables() {
    let (server, other) = Server::with_other().await;
    let guest = server.guest(DEVICE).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let open = json!({ "room": "newbie", "bet": 100 });
    let private = || server.post_once(&guest, "/v1/private-tables", &open);
    let seat = || server.post_by(&guest, "/v1/rooms/newbie/seat", &json!({}));
    let why = [("reason", "closed for the test")];
    luz.send("/desk/switches", "/desk/switches/house/closing", &why).await.expect(303);
    expect_refusal(seat(), 409, "room_closed").await;
    expect_refusal(private(), 409, "room_closed").await;
    let rooms = ok(server.request(Method::GET, "/v1/rooms")).await;
    let is_open = |room: &Value| room["is_open"] == json!(true);
    assert!(!items(&rooms).iter().any(is_open), "{rooms}");
    luz.get("/desk/switches").await.shows("closed for the test");
    drop(other);
    luz.send("/desk/switches", "/desk/switches/house/opening", &[]).await.expect(303);
    ok(seat()).await;
    let entries = read_audit_log(&mut luz).await;
    assert_eq!(entries[3..5], ["ate.luz house_close house", "ate.luz house_open house"]);
}

/// Returns the names and values of the inputs of a form, without its token.
fn read_inputs(form: &str) -> Vec<(&str, String)> {
    let inputs = form.split("<input").skip(1).map(|input| {
        (between(input, "name=\"", "\""), between(input, "value=\"", "\"").to_owned())
    });
    inputs.filter(|(name, _)| *name != "form_token").collect()
}

#[tokio::test]
async fn a_room_is_changed_closed_and_copied() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let make = [("id", "weekend"), ("name", "Weekend"), ("kind", "tongits"), ("like", "newbie")];
    luz.send("/desk/rooms", "/desk/rooms", &make).await.expect_redirect("/desk/rooms/weekend");
    let page = luz.get("/desk/rooms/weekend").await.text;
    // The form's values are sent back with another bet.
    let mut fields = read_inputs(between(&page, "action=\"/desk/rooms/weekend\"", "</form>"));
    fields.push(("rule_set", "kingdom".to_owned()));
    fields.push(("rules.dump_addable", "yes".to_owned()));
    fields.push(("watchable", "no".to_owned()));
    fields.iter_mut().find(|(name, _)| *name == "bet").unwrap().1 = "2.00".to_owned();
    let draw = fields.iter_mut().find(|(name, _)| *name == "rules.countdowns.draw_ms");
    // Times are in seconds, the fee is in percent.
    draw.expect("a field for each number of the rules").1 = "12.5".to_owned();
    let fee = fields.iter_mut().find(|(name, _)| *name == "fee_basis_points").unwrap();
    assert_eq!(fee.1, "5");
    fee.1 = "4.25".to_owned();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, &**value)).collect();
    let here = "/desk/rooms/weekend";
    let preview = luz.send(here, here, &fields).await.expect(200);
    assert!(!luz.get(here).await.text.contains("<td class=\"number\">2</td>"), "one revision");
    // The confirmation sends the same values.
    let confirmation = between(&preview.text, "</table></div><form", "</form>");
    let mut confirmed = read_inputs(confirmation);
    let sorted = |fields: &[(&str, String)]| {
        let mut fields: Vec<_> = fields.iter().map(|(a, b)| (a.to_string(), b.clone())).collect();
        fields.sort();
        fields
    };
    let sent: Vec<_> = fields.iter().map(|(a, b)| (*a, (*b).to_owned())).collect();
    assert_eq!(sorted(&confirmed), sorted(&sent));
    confirmed.push(("confirm", "yes".to_owned()));
    let confirmed: Vec<(&str, &str)> =
        confirmed.iter().map(|(name, value)| (*name, &**value)).collect();
    luz.send(here, here, &confirmed).await.expect_redirect(here);
    luz.send(here, here, &confirmed).await.expect(409);
    luz.send(here, here, &fields).await.expect(409);
    luz.send("/desk/rooms/weekend", "/desk/rooms/weekend/opening", &[]).await.expect(303);
    let rooms = ok(server.request(Method::GET, "/v1/rooms")).await;
    let items = items(&rooms);
    let weekend = items.iter().find(|room| room["id"] == "weekend").unwrap();
    assert_fields(weekend, json!({ "bet": 200, "is_open": true, "rule_set": "kingdom" }));
    assert_eq!(weekend["has_own_switches"], true);
    let page = luz.get("/desk/rooms/weekend").await.text;
    let draw = between(&page, "name=\"rules.countdowns.draw_ms\"", ">");
    assert!(draw.contains("value=\"12.5\""), "{draw}");
    assert_eq!(weekend["fee_basis_points"], 425);
    let newbie = house_rooms(Clocks::default())[0].terms().clone();
    let prepare = between(&page, "name=\"clocks.prepare_ms\"", ">");
    let seconds = newbie.clocks.prepare_ms / 1_000;
    assert!(prepare.contains(&format!("value=\"{seconds}\"")), "{prepare}");
}

#[tokio::test]
async fn a_player_is_banned_and_muted_and_both_are_lifted() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Support).await;
    let here = format!("/desk/players/{}", guest.id);
    let (sanctions, lifting) = (format!("{here}/sanctions"), format!("{here}/sanctions/lifting"));
    let reason = ("reason", "dumps coins on a friend");
    // An operator chooses the duration: nothing is permanent by omission.
    for (duration, hours) in [("", ""), ("other", ""), ("other", "3.5"), ("other", "87601")] {
        let fields = [("kind", "ban"), ("duration", duration), ("hours", hours), reason];
        luz.send(&here, &sanctions, &fields).await.expect(422);
    }
    let fields = [("kind", "ban"), ("duration", "other"), ("hours", "72"), reason];
    luz.send(&here, &sanctions, &fields).await.expect_redirect(&here);
    let sign_in = || server.post("/v1/sign-in/guest", &json!({ "device_id": DEVICE }));
    expect_refusal(sign_in(), 403, "banned").await;
    let page = luz.get(&here).await;
    page.shows("dumps coins on a friend").shows("<td>ate.luz</td>");
    let badges = |banned: bool, muted: bool| {
        [(banned, "banned"), (muted, "muted")].map(|(is, word)| (is, format!(">{word}</span>")))
    };
    let expect_badges = |heading: &str, expected: [(bool, String); 2]| {
        for (is, badge) in expected {
            assert_eq!(heading.contains(&badge), is, "{badge}: {heading}");
        }
    };
    expect_badges(between(&page.text, "<h1>", "</h1>"), badges(true, false));
    let reason = ("reason", "insults at the table");
    let fields = [("kind", "mute"), ("duration", "permanent"), ("hours", ""), reason];
    luz.send(&here, &sanctions, &fields).await.expect_redirect(&here);
    let page = luz.get(&here).await;
    page.shows("insults at the table").shows("Lift the mute");
    let reason = ("reason", "insults once more");
    let fields = [("kind", "mute"), ("duration", "24"), ("hours", ""), reason];
    luz.send(&here, &sanctions, &fields).await.expect_redirect(&here);
    let page = luz.get(&here).await;
    page.shows("Lift all 2 mutes").hides("Lift the mute");
    expect_badges(between(&page.text, "<h1>", "</h1>"), badges(true, true));
    let found = luz.get(&format!("/desk/players?search={}", guest.id)).await;
    expect_badges(between(&found.text, "<tbody>", "</tbody>"), badges(true, true));
    let wrong = [("kind", "sleep"), ("duration", "1"), ("hours", ""), reason];
    luz.send(&here, &sanctions, &wrong).await.expect(422);
    server.clock.advance(Duration::from_hours(71));
    expect_refusal(sign_in(), 403, "banned").await;
    // The operator's own session has expired in the meantime.
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Support).await;
    for kind in ["ban", "mute"] {
        ben.send(&here, &lifting, &[("kind", kind)]).await.expect(303);
    }
    ok(sign_in()).await;
    let page = ben.get(&here).await;
    page.hides("Lift the").shows("<td>ate.luz</td>").shows("<td>kuya.ben</td>");
    expect_badges(between(&page.text, "<h1>", "</h1>"), badges(false, false));
    let bans = ok(server.get(&format!("/v1/operator{}/bans", &here["/desk".len()..]), &{
        ben.create_token().await
    }))
    .await;
    let expected = json!({ "imposed_by": "ate.luz", "lifted_by": "kuya.ben" });
    assert_fields(&bans["items"][0], expected);
    let sql = format!(
        "select action from audit_entries
        where subject = 'player:{}' and action <> 'addresses_look' order by id",
        guest.id
    );
    let rows: Vec<String> = read_values(&server.bank.pool, &sql).await;
    let lifts = ["player_lift_ban", "player_lift_mute"];
    assert_eq!(rows, [&["player_ban", "player_mute", "player_mute"][..], &lifts].concat());
}

#[tokio::test]
async fn administrators_add_reset_and_disable_operators_but_not_themselves() {
    let server = Server::new().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let here = "/desk/operators";
    let page = luz.send(here, here, &[("name", "kuya.ben"), ("role", "finance")]).await.expect(200);
    let code = page.enrolment_code();
    let mut ben = Browser::new(&server);
    let factor = ben.complete_enrolment(&code).await;
    ben.get("/desk/rooms").await.expect(200);
    let token = ben.create_token().await;
    // The token is valid for 90 days; it is noon in UTC.
    luz.get(here).await.shows("2026-05-30 20:00:00");
    let list = |token: &str| server.get("/v1/operator/corrections", token);
    ok(list(&token)).await;
    luz.send(here, here, &[("name", "kuya.ben"), ("role", "admin")]).await.expect(409);

    let reset = luz.send(here, "/desk/operators/kuya.ben/enrolment", &[]).await;
    reset.shows("bahay_en_").hides(&code);
    assert_eq!(ben.get("/desk/rooms").await.status, 303, "its session has ended");
    advance_to_next_code(&server.clock);
    ben.sign_in_with("kuya.ben", &factor).await.expect(403);
    expect_refusal(list(&token), 401, "operator_token_unknown").await;
    ben.complete_enrolment(&reset.enrolment_code()).await;
    let token = ben.create_token().await;
    ok(list(&token)).await;

    luz.send(here, "/desk/operators/kuya.ben/disabling", &[]).await.expect(303);
    expect_refusal(list(&token), 401, "operator_token_unknown").await;
    for own in ["disabling", "enrolment"] {
        luz.send(here, &format!("/desk/operators/ate.luz/{own}"), &[]).await.expect(409);
    }
    luz.get(here).await.expect(200);
}

#[tokio::test]
async fn a_table_is_displayed_without_hands_and_orders_are_audited() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let seat = server.post_by(&guest, "/v1/rooms/newbie/seat", &json!({}));
    let table = text(&ok(seat).await["table"]);
    luz.get("/desk/tables?room=newbie").await.shows(&table);
    let here = format!("/desk/tables/{table}");
    luz.get(&here).await.shows("waiting for players").shows(&guest.id);
    luz.get(&format!("{here}/live")).await.shows(&guest.id).hides("<html");
    // Without a game there is nothing to display and nothing to record.
    let why = [("reason", "a player complains")];
    luz.send(&here, &format!("{here}/hands"), &why).await.expect(409);
    let expecting = |game| [why[0], ("game", game)];
    let other = Uuid::nil().to_string();
    luz.send(&here, &format!("{here}/voiding"), &expecting(&other)).await.expect(409);
    luz.send(&here, &format!("{here}/voiding"), &expecting("a game")).await.expect(422);
    let voided = luz.send(&here, &format!("{here}/voiding"), &expecting("")).await.expect(200);
    voided.shows("No game was open");
    luz.send("/desk/rooms", &format!("{here}/voiding"), &why).await.expect(404);
    let entries = read_audit_log(&mut luz).await;
    let expected = [
        format!("ate.luz table_void table:{table}"),
        format!("ate.luz table_order_completed table:{table}"),
        format!("ate.luz table_void table:{table}"),
        format!("ate.luz table_order_failed table:{table}"),
    ];
    assert_eq!(entries[3..7], expected);
}
