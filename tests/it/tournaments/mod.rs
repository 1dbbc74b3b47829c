//! Tournaments over REST and sockets, from the registration to the prizes: every coin is accounted
//! for, whatever happens to a node in between.

mod archived;
mod collusion;
mod deletion;
mod duplicate;
mod formats;
mod guarantees;
mod house_bots;
mod passes;
mod reminders;
mod schedules;
mod standings;

use bahay::operators::Role;
use bahay::tournaments::{TournamentDraft, announce_in_tx};
use bahay::ws::protocol::{Message, SeekState};
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::AnyRules;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, GameId, TableId};
use bahay_engine::tournament::{
    EntrantLimits, EntryPrice, Format, PayoutStep, TournamentGame, TournamentTerms,
};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::http::server::{Server, expect_refusal, ok, text};
use crate::support::checks::{check_ledger, read_record};
use crate::support::db::{TestDatabase, read_rows, read_value, read_values};
use crate::support::house::{FRIENDS, House, guest_at};
use crate::support::independent::verdicts;
use crate::support::live::TestLive;
use crate::support::play::{TestPlay as _, is_asked, is_playing, prepared_game};
use crate::support::process::{self, serve};
use crate::support::rest::{Answer, call, get, items};
use crate::support::waiting::wait_until;

/// The coins of a new guest, in hundredths.
const WELCOME: i64 = 100_000;

fn coins(whole: i64) -> Coins {
    Coins::from_whole(whole).unwrap()
}

/// Returns a sit-and-go of three players at Tong-its: two games, an entry of 50 coins with a fee of 5,
/// and a pool of at least 200 coins for two places.
pub(crate) fn sit_and_go() -> TournamentTerms {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let mut game = TournamentGame::new(rules, 3);
    game.clocks = Clocks { prepare_ms: 3_000, think_ms: 20, grace_ms: 1, ..Clocks::default() };
    TournamentTerms {
        name: "Three in a ring".to_owned(),
        game,
        format: Format::SitAndGo { games: 2 },
        entrants: EntrantLimits { least: 3, most: 3 },
        entry: EntryPrice { buy_in: coins(50), fee: coins(5), accepts_passes: false },
        guarantee: coins(200),
        payouts: vec![PayoutStep { entrants_from: 0, shares: vec![60, 40] }],
        starts_at: None,
        late_registration_ms: 0,
        break_ms: 0,
        is_private: false,
        bots: false,
        bots_after_ms: 0,
    }
}

async fn announce(pool: &PgPool, terms: TournamentTerms, code: Option<&str>) -> String {
    let draft = TournamentDraft { terms, code: code.map(str::to_owned) };
    let mut tx = pool.begin().await.unwrap();
    let id = announce_in_tx(&mut tx, draft).await.unwrap();
    tx.commit().await.unwrap();
    format!("/v1/tournaments/{id}")
}

async fn register(client: &Client, tournament: &str) -> Answer {
    call(client, "PUT", &format!("{tournament}/entry"), Some(&json!({}))).await
}

async fn withdraw(client: &Client, tournament: &str) -> Answer {
    call(client, "DELETE", &format!("{tournament}/entry"), None).await
}

async fn available(client: &Client) -> i64 {
    client.wallet().await.unwrap().available.hundredths()
}

/// Waits until the client is led to its table of a tournament.
async fn led_to_table(play: &mut Play) -> TableId {
    loop {
        if let Message::Ticket { state: SeekState::Seated, rooms, table, .. } =
            play.next_message().await
            && rooms == ["tournament"]
        {
            return table.expect("a seated ticket names its table");
        }
    }
}

/// Plays every prompt as the house's bot would, until the table is over.
async fn play_to_the_end(play: &mut Play) -> Result<(), PlayError> {
    let mut ready_for = None;
    while play.view().is_some_and(|view| view.seat.is_some()) {
        let prepared = prepared_game(play);
        if let Some(game) = prepared.filter(|_| prepared != ready_for) {
            ready_for = prepared;
            let id = play.ready(game, None).await?;
            // The clock may be faster.
            let _ = play.wait_for_answer(id).await;
        } else if is_asked(play)
            && let Some(action) = play.advice()
        {
            let id = play.act(action).await?;
            let _ = play.wait_for_answer(id).await;
        } else {
            play.next().await?;
        }
    }
    Ok(())
}

/// Waits for the end of a tournament and returns its document.
async fn ended(client: &Client, tournament: &str) -> Value {
    wait_until("the tournament has ended", async || {
        get(client, tournament).await.expect(200)["state"] == "ended"
    })
    .await;
    get(client, tournament).await.expect(200)
}

/// Checks the list of results by the verifier in Python, which shares no code with the engine.
fn check_results(results: &[Value]) {
    let script = format!("{}/docs/verify_tournament.py", env!("CARGO_MANIFEST_DIR"));
    let lines: Vec<String> = results.iter().map(Value::to_string).collect();
    if let Some((verdicts, code)) = verdicts(&script, &[&lines.join("\n")]) {
        assert!(verdicts[0].starts_with("verified: "), "{verdicts:?}");
        assert_eq!(code, Some(0));
    }
}

/// Checks places, prizes and books of the sit-and-go.
async fn check_sit_and_go(pool: &PgPool, clients: &[Client], tournament: &str) {
    let shown = ended(&clients[0], tournament).await;
    assert_eq!((&shown["entrants"], &shown["round"]), (&json!(3), &json!(1)));
    let closed = format!(
        "select count(*) from tournaments t
        join accounts a on a.code = 'tournament:' || t.id
        where '/v1/tournaments/' || t.id = '{tournament}' and t.closed_at is not null
            and a.is_closed and a.balance = 0"
    );
    wait_until("the account is closed", async || read_value::<i64>(pool, &closed).await == 1).await;
    let standings = get(&clients[0], &format!("{tournament}/standings")).await.expect(200);
    let standings = items(&standings).clone();
    assert_eq!(standings.len(), 3);
    let scores = standings.iter().map(|one| one["score"].as_i64().unwrap());
    let scores: Vec<i64> = scores.collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(scores.iter().sum::<i64>(), 0, "points sum to zero");

    let games = get(&clients[0], &format!("{tournament}/games")).await.expect(200);
    let games = items(&games).clone();
    assert_eq!(games.len(), 2);
    let mut points = std::collections::BTreeMap::new();
    for game in &games {
        for score in game["scores"].as_array().unwrap() {
            let player = score["player"].as_str().unwrap().to_owned();
            *points.entry(player).or_insert(0) += score["points"].as_i64().unwrap();
        }
        let id: GameId = game["id"].as_str().unwrap().parse().unwrap();
        let record = read_record(&clients[1], id).await;
        assert_eq!(record.terms.tournament.unwrap().games, 2);
    }
    let results = get(&clients[0], &format!("{tournament}/results?limit=100")).await.expect(200);
    let results: Vec<Value> = items(&results)
        .iter()
        .flat_map(|item| item["results"].as_array().unwrap().clone())
        .collect();
    assert_eq!(results[0]["type"], "announced");
    check_results(&results);
    let placed = results.iter().filter(|result| result["type"] == "placed");
    let placed: Vec<&Value> =
        placed.flat_map(|result| result["places"].as_array().unwrap()).collect();
    assert_eq!(placed.len(), 3);
    let mut paid = 0;
    for client in clients {
        let own = get(client, tournament).await.expect(200)["entry"].clone();
        let player = client.player().to_string();
        let place = placed.iter().find(|place| place["player"] == json!(player)).unwrap();
        assert_eq!(own["rank"], place["place"]);
        assert_eq!((&own["place"], &own["prize"]), (&place["place"], &place["prize"]));
        assert_eq!((&own["state"], &own["games"]), (&json!("finished"), &json!(2)));
        let around = get(client, &format!("{tournament}/standings?section=around&limit=1")).await;
        assert_eq!(items(&around.expect(200))[0]["player"], json!(player));
        let prize = place["prize"].as_i64().unwrap();
        assert_eq!(own["score"], json!(points[&player]));
        assert_eq!(available(client).await, WELCOME - 5_500 + prize);
        let notices = get(client, "/v1/me/notices").await.expect(200);
        let told = items(&notices).iter().filter(|notice| notice["kind"] == "tournament_prize");
        let told: Vec<_> = told.map(|notice| notice["amount"].as_i64().unwrap()).collect();
        assert_eq!(told, if prize > 0 { vec![prize] } else { vec![] });
        let kinds = items(&notices).iter().map(|notice| text(&notice["kind"]).to_owned());
        let end = if prize > 0 { "tournament_prize" } else { "tournament_placed" };
        assert_eq!(kinds.collect::<Vec<_>>(), [end, "tournament_started"]);
        assert_eq!(items(&notices)[0]["place"], place["place"]);
        assert_eq!(items(&notices)[0]["tournament_name"], "Three in a ring");
        let own = get(client, "/v1/tournaments?mine=true").await.expect(200);
        assert_eq!(items(&own).len(), 1);
        paid += prize;
    }
    // Three buy-ins of 50 coins, and 50 of the house.
    assert_eq!(paid, 20_000);
    let fees: i64 = read_value(
        pool,
        "select sum(t.amount)::bigint from transfers t where t.code = 'tournament_fee'",
    )
    .await;
    assert_eq!(fees, 1_500);
    check_ledger(pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sit_and_go_is_played_from_registration_to_prizes() {
    let house = House::new().await;
    let clients = house.guests(FRIENDS).await;
    let tournament = announce(&house.pool, sit_and_go(), None).await;
    let listed = get(&clients[0], "/v1/tournaments?state=announced").await.expect(200);
    assert_eq!(items(&listed).len(), 1);
    assert_eq!(items(&listed)[0]["name"], "Three in a ring");
    let mut plays = vec![];
    for client in &clients {
        plays.push(client.play().await.unwrap());
    }
    // The price is held once, and returned on a withdrawal.
    let entered = register(&clients[0], &tournament).await.expect(200);
    assert_eq!(entered["entry"]["table"], Value::Null);
    assert_eq!(entered["entry"]["state"], "registered");
    // The pool that is expected of three entrants has the guarantee.
    assert_eq!(entered["expected_prizes"], json!([12_000, 8_000]));
    assert_eq!(entered["prizes"], json!([]));
    let none = get(&clients[1], "/v1/tournaments?mine=true").await.expect(200);
    assert_eq!(items(&none).len(), 0);
    register(&clients[0], &tournament).await.expect(200);
    assert_eq!(available(&clients[0]).await, WELCOME - 5_500);
    withdraw(&clients[0], &tournament).await.expect(204);
    assert_eq!(available(&clients[0]).await, WELCOME);
    withdraw(&clients[0], &tournament).await.expect_refusal(409, "not_registered");
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    let late = house.guest("Delfin").await;
    let refused = register(&late, &tournament).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    withdraw(&clients[1], &tournament).await.expect_refusal(409, "tournament_started");

    let playing = clients.iter().zip(&mut plays).map(async |(client, play)| {
        let table = led_to_table(play).await;
        let own = get(client, &format!("{tournament}/table")).await.expect(200);
        assert_eq!(own["table"], json!(table));
        play.confirm_join().await;
        assert_eq!(play.view().unwrap().table, table);
        play_to_the_end(play).await.unwrap();
    });
    join_all(playing).await;
    check_sit_and_go(&house.pool, &clients, &tournament).await;
    collusion::check_conduct(&house.pool).await;
    get(&clients[0], &format!("{tournament}/table")).await.expect_refusal(404, "not_seated");
    register(&late, &tournament).await.expect_refusal(409, "tournament_over");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_node_goes_on_with_a_tournament_after_a_kill() {
    let (database, live) = (TestDatabase::new().await, TestLive::new());
    let prefix = live.options().prefix;
    let mut doomed =
        process::Server::start(serve(&database).env("BAHAY_REDIS_PREFIX", &prefix)).await;
    let node = process::Server::start(serve(&database).env("BAHAY_REDIS_PREFIX", &prefix)).await;
    let pool = database.pool().await;
    let tournament = announce(&pool, sit_and_go(), None).await;
    let mut clients = vec![];
    for name in FRIENDS {
        clients.push(guest_at(&doomed.url, name).await);
    }
    let mut plays = vec![];
    for client in &clients {
        plays.push(client.play().await.unwrap());
        register(client, &tournament).await.expect(200);
    }
    for play in &mut plays {
        led_to_table(play).await;
        play.confirm_join().await;
    }
    plays[0].read_until("the first game", is_playing).await;
    doomed.signal("KILL");
    doomed.wait();
    drop(plays);

    // Two come back at once, and one never does.
    let back: Vec<Client> = clients.iter().map(|client| client.with_base(&node.url)).collect();
    let playing = back[..2].iter().map(async |client| {
        let mut play = client.play().await.unwrap();
        play.confirm_join().await;
        play_to_the_end(&mut play).await.unwrap();
    });
    join_all(playing).await;
    check_sit_and_go(&pool, &back, &tournament).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_cannot_pay_or_has_no_code_is_not_registered() {
    let house = House::new().await;
    let client = house.guest("Althea").await;
    let mut dear = sit_and_go();
    dear.entry.buy_in = coins(5_000);
    let tournament = announce(&house.pool, dear, None).await;
    register(&client, &tournament).await.expect_refusal(409, "too_few_coins");
    assert_eq!(available(&client).await, WELCOME);
    let shown = get(&client, &tournament).await.expect(200);
    assert_eq!((&shown["entrants"], &shown["entry"]), (&json!(0), &Value::Null));

    let private = announce(&house.pool, sit_and_go(), Some("K7MWQ2XA")).await;
    register(&client, &private).await.expect_refusal(403, "tournament_code_required");
    let entry = format!("{private}/entry");
    let long = json!({ "code": "K7MWQ2XAK7MWQ2XAK" });
    call(&client, "PUT", &entry, Some(&long)).await.expect_refusal(422, "body_invalid");
    let body = json!({ "code": "K7MWQ2XA" });
    call(&client, "PUT", &entry, Some(&body)).await.expect(200);
    assert_eq!(available(&client).await, WELCOME - 5_500);
    let listed = get(&client, "/v1/tournaments").await.expect(200);
    assert_eq!(items(&listed).len(), 1, "a private tournament is not listed");
    let found = get(&client, "/v1/tournaments?code=K7MWQ2XA").await.expect(200);
    assert_eq!(items(&found).len(), 1);
    let long = get(&client, "/v1/tournaments?code=K7MWQ2XAK7MWQ2XAK").await;
    long.expect_refusal(422, "query_invalid");
    let unknown = "/v1/tournaments/00000000-0000-4000-8000-000000000000";
    get(&client, unknown).await.expect_refusal(404, "tournament_not_found");
    check_ledger(&house.pool).await;
}

#[tokio::test]
async fn an_operator_announces_a_tournament_and_cancels_it_after_seeing_the_amounts() {
    let server = Server::new().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let guest = server.guest("device-of-a-tournament").await;
    let announce = json!({
        "preset": "sit_and_go_3", "name": "Ring", "buy_in": 500, "fee": 50, "guarantee": 3_000,
    });
    let refused = json!({ "preset": "none", "name": "Ring" });
    let answer = server.post_once(&admin, "/v1/operator/tournaments", &refused).send().await;
    assert_eq!(answer.unwrap().status(), 422);
    let private = json!({ "preset": "sit_and_go_3", "name": "Ring", "code": "K7MWQ2XA" });
    ok(server.post_once(&admin, "/v1/operator/tournaments", &private)).await;
    let twice = server.post_once(&admin, "/v1/operator/tournaments", &private);
    expect_refusal(twice, 422, "tournament_unsound").await;
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &announce)).await;
    assert_eq!((&announced["state"], &announced["buy_in"]), (&json!("announced"), &json!(500)));
    let path = format!("/v1/tournaments/{}/entry", text(&announced["id"]));
    let wallets = async || server.bank.wallets(&[guest.player()]).await;
    let before = wallets().await[0];
    ok(server.call(Method::PUT, &path, &guest).json(&json!({}))).await;
    assert_eq!(wallets().await, [before - 550]);
    // An account that holds an entry stays until the tournament is paid out.
    let proof = server.device_proof(&guest, "device-of-a-tournament").await;
    let delete = || server.delete_proven("/v1/me", &guest, &proof);
    expect_refusal(delete(), 409, "in_game").await;

    let path = format!("/v1/operator/tournaments/{}/cancellation", text(&announced["id"]));
    let preview = ok(server.get(&path, &admin)).await;
    let expected = json!([{ "player": guest.player(), "amount": 550 }]);
    assert_eq!(preview["refunds"], expected);
    let reason = json!({ "reason": "too few have come" });
    let cancelled = ok(server.post_once(&admin, &path, &reason)).await;
    assert_eq!(cancelled["refunds"], expected);
    assert_eq!(wallets().await, [before]);
    ok(delete()).await;
    let told = "select n.kind, n.amount from notices n";
    let told: Vec<(String, i64)> = read_rows(&server.bank.pool, told).await;
    assert_eq!(told, [("tournament_refund".to_owned(), 550)]);
    let again = server.post_once(&admin, &path, &reason).send().await.unwrap();
    assert_eq!(again.status(), 409);
    let acts = "select a.action from audit_entries a
        where a.subject like 'tournament:%' order by a.id";
    let acts: Vec<String> = read_values(&server.bank.pool, acts).await;
    assert_eq!(acts, ["tournament_announce", "tournament_announce", "tournament_cancel"]);
    let closed = "select count(*) from tournaments t where t.closed_at is not null";
    assert_eq!(read_value::<i64>(&server.bank.pool, closed).await, 1);
    check_ledger(&server.bank.pool).await;
}

/// Rules 7.1 and 7.4: before the first result every entry is returned, and the running games are void.
#[tokio::test]
async fn a_tournament_that_is_cancelled_while_it_is_played_frees_its_players() {
    let server = Server::new().await;
    let admin = server.session("ate.luz", Role::Admin).await;
    let guests = server.guests(3).await;
    let players: Vec<_> = guests.iter().map(|guest| guest.player()).collect();
    let before = server.bank.wallets(&players).await;
    let announce = json!({
        "preset": "sit_and_go_3", "name": "Ring", "buy_in": 500, "fee": 50, "guarantee": 3_000,
    });
    let announced = ok(server.post_once(&admin, "/v1/operator/tournaments", &announce)).await;
    let tournament = format!("/v1/tournaments/{}", text(&announced["id"]));
    for guest in &guests {
        let entry = server.call(Method::PUT, &format!("{tournament}/entry"), guest);
        ok(entry.json(&json!({}))).await;
    }
    let own_table = format!("{tournament}/table");
    for guest in &guests {
        let table = ok(server.get(&own_table, guest)).await["table"].clone();
        assert_eq!(ok(server.get("/v1/table", guest)).await["table"], table);
    }
    let cancellation = format!("/v1/operator/tournaments/{}/cancellation", text(&announced["id"]));
    let reason = json!({ "reason": "the hall is closed" });
    let cancelled = ok(server.post_once(&admin, &cancellation, &reason)).await;
    assert_eq!(cancelled["refunds"].as_array().unwrap().len(), 3);
    assert_eq!(server.bank.wallets(&players).await, before);
    for guest in &guests {
        expect_refusal(server.get(&own_table, guest), 404, "not_seated").await;
        expect_refusal(server.get("/v1/table", guest), 404, "not_seated").await;
        let shown = ok(server.get(&tournament, guest)).await;
        assert_eq!(shown["state"], "cancelled");
    }
    let closed = "select count(*) from tournaments t
        join accounts a on a.code = 'tournament:' || t.id
        where t.closed_at is not null and a.is_closed and a.balance = 0";
    assert_eq!(read_value::<i64>(&server.bank.pool, closed).await, 1);
    check_ledger(&server.bank.pool).await;
}
