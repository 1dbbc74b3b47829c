//! Passes (rule 1.6), from the grant by two operators to the entry: a pass pays one entry, whatever
//! comes at the same moment, and the books are exact.

use bahay::ids::CorrectionId;
use bahay::operators::audit::Actor;
use bahay::operators::{Operators, Role};
use bahay::passes;
use bahay_client_tokio::Client;
use bahay_engine::coins::Coins;
use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    WELCOME, announce, available, check_results, coins, ended, led_to_table, play_to_the_end,
    register, sit_and_go,
};
use crate::desk::browser::Browser;
use crate::http::server::{
    DEVICE, Guest, Node, REASON, Server, answer_all, count_successes, expect_refusal, ok, text,
};
use crate::support::checks::check_ledger;
use crate::support::db::{count_waiting, execute, read_value, read_values};
use crate::support::house::{FRIENDS, House};
use crate::support::play::TestPlay as _;
use crate::support::rest::{call, get, items};
use crate::support::waiting::wait_until;

const CORRECTIONS: &str = "/v1/operator/corrections";

/// The sum of passes and adjustments of a player within a day, in hundredths.
const DAY_MAX: i64 = 200_000_000;

/// A server with two administrators.
struct Office {
    server: Server,
    luz: String,
    ben: String,
}

impl Office {
    async fn new() -> Self {
        let server = Server::new().await;
        let luz = server.session("ate.luz", Role::Admin).await;
        let ben = server.session("kuya.ben", Role::Admin).await;
        Self { server, luz, ben }
    }

    fn request(&self, player: &str, buy_in_max: i64) -> RequestBuilder {
        let body = json!({
            "kind": "pass", "player": player, "buy_in_max": buy_in_max, "reason": REASON
        });
        self.server.post_once(&self.luz, CORRECTIONS, &body)
    }

    fn request_revocation(&self, pass: &Value) -> RequestBuilder {
        let body = json!({ "kind": "pass_revocation", "pass": pass, "reason": REASON });
        self.server.post_once(&self.luz, CORRECTIONS, &body)
    }

    /// Returns the passes of a guest as operators see them.
    async fn list(&self, guest: &Guest) -> Vec<Value> {
        let path = format!("/v1/operator/players/{}/passes", guest.id);
        let listed = ok(self.server.get(&path, &self.luz)).await;
        listed.as_array().unwrap().clone()
    }

    fn approve(&self, by: &str, correction: &Value) -> RequestBuilder {
        let path = format!("{CORRECTIONS}/{}/approval", text(&correction["id"]));
        self.server.post_once(by, &path, &json!({}))
    }

    async fn grant(&self, guest: &Guest, buy_in_max: i64) {
        let requested = ok(self.request(&guest.id, buy_in_max)).await;
        ok(self.approve(&self.ben, &requested)).await;
    }

    /// Announces a ring with an entry of 5 coins and a fee of 50 hundredths, and returns its path.
    async fn announce(&self, accepts_passes: bool) -> String {
        let ring = json!({
            "preset": "sit_and_go_3", "name": "Ring", "buy_in": 500, "fee": 50,
            "accepts_passes": accepts_passes
        });
        let announced = ok(self.server.post_once(&self.luz, "/v1/operator/tournaments", &ring));
        format!("/v1/tournaments/{}", text(&announced.await["id"]))
    }

    async fn cancel(&self, tournament: &str) {
        let id = tournament.rsplit('/').next().unwrap();
        let path = format!("/v1/operator/tournaments/{id}/cancellation");
        ok(self.server.post_once(&self.luz, &path, &json!({ "reason": REASON }))).await;
    }

    /// Returns the tournaments that hold the passes of a guest; null for an unused one.
    async fn holders(&self, guest: &Guest) -> Vec<Value> {
        let listed = ok(self.server.get("/v1/me/passes", guest)).await;
        items(&listed).iter().map(|pass| pass["used_in"].clone()).collect()
    }
}

fn enter(node: &Node, tournament: &str, guest: &Guest) -> RequestBuilder {
    let entry = node.call(Method::PUT, &format!("{tournament}/entry"), guest);
    entry.json(&json!({ "payment": "pass" }))
}

fn withdraw(node: &Node, tournament: &str, guest: &Guest) -> RequestBuilder {
    node.call(Method::DELETE, &format!("{tournament}/entry"), guest)
}

fn id_of(tournament: &str) -> Value {
    json!(tournament.rsplit('/').next().unwrap())
}

#[tokio::test]
async fn a_pass_is_granted_by_two_operators_within_the_limits_of_coins() {
    let office = Office::new().await;
    let server = &office.server;
    let guest = server.guest(DEVICE).await;
    let requested = ok(office.request(&guest.id, 500)).await;
    assert_eq!((&requested["kind"], &requested["amount"]), (&json!("pass"), &json!(500)));
    expect_refusal(office.request(&guest.id, 500), 409, "adjustment_requested").await;
    assert_eq!(office.holders(&guest).await, Vec::<Value>::new());
    expect_refusal(office.approve(&office.luz, &requested), 403, "correction_own").await;
    let preview = format!("{CORRECTIONS}/{}/preview", text(&requested["id"]));
    let preview = ok(server.get(&preview, &office.ben)).await;
    assert_eq!((&preview["transfers"], &preview["refusal"]), (&json!([]), &Value::Null));
    let approved = ok(office.approve(&office.ben, &requested)).await;
    assert_eq!((&approved["state"], &approved["operation"]), (&json!("approved"), &Value::Null));
    // A repeated approval grants no second pass.
    ok(office.approve(&office.ben, &requested)).await;
    assert_eq!(office.holders(&guest).await, [Value::Null]);
    let notices = ok(server.get("/v1/me/notices", &guest)).await;
    assert_eq!(notices["items"][0]["kind"], "pass_granted");
    assert_eq!(notices["items"][0]["amount"], 500);

    let max = 100_000_000;
    expect_refusal(office.request(&guest.id, max + 1), 422, "adjustment_too_large").await;
    expect_refusal(office.request(&guest.id, 0), 422, "body_invalid").await;
    let nobody = Uuid::new_v4().to_string();
    expect_refusal(office.request(&nobody, 500), 404, "player_not_found").await;
    // Passes count towards the limits of a day as coins do.
    office.grant(&guest, max).await;
    let rest = DAY_MAX - max - 500;
    expect_refusal(office.request(&guest.id, rest + 1), 409, "adjustment_day_max").await;
    office.grant(&guest, rest).await;
    let acts = "select count(*) from audit_entries a where a.subject like 'correction:%'";
    assert_eq!(read_value::<i64>(&server.bank.pool, acts).await, 6);
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn a_pass_is_requested_and_approved_at_the_desk() {
    let server = Server::new().await;
    let guest = server.guest(DEVICE).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Finance).await;
    let attempt = Uuid::new_v4().to_string();
    let new = "/desk/corrections/new";
    luz.load(new).await.shows("Pass for a tournament");
    let fields = [
        ("attempt", &*attempt),
        ("kind", "pass"),
        ("holder", &*guest.id),
        ("buy_in", "12.50"),
        ("reason", REASON),
    ];
    let requested = luz.send(new, "/desk/corrections", &fields).await.expect(303);
    let requested = requested.location.unwrap();
    luz.load(&requested).await.shows("Pays a buy-in up to").shows("12.50");
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Admin).await;
    let approval = format!("{requested}/approval");
    ben.send(&requested, &approval, &[]).await.expect_redirect(&requested);
    let passes = ok(server.get("/v1/me/passes", &guest)).await;
    assert_eq!(passes["items"][0]["buy_in_max"], 1_250);
    let export = ok(server.get("/v1/me/export", &guest)).await;
    assert_eq!(export["passes"], passes["items"]);
}

#[tokio::test]
async fn a_pass_pays_an_entry_and_comes_back_with_it() {
    let office = Office::new().await;
    let server = &office.server;
    let guest = server.guest(DEVICE).await;
    let wallet = server.bank.wallets(&[guest.player()]).await;
    let [ring, other, without] =
        [office.announce(true).await, office.announce(true).await, office.announce(false).await];
    expect_refusal(enter(server, &ring, &guest), 409, "pass_missing").await;
    // A pass of a lower buy-in does not pay.
    office.grant(&guest, 499).await;
    expect_refusal(enter(server, &ring, &guest), 409, "pass_missing").await;
    office.grant(&guest, 1_000).await;
    office.grant(&guest, 500).await;
    expect_refusal(enter(server, &without, &guest), 409, "passes_not_accepted").await;
    let shown = ok(server.get(&ring, &guest)).await;
    assert_eq!(shown["accepts_passes"], true);
    assert_eq!(items(&json!({ "items": shown["passes"] })).len(), 2);

    let entered = ok(enter(server, &ring, &guest)).await;
    assert_eq!(entered["entry"]["is_paid_by_pass"], true);
    assert_eq!(entered["passes"].as_array().unwrap().len(), 1);
    // That of the least buy-in is held; a repeated registration holds no other.
    ok(enter(server, &ring, &guest)).await;
    let held = "select p.buy_in_max from tournament_passes p where p.used_in is not null";
    assert_eq!(read_values::<i64>(&server.bank.pool, held).await, [500]);
    ok(enter(server, &other, &guest)).await;
    assert_eq!(read_values::<i64>(&server.bank.pool, held).await.len(), 2);
    ok(withdraw(server, &ring, &guest)).await;
    assert_eq!(office.holders(&guest).await, [Value::Null, Value::Null, id_of(&other)]);
    // The player registers again, and the house cancels.
    ok(enter(server, &ring, &guest)).await;
    office.cancel(&ring).await;
    office.cancel(&other).await;
    assert_eq!(office.holders(&guest).await, [Value::Null, Value::Null, Value::Null]);
    let notices = ok(server.get("/v1/me/notices?limit=2", &guest)).await;
    for notice in items(&notices) {
        assert_eq!(notice["kind"], "tournament_cancelled");
    }
    assert_eq!(server.bank.wallets(&[guest.player()]).await, wallet);
    let transfers = "select count(*) from transfers t where t.code like 'tournament_%'";
    assert_eq!(read_value::<i64>(&server.bank.pool, transfers).await, 0);
    check_ledger(&server.bank.pool).await;

    // A deleted account keeps no pass.
    let proof = server.device_proof(&guest, DEVICE).await;
    ok(server.delete_proven("/v1/me", &guest, &proof)).await;
    let left = "select count(*) from tournament_passes";
    assert_eq!(read_value::<i64>(&server.bank.pool, left).await, 0);
}

#[tokio::test]
async fn two_registrations_at_the_same_moment_hold_one_pass_once() {
    let office = Office::new().await;
    let server = &office.server;
    let other = server.another_node().await;
    let guest = server.guest(DEVICE).await;
    let mut rings = vec![];
    for _ in 0..6 {
        rings.push(office.announce(true).await);
    }
    office.grant(&guest, 500).await;
    for round in 0..5 {
        let at = |number: usize| server.alternate(&other, number);
        let entries =
            rings.iter().enumerate().map(|(number, ring)| enter(at(number), ring, &guest));
        let answers = answer_all(200, entries).await;
        let case = format!("round {round}");
        assert_eq!(count_successes(&case, answers, 409, "pass_missing"), 1);
        let holder = office.holders(&guest).await.remove(0);
        let entrants = "select e.tournament::text from tournament_entrants e";
        let entrants: Vec<String> = read_values(&server.bank.pool, entrants).await;
        assert_eq!(entrants, [text(&holder)]);
        ok(withdraw(&other, &format!("/v1/tournaments/{}", text(&holder)), &guest)).await;
        assert_eq!(office.holders(&guest).await, [Value::Null]);
    }
    // Two of them at one tournament: the entry is one, and so is its pass.
    office.grant(&guest, 500).await;
    let entries = [server.alternate(&other, 0), server.alternate(&other, 1)];
    let entries = entries.map(|node| enter(node, &rings[0], &guest));
    for answer in answer_all(200, entries).await {
        answer.unwrap();
    }
    let held = "select count(*) from tournament_passes p where p.used_in is not null";
    assert_eq!(read_value::<i64>(&server.bank.pool, held).await, 1);
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn two_operators_revoke_a_pass_that_no_entry_holds() {
    let office = Office::new().await;
    let server = &office.server;
    let guest = server.guest(DEVICE).await;
    let ring = office.announce(true).await;
    let nobody = format!("/v1/operator/players/{}/passes", Uuid::new_v4());
    expect_refusal(server.get(&nobody, &office.luz), 404, "player_not_found").await;
    assert_eq!(office.list(&guest).await, Vec::<Value>::new());
    let unknown = office.request_revocation(&json!(Uuid::new_v4()));
    expect_refusal(unknown, 404, "pass_not_found").await;
    office.grant(&guest, 500).await;
    let pass = office.list(&guest).await.remove(0);
    let id = &pass["id"];

    ok(enter(server, &ring, &guest)).await;
    expect_refusal(office.request_revocation(id), 409, "pass_held").await;
    ok(withdraw(server, &ring, &guest)).await;
    let requested = ok(office.request_revocation(id)).await;
    assert_eq!(requested["kind"], "pass_revocation");
    assert_eq!((&requested["player"], &requested["amount"]), (&json!(guest.id), &json!(500)));
    assert_eq!(&requested["revoked_pass"], id);
    expect_refusal(office.request_revocation(id), 409, "revocation_requested").await;
    expect_refusal(office.approve(&office.luz, &requested), 403, "correction_own").await;
    // Until the approval the pass is the player's.
    ok(enter(server, &ring, &guest)).await;
    let preview = format!("{CORRECTIONS}/{}/preview", text(&requested["id"]));
    let refused = ok(server.get(&preview, &office.ben)).await;
    assert_eq!(refused["refusal"]["code"], "pass_held");
    expect_refusal(office.approve(&office.ben, &requested), 409, "pass_held").await;
    ok(withdraw(server, &ring, &guest)).await;
    assert_eq!(ok(server.get(&preview, &office.ben)).await["refusal"], Value::Null);
    let approved = ok(office.approve(&office.ben, &requested)).await;
    assert_eq!((&approved["state"], &approved["operation"]), (&json!("approved"), &Value::Null));
    ok(office.approve(&office.ben, &requested)).await;

    expect_refusal(enter(server, &ring, &guest), 409, "pass_missing").await;
    expect_refusal(office.request_revocation(id), 409, "pass_revoked").await;
    assert_eq!(ok(server.get(&ring, &guest)).await["passes"], json!([]));
    let listed = office.list(&guest).await;
    assert!(listed[0]["revoked_at"].is_string() && listed[0]["used_in"].is_null(), "{listed:?}");
    assert_eq!(ok(server.get("/v1/me/passes", &guest)).await["items"], json!(listed));
    let notices = ok(server.get("/v1/me/notices", &guest)).await;
    let told = items(&notices).iter().filter(|notice| notice["kind"] == "pass_revoked");
    assert_eq!(told.map(|notice| notice["amount"].clone()).collect::<Vec<_>>(), [json!(500)]);
    let reasons = format!(
        "select count(*) from audit_entries a
        where a.action = 'correction_request' and a.detail ->> 'pass' = '{}'
            and a.detail ->> 'reason' = '{REASON}'",
        text(id)
    );
    assert_eq!(read_value::<i64>(&server.bank.pool, &reasons).await, 1);
    // An equal pass may be granted again, and comes before the revoked one.
    office.grant(&guest, 500).await;
    assert_eq!(office.list(&guest).await[1]["id"], *id);
    ok(enter(server, &ring, &guest)).await;
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn of_a_revocation_and_registrations_at_the_same_moment_one_gets_the_pass() {
    let office = Office::new().await;
    let server = &office.server;
    let other = server.another_node().await;
    let guest = server.guest(DEVICE).await;
    let rings = [office.announce(true).await, office.announce(true).await];
    for round in 0..6 {
        office.grant(&guest, 500).await;
        let id = office.list(&guest).await[0]["id"].clone();
        let requested = ok(office.request_revocation(&id)).await;
        let (entered, approved) = tokio::join!(
            answer_all(200, rings.iter().map(|ring| enter(&other, ring, &guest))),
            answer_all(200, [office.approve(&office.ben, &requested)]),
        );
        let case = format!("round {round}");
        let winners = count_successes(&case, entered, 409, "pass_missing")
            + count_successes(&case, approved, 409, "pass_held");
        assert_eq!(winners, 1, "{case}");
        let held = "select count(*) from tournament_entrants";
        let revoked = "select count(*) from tournament_passes p where p.revoked_at is not null";
        let held = read_value::<i64>(&server.bank.pool, held).await;
        let revoked = read_value::<i64>(&server.bank.pool, revoked).await;
        assert_eq!(held + revoked, 1, "{case}");
        for ring in &rings {
            // One of them at most has an entry.
            let _ = withdraw(server, ring, &guest).send().await.unwrap();
        }
        execute(&server.bank.pool, "delete from tournament_passes").await;
    }
    check_ledger(&server.bank.pool).await;
}

#[tokio::test]
async fn a_pass_is_revoked_at_the_desk() {
    let office = Office::new().await;
    let server = &office.server;
    let guest = server.guest(DEVICE).await;
    office.grant(&guest, 1_250).await;
    let page = format!("/desk/players/{}", guest.id);
    let mut maya = Browser::enrolled(server, "maya", Role::Support).await;
    let shown = maya.load(&page).await;
    shown.shows("Passes for tournaments").shows("unused").hides("Request the revocation");
    let mut fe = Browser::enrolled(server, "tita.fe", Role::Finance).await;
    let shown = fe.load(&page).await;
    shown.shows("Request the revocation");
    let id = text(&office.list(&guest).await[0]["id"]);
    let form = format!("/desk/corrections/new?pass={id}");
    shown.shows(&form);
    fe.load(&form).await.shows("Revocation of a pass").shows(&format!("value=\"{id}\""));
    let attempt = Uuid::new_v4().to_string();
    let fields =
        [("attempt", &*attempt), ("kind", "pass_revocation"), ("pass", &*id), ("reason", REASON)];
    let requested = fe.send(&form, "/desk/corrections", &fields).await.expect(303);
    let requested = requested.location.unwrap();
    fe.load("/desk/corrections").await.shows("Revocation of a pass").shows("12.50");
    let mut ben = Browser::enrolled(server, "manong.ben", Role::Admin).await;
    ben.load(&requested).await.shows("Pays a buy-in up to").shows("12.50").shows(&guest.id);
    let approval = format!("{requested}/approval");
    ben.send(&requested, &approval, &[]).await.expect_redirect(&requested);
    ben.load(&page).await.shows("revoked ").hides("Request the revocation");
    let passes = ok(server.get("/v1/me/passes", &guest)).await;
    assert!(passes["items"][0]["revoked_at"].is_string());
}

/// Another registration has locked the pass that pays the least, and its end is not known yet.
#[tokio::test]
async fn a_registration_beside_another_one_takes_the_other_pass_without_a_wait() {
    let office = Office::new().await;
    let server = &office.server;
    let guest = server.guest(DEVICE).await;
    let [ring, other] = [office.announce(true).await, office.announce(true).await];
    office.grant(&guest, 500).await;
    office.grant(&guest, 1_000).await;
    let owner = server.owner_pool().await;
    let mut lock = owner.begin().await.unwrap();
    let locked = "select p.id from tournament_passes p where p.buy_in_max = 500 for update";
    sqlx::query(locked).execute(&mut *lock).await.unwrap();
    ok(enter(server, &ring, &guest)).await;
    let held = "select p.buy_in_max from tournament_passes p where p.used_in is not null";
    assert_eq!(read_values::<i64>(&server.bank.pool, held).await, [1_000]);

    // The only pass that is left comes free with the end of the other transaction.
    let waiting = enter(server, &other, &guest).send();
    let release = async {
        wait_until("the registration waits", async || count_waiting(&owner).await > 0).await;
        lock.rollback().await.unwrap();
    };
    let (answer, ()) = tokio::join!(waiting, release);
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(read_values::<i64>(&server.bank.pool, held).await.len(), 2);
    check_ledger(&server.bank.pool).await;
}

/// Grants a pass without requests.
async fn grant(house: &House, client: &Client, buy_in_max: Coins) {
    let owner = house.database.owner_pool().await;
    let operators = Operators::new(owner.clone());
    let now = bahay::clock::Clock::system().now();
    for name in ["ate.luz", "kuya.ben"] {
        let name = name.parse().unwrap();
        operators.add(&Actor::COMMAND_LINE, &name, Role::Admin, now).await.unwrap();
    }
    let correction = CorrectionId(Uuid::now_v7());
    let player = client.player();
    let approved = format!(
        "insert into corrections (id, attempt, kind, state, player, amount, reason, requested_by,
            requested_at, decided_by, decided_at)
        select '{}', '{}', 'pass', 'approved', '{player}', {}, '{REASON}', l.id, now(), b.id, now()
        from operators l, operators b
        where l.name = 'ate.luz' and b.name = 'kuya.ben'",
        correction.0,
        Uuid::new_v4(),
        buy_in_max.hundredths()
    );
    execute(&owner, &approved).await;
    let mut tx = house.pool.begin().await.unwrap();
    passes::grant_in_tx(&mut tx, correction, player, buy_in_max, now).await.unwrap();
    tx.commit().await.unwrap();
}

/// Rules 1.6, 6.1 and 6.2: the house pays the buy-in of the pass when registration closes, and no fee.
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_with_a_pass_is_played_to_its_prizes() {
    let house = House::new().await;
    let clients = house.guests(FRIENDS).await;
    let mut terms = sit_and_go();
    terms.entry.accepts_passes = true;
    terms.guarantee = coins(0);
    let tournament = announce(&house.pool, terms, None).await;
    grant(&house, &clients[0], coins(50)).await;
    let mut plays = vec![];
    for client in &clients {
        plays.push(client.play().await.unwrap());
    }
    let entry = format!("{tournament}/entry");
    let body = json!({ "payment": "pass" });
    call(&clients[0], "PUT", &entry, Some(&body)).await.expect(200);
    assert_eq!(available(&clients[0]).await, WELCOME);
    for client in &clients[1..] {
        register(client, &tournament).await.expect(200);
    }
    let playing = plays.iter_mut().map(async |play| {
        led_to_table(play).await;
        play.confirm_join().await;
        play_to_the_end(play).await.unwrap();
    });
    join_all(playing).await;
    let shown = ended(&clients[0], &tournament).await;
    assert_eq!(shown["pool"], 15_000, "three buy-ins of 50 coins");
    let transfers = "select sum(t.amount)::bigint from transfers t where t.code = ";
    let sum =
        async |code: &str| read_value::<i64>(&house.pool, &format!("{transfers}'{code}'")).await;
    let closed = "select count(*) from tournaments t where t.closed_at is not null";
    wait_until("the account is closed", async || read_value::<i64>(&house.pool, closed).await == 1)
        .await;
    assert_eq!(sum("tournament_entry").await, 11_000);
    assert_eq!(sum("guarantee").await, 5_000, "the house pays the buy-in of the pass");
    assert_eq!(sum("tournament_fee").await, 1_000);
    assert_eq!(sum("prize").await, 15_000);
    let result = "select t.house_result from tournaments t";
    assert_eq!(read_value::<i64>(&house.pool, result).await, 1_000 - 5_000);
    let used = "select count(*) from tournament_passes p where p.used_in is not null";
    assert_eq!(read_value::<i64>(&house.pool, used).await, 1, "the pass is spent");
    check_results_of(&clients[0], &tournament).await;
    check_ledger(&house.pool).await;
}

/// Rule 7.1: after the start the house's part and the pass are returned.
#[tokio::test(flavor = "multi_thread")]
async fn a_started_tournament_with_a_pass_is_cancelled_exactly() {
    let office = Office::new().await;
    let server = &office.server;
    let guests = server.guests(3).await;
    let players: Vec<_> = guests.iter().map(Guest::player).collect();
    let before = server.bank.wallets(&players).await;
    let ring = office.announce(true).await;
    office.grant(&guests[0], 500).await;
    ok(enter(server, &ring, &guests[0])).await;
    for guest in &guests[1..] {
        let entry = server.call(Method::PUT, &format!("{ring}/entry"), guest);
        ok(entry.json(&json!({}))).await;
    }
    let issued = "select t.code, t.amount from transfers t where t.code like 'guarantee%'
        order by t.operation";
    let issued = async || {
        let rows: Vec<(String, i64)> =
            crate::support::db::read_rows(&server.bank.pool, issued).await;
        rows
    };
    assert_eq!(issued().await, [("guarantee".to_owned(), 500)]);
    office.cancel(&ring).await;
    let expected = [("guarantee".to_owned(), 500), ("guarantee_return".to_owned(), 500)];
    assert_eq!(issued().await, expected);
    assert_eq!(server.bank.wallets(&players).await, before);
    assert_eq!(office.holders(&guests[0]).await, [Value::Null]);
    let results = ok(server.get(&format!("{ring}/results?limit=100"), &guests[0])).await;
    check_results(&collect_results(&results));
    check_ledger(&server.bank.pool).await;
}

fn collect_results(page: &Value) -> Vec<Value> {
    let results = items(page).iter().flat_map(|item| item["results"].as_array().unwrap().clone());
    results.collect()
}

async fn check_results_of(client: &Client, tournament: &str) {
    let results = get(client, &format!("{tournament}/results?limit=100")).await.expect(200);
    check_results(&collect_results(&results));
}
