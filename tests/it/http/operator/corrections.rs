//! Corrections of the books: requested by one operator, decided by another, and booked once.

use std::collections::BTreeSet;
use std::time::Duration;

use bahay::operators::Role;
use bahay_engine::table::{GameId, PlayerId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::desk::browser::Browser;
use crate::http::server::{
    PASSWORD, REASON, Server, adjustment, answer_all, expect_refusal, expect_refusal_of, ok, text,
};
use crate::support::bank::{PotGoes, table};
use crate::support::db::{execute, read_rows, read_value};
use crate::support::house::adjustments;
use crate::support::rest::{assert_fields, items};

pub(super) const PATH: &str = "/v1/operator/corrections";

/// A server with two operators whose role permits corrections.
pub(crate) struct Office {
    pub(crate) server: Server,
    pub(super) luz: String,
    pub(super) ben: String,
}

impl Office {
    pub(super) async fn new() -> Self {
        Self::open(Server::new().await).await
    }

    pub(crate) async fn open(server: Server) -> Self {
        let luz = server.session("ate.luz", Role::Finance).await;
        let ben = server.session("kuya.ben", Role::Admin).await;
        Self { server, luz, ben }
    }

    fn post(&self, token: &str, path: &str, body: &Value) -> RequestBuilder {
        self.server.post_once(token, &format!("{PATH}{path}"), body)
    }

    fn request_adjustment(&self, player: PlayerId, amount: i64) -> RequestBuilder {
        self.post(&self.luz, "", &adjustment(player, amount))
    }

    pub(super) fn request_reversal(&self, operation: i64) -> RequestBuilder {
        let body = json!({ "kind": "reversal", "operation": operation, "reason": REASON });
        self.post(&self.luz, "", &body)
    }

    /// Requests and approves an adjustment.
    pub(crate) async fn adjust(&self, player: PlayerId, amount: i64) -> Value {
        let correction = ok(self.request_adjustment(player, amount)).await;
        ok(self.approve(&self.ben, &correction)).await
    }

    fn approve(&self, token: &str, correction: &Value) -> RequestBuilder {
        self.post(token, &format!("/{}/approval", text(&correction["id"])), &json!({}))
    }

    fn reject(&self, token: &str, correction: &Value) -> RequestBuilder {
        let body = json!({ "reason": "nothing was paid twice" });
        self.post(token, &format!("/{}/rejection", text(&correction["id"])), &body)
    }

    /// Requests and approves a reversal.
    pub(super) async fn reverse(&self, operation: i64) -> Value {
        let correction = ok(self.request_reversal(operation)).await;
        ok(self.approve(&self.ben, &correction)).await
    }

    pub(super) async fn find_operation(&self, key: &str) -> i64 {
        let sql = format!("select id from operations where key = '{key}'");
        read_value(&self.server.bank.pool, &sql).await
    }

    /// Asserts the transfers of a correction's operation: code, source account, target account and
    /// amount.
    async fn assert_transfers(&self, correction: &Value, expected: &[(&str, &str, &str, i64)]) {
        let sql = format!(
            "select t.code, s.code, d.code, t.amount
            from transfers t
            join accounts s on s.id = t.source
            join accounts d on d.id = t.destination
            where t.operation = {}
            order by t.number",
            correction["operation"]
        );
        let transfers: Vec<(String, String, String, i64)> =
            read_rows(&self.server.bank.pool, &sql).await;
        let transfers: Vec<_> = transfers
            .iter()
            .map(|(code, source, target, amount)| (&**code, &**source, &**target, *amount))
            .collect();
        assert_eq!(transfers, expected);
    }
}

#[tokio::test]
async fn an_adjustment_moves_coins_once_another_operator_approves() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let player = bank.player(1_000).await;
    let correction = ok(office.request_adjustment(player, 250)).await;
    assert_fields(&correction, adjustment(player, 250));
    assert_fields(&correction, json!({ "state": "open", "requested_by": "ate.luz" }));
    for name in ["reversed_operation", "decided_by", "decided_at", "rejection_reason", "operation"]
    {
        assert!(correction[name].is_null(), "{name}");
    }
    assert_eq!(bank.wallets(&[player]).await, [1_000]);
    expect_refusal(office.approve(&office.luz, &correction), 403, "correction_own").await;
    expect_refusal(office.reject(&office.luz, &correction), 403, "correction_own").await;

    let approved = ok(office.approve(&office.ben, &correction)).await;
    assert_fields(&approved, json!({ "state": "approved", "decided_by": "kuya.ben" }));
    assert_eq!(bank.wallets(&[player]).await, [1_250]);
    let key = format!("adjust:{}", text(&correction["id"]));
    assert_eq!(approved["operation"], office.find_operation(&key).await);
    // A repeated approval gets the same response; any other decision is too late.
    assert_eq!(ok(office.approve(&office.ben, &correction)).await, approved);
    expect_refusal(office.reject(&office.ben, &correction), 409, "correction_decided").await;
    let cora = office.server.session("cora", Role::Admin).await;
    expect_refusal(office.approve(&cora, &correction), 409, "correction_decided").await;
    assert_eq!(bank.wallets(&[player]).await, [1_250]);

    let taken = office.adjust(player, -1_250).await;
    let wallet = format!("wallet:{player}");
    office.assert_transfers(&taken, &[("adjustment", &wallet, "issue", 1_250)]).await;
    assert_eq!(bank.wallets(&[player]).await, [0]);
    bank.audit_clean().await;
}

#[tokio::test]
async fn an_unpayable_adjustment_stays_pending() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let player = bank.player(1_000).await;
    let correction = ok(office.request_adjustment(player, -1_001)).await;
    expect_refusal(office.approve(&office.ben, &correction), 409, "overdrawn").await;
    let shown = ok(office.server.get(&format!("{PATH}/{}", text(&correction["id"])), &office.luz));
    assert_eq!(shown.await, correction);
    assert_eq!(bank.wallets(&[player]).await, [1_000]);
    // With one more hundredth the wallet can pay.
    office.adjust(player, 1).await;
    ok(office.approve(&office.ben, &correction)).await;
    assert_eq!(bank.wallets(&[player]).await, [0]);
    let without_wallet = bank.player(0).await;
    let correction = ok(office.request_adjustment(without_wallet, -1)).await;
    expect_refusal(office.approve(&office.ben, &correction), 409, "overdrawn").await;
    let rejected = ok(office.reject(&office.ben, &correction)).await;
    let reason = "nothing was paid twice";
    assert_fields(&rejected, json!({ "state": "rejected", "rejection_reason": reason }));
    assert!(rejected["operation"].is_null());
    assert_eq!(ok(office.reject(&office.ben, &correction)).await, rejected);
    expect_refusal(office.approve(&office.ben, &correction), 409, "correction_decided").await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let office = Office::new().await;
    let player = office.server.bank.player(1_000).await;
    let max = adjustments().one_max.hundredths();
    for amount in [max + 1, -max - 1, i64::MAX, i64::MIN] {
        let request = office.request_adjustment(player, amount);
        expect_refusal(request, 422, "adjustment_too_large").await;
    }
    ok(office.request_adjustment(player, max)).await;
    ok(office.request_adjustment(player, -max)).await;
    let nobody = PlayerId(Uuid::new_v4());
    expect_refusal(office.request_adjustment(nobody, 1), 404, "player_not_found").await;
    expect_refusal(office.request_reversal(999_999), 404, "operation_not_found").await;
    expect_refusal(office.request_reversal(-1), 404, "operation_not_found").await;
    let unknown = json!({ "id": Uuid::new_v4() });
    expect_refusal(office.approve(&office.ben, &unknown), 404, "correction_not_found").await;
    expect_refusal(office.reject(&office.ben, &unknown), 404, "correction_not_found").await;
    expect_refusal(office.approve(&office.ben, &json!({ "id": "7" })), 422, "path_invalid").await;
    let long = "x".repeat(501);
    for body in [
        json!({}),
        json!({ "kind": "gift", "player": player, "amount": 1, "reason": REASON }),
        json!({ "kind": "adjustment", "player": player, "amount": 0, "reason": REASON }),
        json!({ "kind": "adjustment", "player": player, "amount": 1.5, "reason": REASON }),
        json!({ "kind": "adjustment", "player": player, "amount": "1", "reason": REASON }),
        json!({ "kind": "adjustment", "player": "me", "amount": 1, "reason": REASON }),
        json!({ "kind": "adjustment", "player": player, "amount": 1, "reason": "too short" }),
        json!({ "kind": "adjustment", "player": player, "amount": 1, "reason": long }),
        json!({ "kind": "adjustment", "player": player, "amount": 1 }),
        json!({ "kind": "adjustment", "player": player, "amount": 1, "reason": REASON, "x": 1 }),
        json!({ "kind": "reversal", "operation": "7", "reason": REASON }),
        json!({ "kind": "reversal", "operation": 7, "player": player, "reason": REASON }),
    ] {
        expect_refusal_of(&body, office.post(&office.luz, "", &body), 422, "body_invalid").await;
    }
}

#[tokio::test]
async fn a_grant_and_an_adjustment_are_reversed() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let player = bank.player(1_000).await;
    let wallet = format!("wallet:{player}");
    let welcome = office.find_operation(&format!("welcome:{player}")).await;
    let reversed = office.reverse(welcome).await;
    office.assert_transfers(&reversed, &[("reversal", &wallet, "issue", 1_000)]).await;
    assert_eq!(reversed["reversed_operation"], welcome);
    assert_eq!(bank.wallets(&[player]).await, [0]);
    // An operation can be reversed once, and a reversal cannot be reversed.
    expect_refusal(office.request_reversal(welcome), 409, "already_reversed").await;
    let reversal = reversed["operation"].as_i64().unwrap();
    expect_refusal(office.request_reversal(reversal), 409, "not_reversible").await;

    for (amount, from, to) in [(500, wallet.as_str(), "issue"), (-200, "issue", &wallet)] {
        let approved = office.adjust(player, amount).await;
        if amount > 0 {
            // Leaves coins in the wallet for the next reversal.
            office.adjust(player, 200).await;
        }
        let reversed = office.reverse(approved["operation"].as_i64().unwrap()).await;
        office.assert_transfers(&reversed, &[("reversal", from, to, i64::abs(amount))]).await;
    }
    assert_eq!(bank.wallets(&[player]).await, [200]);
    bank.audit_clean().await;
}

/// Creates three players and a settled game among them, in which seat 1 won. Returns the players,
/// the game, and the operation of the settlement.
async fn play_settled_game(office: &Office, pot: PotGoes) -> (Vec<PlayerId>, GameId, i64) {
    let bank = &office.server.bank;
    let players = bank.players([10_000, 10_000, 10_000]).await;
    let (game, _) = bank.play(table(), &players, 1, 3, pot).await;
    (players, game, office.find_operation(&format!("settle:{game}")).await)
}

#[tokio::test]
async fn a_settlement_is_reversed_from_the_winner_to_the_payers() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let (players, game, operation) = play_settled_game(&office, PotGoes::Nowhere).await;
    assert_eq!(bank.wallets(&players).await, [9_600, 10_470, 9_600]);
    let reversed = office.reverse(operation).await;
    let [one, two, three] = [0, 1, 2].map(|seat: usize| format!("wallet:{}", players[seat]));
    let expected = [
        ("reversal", "fee:newbie", &*two, 30),
        ("reversal", &two, &three, 300),
        ("reversal", &two, &one, 300),
    ];
    office.assert_transfers(&reversed, &expected).await;
    // The antes are not returned; they stay in the POT.
    assert_eq!(bank.wallets(&players).await, [9_900, 9_900, 9_900]);
    assert_eq!(bank.balance("fee:newbie").await, 0);
    // The entry names the game to which the reversal belongs.
    let entries = bank.ledger.entries(players[0], &Default::default(), None, 1).await.unwrap();
    assert_eq!(entries.items[0].code, bahay::ledger::Code::Reversal);
    assert_eq!((entries.items[0].game, entries.items[0].has_record), (Some(game), true));
    bank.audit_clean().await;
}

#[tokio::test]
async fn a_reversal_fails_if_the_winner_cannot_pay() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let (players, _, operation) = play_settled_game(&office, PotGoes::Nowhere).await;
    let correction = ok(office.request_reversal(operation)).await;
    // The fee is returned first, so 5.70 coins suffice and 5.69 do not.
    office.adjust(players[1], -10_470 + 569).await;
    let before = bank.audit_clean().await;
    expect_refusal(office.approve(&office.ben, &correction), 409, "overdrawn").await;
    assert_eq!(bank.audit_clean().await, before);
    office.adjust(players[1], 1).await;
    ok(office.approve(&office.ben, &correction)).await;
    assert_eq!(bank.wallets(&players).await, [9_900, 0, 9_900]);
    bank.audit_clean().await;
}

#[tokio::test]
async fn operations_shared_by_several_games_are_not_reversible() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let (players, game, _) = play_settled_game(&office, PotGoes::ToWinner).await;
    let voided = bank.open_game(&players).await;
    bank.void_game(&voided).await;
    // The settlement of a game without a winner only releases the stakes.
    let without_winner = bank.open_game(&players).await;
    let finished = bank.finish(&without_winner, Default::default());
    bank.ledger.settle_game(finished).await.unwrap();
    for key in [
        format!("settle:{game}"),
        format!("open:{game}"),
        format!("void:{}", voided.game),
        format!("settle:{}", without_winner.game),
    ] {
        let request = office.request_reversal(office.find_operation(&key).await);
        expect_refusal_of(key, request, 409, "not_reversible").await;
    }
    bank.audit_clean().await;
}

/// A posting that the database rejects would stop the sealing of all operations.
#[tokio::test]
async fn a_fee_account_pays_back_no_more_than_it_has_earned() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let (_, _, operation) = play_settled_game(&office, PotGoes::Nowhere).await;
    let correction = ok(office.request_reversal(operation)).await;
    bank.ledger.seal_operations().await.unwrap();
    let owner = office.server.owner_pool().await;
    let set = async |hundredths: i64| {
        let sql = format!("update accounts set balance = {hundredths} where code = 'fee:newbie'");
        execute(&owner, &sql).await;
    };
    set(29).await;
    expect_refusal(office.approve(&office.ben, &correction), 409, "overdrawn").await;
    set(30).await;
    ok(office.approve(&office.ben, &correction)).await;
    bank.audit_clean().await;
}

#[tokio::test]
async fn concurrent_requests_reverse_an_operation_once() {
    let office = Office::new().await;
    let bank = &office.server.bank;
    let other = office.server.another_node().await;
    let (players, _, operation) = play_settled_game(&office, PotGoes::Nowhere).await;
    let cora = office.server.session("cora", Role::Finance).await;
    let mut pending = None;
    for answer in answer_all(201, (0..8).map(|_| office.request_reversal(operation))).await {
        match answer {
            Ok(correction) => {
                let earlier = pending.replace(correction);
                assert_eq!(earlier, None, "only one reversal is pending at a time");
            }
            Err(refusal) => assert_eq!(refusal, (409, "reversal_requested".into())),
        }
    }
    let correction = pending.unwrap();
    // After a rejection the reversal may be requested again.
    ok(office.reject(&office.ben, &correction)).await;
    let correction = ok(office.request_reversal(operation)).await;
    expect_refusal(office.request_reversal(operation), 409, "reversal_requested").await;
    let path = format!("{PATH}/{}/approval", text(&correction["id"]));
    let approvals = [(&office.server.node, &office.ben), (&other, &cora)].into_iter().cycle();
    let approvals = approvals.map(|(node, token)| node.post_once(token, &path, &json!({})));
    let mut booked = BTreeSet::new();
    for answer in answer_all(200, approvals.take(16)).await {
        match answer {
            Ok(correction) => drop(booked.insert(correction["operation"].as_i64())),
            Err((status, code)) => {
                assert_eq!(status, 409);
                assert!(["already_reversed", "correction_decided"].contains(&&*code), "{code}");
            }
        }
    }
    assert_eq!(booked.len(), 1, "{booked:?}");
    expect_refusal(office.request_reversal(operation), 409, "already_reversed").await;
    assert_eq!(bank.wallets(&players).await, [9_900, 9_900, 9_900]);
    let page = ok(office.server.get(&format!("{PATH}?state=approved"), &cora)).await;
    assert_eq!(items(&page).len(), 1);
    bank.audit_clean().await;
}

#[tokio::test]
async fn corrections_are_listed_newest_first_by_state() {
    let office = Office::new().await;
    let player = office.server.bank.player(1_000).await;
    let mut requests = Vec::new();
    for amount in 1..=5 {
        requests.insert(0, ok(office.request_adjustment(player, amount)).await);
    }
    let approved = ok(office.approve(&office.ben, &requests[1])).await;
    let rejected = ok(office.reject(&office.ben, &requests[3])).await;
    requests[1] = approved.clone();
    requests[3] = rejected.clone();
    let viewer = office.server.operator("viewer", Role::Viewer).await;
    let get = |query: &str| office.server.get(&format!("{PATH}?{query}"), &viewer);
    assert_eq!(office.server.read_pages(PATH, "limit=2", &viewer).await.concat(), requests);
    assert_eq!(ok(get("state=approved")).await["items"], json!([approved]));
    assert_eq!(ok(get("state=rejected")).await["items"], json!([rejected]));
    assert_eq!(items(&ok(get("state=open")).await).len(), 3);
    let page = ok(get("state=open&limit=1")).await;
    let cursor = text(&page["next_cursor"]);
    ok(get(&format!("state=open&cursor={cursor}"))).await;
    for other in ["", "state=approved&"] {
        expect_refusal(get(&format!("{other}cursor={cursor}")), 422, "cursor_invalid").await;
    }
    let theirs = format!("{PATH}?state=open&cursor={cursor}");
    expect_refusal(office.server.get(&theirs, &office.luz), 422, "cursor_invalid").await;
    for query in ["state=lost", "states=open", "limit=0", "limit=101"] {
        expect_refusal(get(query), 422, "query_invalid").await;
    }
    let unknown = office.server.get(&format!("{PATH}/{}", Uuid::new_v4()), &viewer);
    expect_refusal(unknown, 404, "correction_not_found").await;
}

/// One daily limit covers all requests of an operator, and another all adjustments of a player by
/// any operator. Both count pending requests and booked adjustments.
#[tokio::test]
async fn the_adjustments_of_a_day_are_bounded_by_requester_and_by_player() {
    let office = Office::new().await;
    let server = &office.server;
    let bank = &server.bank;
    let [one, two, three] = bank.players([1_000; 3]).await[..] else { panic!("three players") };
    let max = adjustments().one_max.hundredths();
    assert_eq!(adjustments().requester_day_max.hundredths(), 2 * max);
    assert_eq!(adjustments().player_day_max.hundredths(), 2 * max);
    // Positive and negative amounts both count; rejected requests do not.
    let credit = ok(office.request_adjustment(one, max)).await;
    let debit = ok(office.request_adjustment(two, -max)).await;
    for player in [one, two, three] {
        expect_refusal(office.request_adjustment(player, 1), 409, "adjustment_day_max").await;
    }
    ok(office.reject(&office.ben, &debit)).await;
    ok(office.approve(&office.ben, &credit)).await;
    ok(office.request_adjustment(two, max)).await;
    expect_refusal(office.request_adjustment(three, 1), 409, "adjustment_day_max").await;

    // Another operator has a limit of its own, but the limit of the player is shared.
    let cora = server.session("cora", Role::Finance).await;
    let request =
        |player: PlayerId, amount: i64| office.post(&cora, "", &adjustment(player, amount));
    ok(request(one, max)).await;
    expect_refusal(request(one, 1), 409, "adjustment_day_max").await;
    expect_refusal(request(one, -1), 409, "adjustment_day_max").await;
    ok(request(three, max)).await;
    expect_refusal(request(three, 1), 409, "adjustment_day_max").await;
    bank.audit_clean().await;
}

/// Requests that were collected over several days cannot all be booked on one day.
#[tokio::test]
async fn the_daily_limit_counts_adjustments_when_they_are_booked() {
    let office = Office::new().await;
    let server = &office.server;
    let bank = &server.bank;
    let player = bank.player(1_000).await;
    let max = adjustments().one_max.hundredths();
    let mut requests = Vec::new();
    for day in 0..2 {
        let name = format!("asker.{day}");
        let asker = server.session(&name, Role::Finance).await;
        for request in 0..2 {
            // Open requests for one player differ in their amounts.
            let amount = max - 2 * day - request;
            requests.push(ok(office.post(&asker, "", &adjustment(player, amount))).await);
        }
        server.clock.advance(Duration::from_hours(24));
    }
    let dina = server.session("dina", Role::Finance).await;
    ok(office.approve(&dina, &requests[0])).await;
    ok(office.approve(&dina, &requests[2])).await;
    expect_refusal(office.approve(&dina, &requests[1]), 409, "adjustment_day_max").await;
    expect_refusal(office.approve(&dina, &requests[3]), 409, "adjustment_day_max").await;
    assert_eq!(bank.wallets(&[player]).await, [1_000 + 2 * max - 2]);
    server.clock.advance(Duration::from_hours(24));
    let elsa = server.session("elsa", Role::Finance).await;
    ok(office.approve(&elsa, &requests[1])).await;
    bank.audit_clean().await;
}

/// A session can be opened and closed over the API, and permits decisions.
#[tokio::test]
async fn an_operator_signs_in_over_the_api_and_decides() {
    let office = Office::new().await;
    let server = &office.server;
    let player = server.bank.player(1_000).await;
    let mut browser = Browser::new(server);
    let factor = browser.enrol("cora", Role::Finance).await;
    server.clock.advance(Duration::from_secs(30));
    let code = factor.code(server.clock.now());
    let sign_in = |name: &str, password: &str, code: &str| {
        let body = json!({ "name": name, "password": password, "code": code });
        server.post("/v1/operator/sign-in", &body)
    };
    for (name, password, code) in [
        ("cora", "rain on a tin rooff", &*code),
        ("cora", PASSWORD, "000000"),
        ("nobody", PASSWORD, &code),
    ] {
        expect_refusal(sign_in(name, password, code), 401, "credentials_wrong").await;
    }
    expect_refusal(sign_in("no\u{0}body", PASSWORD, &code), 422, "body_invalid").await;
    let session = text(&ok(sign_in("cora", PASSWORD, &code)).await["token"]);
    expect_refusal(sign_in("cora", PASSWORD, &code), 401, "credentials_wrong").await;
    let correction = ok(office.request_adjustment(player, 250)).await;
    ok(office.approve(&session, &correction)).await;
    assert_eq!(server.bank.wallets(&[player]).await, [1_250]);
    let end = |token: &str| server.call(Method::POST, "/v1/operator/sign-out", token);
    let token = server.operator("a.program", Role::Finance).await;
    expect_refusal(end(&token), 403, "second_factor_missing").await;
    ok(end(&session)).await;
    expect_refusal(end(&session), 401, "session_ended").await;
    expect_refusal(office.request_adjustment(player, 0), 422, "body_invalid").await;
    expect_refusal(office.approve(&session, &correction), 401, "session_ended").await;
}

/// Constraints of the database reject rows that the program never writes.
#[tokio::test]
async fn the_database_requires_two_operators() {
    let office = Office::new().await;
    let player = office.server.bank.player(1_000).await;
    let correction = ok(office.request_adjustment(player, 1)).await;
    let pool = &office.server.bank.pool;
    for (change, constraint) in [
        (
            "state = 'rejected', decided_by = requested_by, decided_at = now(),
            rejection_reason = 'because I say so'",
            "corrections_need_two",
        ),
        ("state = 'approved'", "corrections_decided_once"),
        (
            "state = 'approved', decided_at = now(),
            decided_by = (select id from operators where name = 'kuya.ben')",
            "corrections_decided_once",
        ),
    ] {
        let sql = format!("update corrections set {change}");
        let error = sqlx::query(AssertSqlSafe(sql)).execute(pool).await.unwrap_err();
        assert!(error.to_string().contains(constraint), "{change}: {error}");
    }
    for sql in ["update corrections set amount = 5", "delete from corrections"] {
        let error = sqlx::query(sql).execute(pool).await.unwrap_err();
        assert!(error.to_string().contains("permission denied"), "{sql}: {error}");
    }
    ok(office.approve(&office.ben, &correction)).await;
}
