//! The administration of rooms by operators.

use bahay::operators::Role;
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::http::server::{DEVICE, Server, expect_refusal, expect_refusal_of, ok};
use crate::support::db::execute;
use crate::support::rest::{assert_fields, items};

/// A server, and the token of an operator who may change rooms.
struct Office {
    server: Server,
    admin: String,
}

impl Office {
    async fn new() -> Self {
        let server = Server::new().await;
        let admin = server.operator("ate.luz", Role::Admin).await;
        Self { server, admin }
    }

    fn create(&self, id: &str, settings: &Value) -> RequestBuilder {
        let body = json!({ "id": id, "settings": settings });
        self.server.post_once(&self.admin, "/v1/operator/rooms", &body)
    }

    fn change(&self, id: &str, revision: u32, settings: &Value) -> RequestBuilder {
        let body = json!({ "revision": revision, "settings": settings });
        let change =
            self.server.call(Method::PUT, &format!("/v1/operator/rooms/{id}"), &self.admin);
        change.header("Idempotency-Key", Uuid::new_v4().to_string()).json(&body)
    }

    fn switch_room(&self, id: &str, what: &str) -> RequestBuilder {
        let path = format!("/v1/operator/rooms/{id}/{what}");
        self.server.post_once(&self.admin, &path, &json!({}))
    }

    async fn load_room(&self, id: &str) -> Value {
        let rooms = ok(self.server.request(Method::GET, "/v1/rooms")).await;
        let items = items(&rooms);
        items.iter().find(|room| room["id"] == id).cloned().unwrap_or_default()
    }
}

pub(crate) fn settings() -> Value {
    json!({
        "name": "Weekend", "is_open": true, "kind": "tongits", "rule_set": "relaxed",
        "rules": { "countdowns": { "draw_ms": 8_000, "play_ms": 16_000, "fight_ms": 8_000 } },
        "bet": 2_500, "multiplier": 2, "fee_basis_points": 300,
        "pot": { "ante": 1, "hits_to_win": 3, "second_hit_bonus": 1 },
        "coins_min": 100_000, "coins_max": 9_000_000,
        "clocks": {
            "prepare_ms": 15_000, "think_ms": 900, "grace_ms": 12_000, "missed_turns_to_takeover": 3,
            "absence_ms": 20_000
        },
        "watchable": true, "bots": "quick", "needs_account": true
    })
}

fn settings_with(field: &str, value: Value) -> Value {
    let mut settings = settings();
    let pointer = format!("/{}", field.replace('.', "/"));
    match settings.pointer_mut(&pointer) {
        Some(place) => *place = value,
        None => settings[field] = value,
    }
    settings
}

#[tokio::test]
async fn every_change_of_a_room_is_a_revision() {
    let office = Office::new().await;
    let made = ok(office.create("weekend", &settings())).await;
    assert_eq!(made["revision"], 1);
    // All rules are shown, including the overridden ones.
    let mut expected = settings();
    let rules = made["settings"]["rules"].clone();
    assert_eq!(rules["countdowns"], expected["rules"]["countdowns"]);
    assert_fields(&rules, json!({ "dump_addable": true, "hand_cards": 12 }));
    expected["rules"] = rules;
    assert_fields(&made, json!({ "settings": expected, "changed_by": "ate.luz" }));
    let shown = office.load_room("weekend").await;
    assert_fields(&shown, json!({ "bet": 2_500, "wallet_max": 9_000_000, "is_open": true }));
    assert_eq!(shown["rule_set"], "relaxed");

    let dearer = settings_with("bet", json!(3_000));
    let changed = ok(office.change("weekend", 1, &dearer)).await;
    assert_eq!((&changed["revision"], &changed["settings"]["bet"]), (&json!(2), &json!(3_000)));
    expect_refusal(office.change("weekend", 1, &settings()), 409, "room_changed").await;

    let closed = ok(office.switch_room("weekend", "closing")).await;
    assert_eq!((&closed["revision"], &closed["settings"]["is_open"]), (&json!(3), &json!(false)));
    let again = ok(office.switch_room("weekend", "closing")).await;
    assert_eq!(again["revision"], 3, "the room is closed already");
    let guest = office.server.guest(DEVICE).await;
    let seat = office.server.call(Method::POST, "/v1/rooms/weekend/seat", &guest);
    expect_refusal(seat, 409, "room_closed").await;
    assert_eq!(ok(office.switch_room("weekend", "opening")).await["revision"], 4);

    let path = "/v1/operator/rooms/weekend/revisions";
    let revisions = ok(office.server.get(path, &office.admin)).await;
    let numbers: Vec<_> = items(&revisions).iter().map(|one| one["revision"].clone()).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    assert!(items(&revisions).iter().all(|one| one["changed_by"] == "ate.luz"));
    let first = "/v1/operator/rooms/newbie/revisions";
    let first = ok(office.server.get(first, &office.admin)).await;
    assert_eq!(first["items"][0]["changed_by"], Value::Null);
}

#[tokio::test]
async fn invalid_room_settings_are_refused() {
    let office = Office::new().await;
    for (field, value) in [
        ("name", json!("")),
        ("name", json!(" Weekend")),
        ("name", json!("x".repeat(41))),
        ("bet", json!(0)),
        ("bet", json!(-1)),
        ("bet", json!(i64::MAX)),
        ("multiplier", json!(0)),
        ("fee_basis_points", json!(5_001)),
        ("pot.hits_to_win", json!(1)),
        ("pot.hits_to_win", json!(4)),
        ("pot.ante", json!(0)),
        ("kind", json!("chess")),
        ("rule_set", json!("long")),
        ("rules", json!({ "hand_cards": 17 })),
        ("rules", json!({ "no_such_rule": true })),
        ("coins_min", json!(-1)),
        ("coins_max", json!(99_999)),
        ("rules.countdowns.play_ms", json!(0)),
        ("clocks.prepare_ms", json!(600_001)),
        ("clocks.think_ms", json!(8_000)),
        ("clocks.grace_ms", json!(0)),
        ("clocks.grace_ms", json!(600_001)),
        ("clocks.missed_turns_to_takeover", json!(0)),
    ] {
        let settings = settings_with(field, value.clone());
        let case = format!("{field} {value}");
        expect_refusal_of(case, office.create("weekend", &settings), 422, "room_unsound").await;
    }
    for id in ["", "Weekend", "a b", "private", "x/y"] {
        expect_refusal(office.create(id, &settings()), 422, "room_unsound").await;
    }
    expect_refusal(office.create("newbie", &settings()), 409, "room_taken").await;
    expect_refusal(office.change("nowhere", 1, &settings()), 404, "room_not_found").await;
    expect_refusal(office.switch_room("nowhere", "closing"), 404, "room_not_found").await;
    let unknown = settings_with("colour", json!("red"));
    expect_refusal(office.create("weekend", &unknown), 422, "body_invalid").await;
}

/// If a count is half a bet, the product of bet and multiplier has to be even.
#[tokio::test]
async fn a_bet_that_is_no_multiple_of_a_count_is_refused_by_its_field() {
    let office = Office::new().await;
    let settings = |bet: i64, multiplier: u32| {
        let mut settings = settings_with("bet", json!(bet));
        settings["multiplier"] = json!(multiplier);
        settings["kind"] = json!("tongo_assets");
        settings["rule_set"] = json!("standard");
        settings["rules"] = json!({});
        settings
    };
    let refused = office.create("assets", &settings(2_501, 1)).send().await.unwrap();
    assert_eq!(refused.status(), 422);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["code"], "room_unsound");
    assert!(problem["detail"].as_str().unwrap().starts_with("bet: "), "{problem}");
    assert_eq!(ok(office.create("assets", &settings(2_501, 2))).await["settings"]["bet"], 2_501);
    let mut even = settings(2_500, 1);
    even["name"] = json!("Even assets");
    let created = ok(office.create("assets-two", &even)).await;
    assert_eq!(created["settings"]["kind"], "tongo_assets");
}

/// A bound names its field in the detail.
#[tokio::test]
async fn a_refused_setting_is_named() {
    let office = Office::new().await;
    for (field, value) in [
        ("multiplier", json!(0)),
        ("fee_basis_points", json!(5_001)),
        ("pot.hits_to_win", json!(4)),
        ("pot.ante", json!(0)),
        ("coins_min", json!(-1)),
        ("coins_max", json!(99_999)),
        ("clocks.prepare_ms", json!(600_001)),
        ("clocks.think_ms", json!(8_000)),
        ("clocks.grace_ms", json!(0)),
        ("clocks.missed_turns_to_takeover", json!(0)),
    ] {
        let refused = office.create("weekend", &settings_with(field, value)).send().await.unwrap();
        let problem: Value = refused.json().await.unwrap();
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{field}: ")), "{problem}");
    }
}

/// Players tell rooms apart by their names, in which case does not count.
#[tokio::test]
async fn two_rooms_never_have_one_name() {
    let office = Office::new().await;
    for name in ["Newbie", "NEWBIE"] {
        let taken = settings_with("name", json!(name));
        expect_refusal(office.create("weekend", &taken), 409, "room_name_taken").await;
    }
    ok(office.create("weekend", &settings())).await;
    let taken = settings_with("name", json!("newbie"));
    expect_refusal(office.change("weekend", 1, &taken), 409, "room_name_taken").await;
    let own = settings_with("name", json!("WEEKEND"));
    ok(office.change("weekend", 1, &own)).await;
    let other = settings_with("name", json!("Week"));
    let both = [office.create("monday", &other), office.create("tuesday", &other)];
    let mut statuses = Vec::new();
    for answer in join_all(both.map(|one| one.send())).await {
        statuses.push(answer.unwrap().status().as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409], "one of two requests at the same time");
}

/// The audit entry of a change has each setting before and after it.
#[tokio::test]
async fn an_audited_change_of_a_room_states_the_difference() {
    let office = Office::new().await;
    ok(office.create("weekend", &settings())).await;
    let mut changed = settings_with("bet", json!(3_000));
    changed["pot"] = Value::Null;
    ok(office.change("weekend", 1, &changed)).await;
    ok(office.switch_room("weekend", "closing")).await;
    let path = "/v1/operator/audit?subject=room:weekend&action=room_change";
    let entries = ok(office.server.get(path, &office.admin)).await;
    let changes = |place: usize| entries["items"][place]["detail"]["changes"].clone();
    let change = |setting: &str, before: Value, after: Value| json!({ "setting": setting, "before": before, "after": after });
    assert_eq!(changes(0), json!([change("is_open", json!(true), json!(false))]));
    let expected = [
        change("bet", json!(2_500), json!(3_000)),
        change("pot.ante", json!(1), Value::Null),
        change("pot.hits_to_win", json!(3), Value::Null),
        change("pot.second_hit_bonus", json!(1), Value::Null),
    ];
    assert_eq!(changes(1), json!(expected));
}

#[tokio::test]
async fn only_an_administrator_changes_rooms() {
    let office = Office::new().await;
    let roles = [("a", Role::Viewer), ("b", Role::Support), ("c", Role::Finance)];
    for (name, role) in roles {
        let token = office.server.operator(name, role).await;
        let body = json!({ "id": "weekend", "settings": settings() });
        let order = office.server.post_once(&token, "/v1/operator/rooms", &body);
        expect_refusal(order, 403, "operator_role_missing").await;
        let path = "/v1/operator/rooms/newbie/closing";
        let order = office.server.post_once(&token, path, &json!({}));
        expect_refusal(order, 403, "operator_role_missing").await;
        ok(office.server.get("/v1/operator/rooms/newbie/revisions", &token)).await;
    }
}

/// A room that was created by a version of the program with more games is skipped, and this version
/// can neither change nor recreate it.
#[tokio::test]
async fn a_room_of_an_unknown_game_is_left_alone() {
    let office = Office::new().await;
    let dice = "
        begin;
        insert into rooms (id, kind, revision) values ('dice', 'another_game', 1);
        insert into room_revisions (room, revision, name, is_open, rule_set, terms, coins_min)
        values ('dice', 1, 'Dice', true, 'five', '{\"dice\": 5}', 0);
        commit";
    execute(&office.server.bank.pool, dice).await;
    ok(office.create("weekend", &settings())).await;
    assert_eq!(office.load_room("weekend").await["id"], "weekend");
    assert_eq!(office.load_room("dice").await, Value::Null);
    expect_refusal(office.create("dice", &settings()), 409, "room_taken").await;
    expect_refusal(office.change("dice", 1, &settings()), 404, "room_not_found").await;
    expect_refusal(office.switch_room("dice", "closing"), 404, "room_not_found").await;
}
