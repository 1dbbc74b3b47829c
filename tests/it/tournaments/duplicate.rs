//! A duplicate over REST and sockets: all tables of a round deal the same cards, and nothing of them
//! is known before the round is over at all tables.

use std::collections::BTreeMap;

use bahay::clock::Clock;
use bahay::ws::protocol::{Command, Message};
use bahay_client_tokio::{Client, Play};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::ServerSeed;
use bahay_engine::table::{Event, GameId, Record, TableId};
use bahay_engine::tournament::{EntrantLimits, Format, TableNumber, TournamentId, TournamentTerms};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{WELCOME, announce, available, check_results, ended, register, sit_and_go};
use crate::support::checks::{check_ledger, read_record};
use crate::support::db::read_value;
use crate::support::house::House;
use crate::support::independent::verdicts;
use crate::support::play::{TestPlay as _, is_asked, prepared_game};
use crate::support::rest::{get, items};
use crate::support::waiting::wait_until;

const NAMES: [&str; 6] = ["Althea", "Benjie", "Carmela", "Delfin", "Esther", "Fidel"];
const ROUNDS: usize = 2;

/// The time from the announcement to the start, in which six guests register.
const UNTIL_START_MS: u32 = 8_000;

/// Returns a duplicate of six players: two rounds of one game, an entry of 50 coins with a fee of 5,
/// and two places. A table waits until all of its players are ready.
fn two_rounds() -> TournamentTerms {
    let mut terms = sit_and_go();
    terms.name = "The same cards".to_owned();
    terms.game.clocks.prepare_ms = 600_000;
    terms.game.clocks.grace_ms = 60_000;
    terms.format = Format::Duplicate { rounds: 2, games: 1 };
    terms.entrants = EntrantLimits { least: 6, most: 6 };
    terms.guarantee = bahay_engine::coins::Coins::ZERO;
    terms.starts_at = Some(Clock::system().now().after_ms(UNTIL_START_MS));
    terms
}

/// A player with a socket.
struct Entrant<'a> {
    client: &'a Client,
    play: Play,
    /// The table of the last round.
    table: Option<TableId>,
}

impl Entrant<'_> {
    /// Waits until the player's seat is at a table of the next round, and joins it.
    async fn join_next_table(&mut self, tournament: &str) {
        let own_table = format!("{tournament}/table");
        let before = json!(self.table);
        wait_until("the player has a seat in the next round", async || {
            let own = get(self.client, &own_table).await;
            let is_next = own.status == 200 && own.body["table"] != before;
            is_next && get(self.client, "/v1/table").await.body["table"] == own.body["table"]
        })
        .await;
        self.play.confirm_join().await;
        self.table = self.play.view().map(|view| view.table);
    }
}

/// Sends a command and returns the messages up to its answer, which may be a refusal.
async fn exchange(play: &mut Play, command: u32, seen: &mut Vec<Message<AnyGame>>) {
    loop {
        let message = play.next_message().await;
        let is_answer = message.acked_command() == Some(command)
            || matches!(&message, Message::Refusal { id: Some(id), .. } if *id == command);
        seen.push(message);
        if is_answer {
            return;
        }
    }
}

/// Plays a round to the end of the player's table, and returns all messages. The players of the second
/// table of the first round are not ready before the gate is open.
async fn play_round(
    entrant: &mut Entrant<'_>,
    tournament: &str,
    gate: &watch::Sender<bool>,
) -> Vec<Message<AnyGame>> {
    entrant.join_next_table(tournament).await;
    let play = &mut entrant.play;
    let view = play.view().unwrap();
    let seating = view.terms.tournament.as_ref().unwrap();
    assert_eq!(seating.commitments.len(), 1);
    if (seating.round, seating.number) == (1, 2) {
        gate.subscribe().wait_for(|is_open| *is_open).await.unwrap();
    }
    let mut seen = vec![];
    let mut ready_for = None;
    while play.view().is_some_and(|view| view.seat.is_some()) {
        let prepared = prepared_game(play);
        if let Some(game) = prepared.filter(|_| prepared != ready_for) {
            ready_for = prepared;
            // A commitment to a seed of the client's has no part in the deal.
            let id = play.ready(game, Some("luck".to_owned())).await.unwrap();
            exchange(play, id, &mut seen).await;
        } else if is_asked(play)
            && let Some(action) = play.advice()
        {
            let id = play.act(action).await.unwrap();
            exchange(play, id, &mut seen).await;
        } else {
            seen.push(play.next_message().await);
        }
    }
    seen
}

/// Checks that nothing of a round's deals is known while one of its tables still plays it.
async fn check_secrecy(house: &House, clients: &[Client], tournament: &str) {
    let scored = "select count(*) from tournament_games g where g.scored_in is not null";
    wait_until("the faster table is over", async || {
        read_value::<i64>(&house.pool, scored).await == 1
    })
    .await;
    let game: String = read_value(&house.pool, "select g.game::text from tournament_games g").await;
    for client in clients {
        let refused = [("record", 409), ("steps?hands=all", 409), ("analysis", 409)];
        for (what, status) in refused {
            let answer = get(client, &format!("/v1/games/{game}/{what}")).await;
            // The players of the other table have no part in the game.
            assert!(
                [(status, "game_not_finished"), (404, "game_not_found")]
                    .contains(&answer.refusal())
            );
        }
        get(client, &format!("/v1/games/{game}/fairness"))
            .await
            .expect_refusal(404, "game_not_found");
        let comparison = format!("{tournament}/rounds/1/comparison");
        get(client, &comparison).await.expect_refusal(409, "round_not_over");
    }
    let games = get(&clients[0], &format!("{tournament}/games")).await.expect(200);
    assert_eq!(items(&games).len(), 0);
    let results = get(&clients[0], &format!("{tournament}/results?limit=100")).await.expect(200);
    let results = results["items"].to_string();
    assert!(results.contains("\"seated\"") && !results.contains("game_scored"), "{results}");
    let deals = get(&clients[0], &format!("{tournament}/rounds/1/deals")).await.expect(200);
    assert_eq!(
        (&deals["is_over"], &deals["deals"][0]["server_seed"]),
        (&json!(false), &Value::Null)
    );
    let standings = get(&clients[0], &format!("{tournament}/standings")).await.expect(200);
    assert!(items(&standings).iter().all(|one| one["rank"] == 1 && one["score"] == 0));
    let next = format!("{tournament}/rounds/2/deals");
    get(&clients[0], &next).await.expect_refusal(404, "round_not_found");
}

/// Checks that nobody else watches a table of the tournament.
async fn check_unwatched(house: &House, table: TableId) {
    let mut stranger = house.guest("Gloria").await.play().await.unwrap();
    let watching = stranger.send(|id| Command::Watch { id, table }).await.unwrap();
    let code = stranger.refusal_of(watching).await;
    assert_eq!(code, "not_watchable");
}

/// Returns the records of the games by round and table, read by a player of each.
async fn records(clients: &[Client], tournament: &str) -> BTreeMap<(u64, u64), Record<AnyGame>> {
    let games = get(&clients[0], &format!("{tournament}/games")).await.expect(200);
    let mut records = BTreeMap::new();
    for game in items(&games) {
        let id: GameId = game["id"].as_str().unwrap().parse().unwrap();
        let player = game["scores"][0]["player"].as_str().unwrap();
        let client = clients.iter().find(|client| client.player().to_string() == player).unwrap();
        let record = read_record(client, id).await;
        let place = (game["round"].as_u64().unwrap(), game["table_number"].as_u64().unwrap());
        records.insert(place, record);
        let fairness = get(client, &format!("/v1/games/{id}/fairness")).await.expect(200);
        let deal_id = fairness["deal_id"].as_str().unwrap();
        assert_eq!(format!("/v1/tournaments/{deal_id}"), tournament);
    }
    records
}

/// Checks the published seeds and the comparison of a round, and returns the seed.
async fn check_round(
    clients: &[Client],
    tournament: &str,
    round: usize,
    records: &BTreeMap<(u64, u64), Record<AnyGame>>,
) -> ServerSeed {
    let deals = get(&clients[0], &format!("{tournament}/rounds/{round}/deals")).await.expect(200);
    assert_eq!(deals["is_over"], json!(true));
    let deal = &deals["deals"][0];
    let seed: ServerSeed = serde_json::from_value(deal["server_seed"].clone()).unwrap();
    assert_eq!(json!(seed.commitment()), deal["commitment"]);
    let [first, second] = [1, 2].map(|table| &records[&(round as u64, table)]);
    assert_eq!(first.chance, second.chance, "both tables deal the same cards");
    assert_eq!((first.server_seed, second.server_seed), (seed, seed));
    for (record, other) in [(first, second), (second, first)] {
        record.verify().unwrap();
        let seats = bahay_engine::seat::Seat::all(3);
        for ((seat, player), rival) in seats.zip(&record.players).zip(&other.players) {
            let client = clients.iter().find(|client| client.player() == *player).unwrap();
            let path = format!("{tournament}/rounds/{round}/comparison");
            let shown = get(client, &path).await.expect(200);
            assert_eq!((&shown["seat"], &shown["round"]), (&json!(seat), &json!(round)));
            let game = &shown["games"][0];
            let [own, theirs] =
                [record, other].map(|record| record.settlement.net(seat).unwrap().hundredths());
            assert_eq!(game["points"], json!(own));
            assert_eq!(game["others_mean"], json!(theirs));
            assert_eq!(game["others"].as_array().unwrap().len(), 1);
            assert_eq!(game["others"][0]["player"], json!(rival));
            let score = match own.cmp(&theirs) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => 5_000,
                std::cmp::Ordering::Greater => 10_000,
            };
            assert_eq!(game["score"], json!(score));
        }
    }
    seed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_deals_the_same_cards_at_all_tables_and_keeps_them_secret() {
    let house = House::new().await;
    let clients = house.guests(NAMES).await;
    let mut entrants = vec![];
    for client in &clients {
        entrants.push(Entrant { client, play: client.play().await.unwrap(), table: None });
    }
    let tournament = announce(&house.pool, two_rounds(), None).await;
    for client in &clients {
        register(client, &tournament).await.expect(200);
    }
    let gate = watch::Sender::new(false);
    let playing = entrants.iter_mut().map(|entrant| play_round(entrant, &tournament, &gate));
    let checking = async {
        check_secrecy(&house, &clients, &tournament).await;
        let slow = TableNumber { round: 1, table: 2 };
        let id = tournament.trim_start_matches("/v1/tournaments/").parse().unwrap();
        check_unwatched(&house, slow.table_id(TournamentId(id))).await;
        gate.send_replace(true);
    };
    let (first_round, ()) = join(join_all(playing), checking).await;
    let mut messages: Vec<Message<AnyGame>> = first_round.into_iter().flatten().collect();
    let playing = entrants.iter_mut().map(|entrant| play_round(entrant, &tournament, &gate));
    let second_round = join_all(playing).await;
    messages.extend(second_round.into_iter().flatten());

    let shown = ended(&clients[0], &tournament).await;
    assert_eq!((&shown["entrants"], &shown["round"]), (&json!(6), &json!(2)));
    let records = records(&clients, &tournament).await;
    assert_eq!(records.len(), 2 * ROUNDS);
    let mut seeds = vec![];
    for round in 1..=ROUNDS {
        seeds.push(check_round(&clients, &tournament, round, &records).await);
    }
    assert_ne!(seeds[0], seeds[1]);
    check_messages(&messages, &seeds);
    check_money(&house, &clients, &tournament, &records).await;
}

/// Checks that no message shows a seed.
fn check_messages(messages: &[Message<AnyGame>], seeds: &[ServerSeed]) {
    let mut ends = 0;
    for message in messages {
        let text = serde_json::to_string(message).unwrap();
        assert!(seeds.iter().all(|seed| !text.contains(&seed.0.to_string())), "{text}");
        if let Message::Update { events, .. } = message {
            ends += events.iter().filter(|event| matches!(event, Event::Over { .. })).count();
        }
    }
    assert_eq!(ends, 6 * ROUNDS, "every player is shown the end of every game");
}

/// Checks places, wallets and books, and verifies results and records in Python.
async fn check_money(
    house: &House,
    clients: &[Client],
    tournament: &str,
    records: &BTreeMap<(u64, u64), Record<AnyGame>>,
) {
    let closed = "select count(*) from tournaments t
        join accounts a on a.code = 'tournament:' || t.id
        where t.closed_at is not null and a.is_closed and a.balance = 0";
    wait_until("the account is closed", async || read_value::<i64>(&house.pool, closed).await == 1)
        .await;
    let results = get(&clients[0], &format!("{tournament}/results?limit=100")).await.expect(200);
    let results: Vec<Value> = items(&results)
        .iter()
        .flat_map(|item| item["results"].as_array().unwrap().clone())
        .collect();
    check_results(&results);
    let mut documents = vec![results.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")];
    documents.extend(records.values().map(|record| serde_json::to_string(record).unwrap()));
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for (script, documents) in
        [("verify_tournament.py", &documents[..]), ("verify.py", &documents[1..])]
    {
        let script = format!("{}/docs/{script}", env!("CARGO_MANIFEST_DIR"));
        if let Some((lines, code)) = verdicts(&script, documents) {
            assert!(lines.iter().all(|line| line.starts_with("verified: ")), "{lines:?}");
            assert_eq!(code, Some(0));
        }
    }
    let placed = results.iter().filter(|result| result["type"] == "placed");
    let placed: Vec<&Value> =
        placed.flat_map(|result| result["places"].as_array().unwrap()).collect();
    assert_eq!(placed.len(), 6);
    let mut paid = 0;
    for client in clients {
        let player = json!(client.player());
        let prize = placed.iter().find(|place| place["player"] == player).unwrap()["prize"].clone();
        let prize = prize.as_i64().unwrap();
        assert_eq!(available(client).await, WELCOME - 5_500 + prize);
        paid += prize;
    }
    assert_eq!(paid, 30_000, "six buy-ins of 50 coins");
    check_ledger(&house.pool).await;
}
