//! Matchmaking by tickets: across nodes, with any live matcher, and never twice.

use std::collections::{BTreeMap, BTreeSet};

use bahay::live_store::{SeatReservation, TicketState};
use bahay::lobby::{self, Lobby, LobbyError, Matcher, Ticket};
use bahay::ratings::Ratings;
use bahay_client_tokio::Client;
use bahay_engine::matchmaking::{Candidate, TicketId};
use bahay_engine::table::{PlayerId, TableId};
use bahay_engine::testing::TestRng;
use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::bank::KIND;
use crate::support::db::{read_row, read_value};
use crate::support::house::{FRIENDS, House, PATIENCE, Setup, unhurried_clocks};
use crate::support::node::Node;
use crate::support::play::TestPlay as _;
use crate::support::rest::{call, delete, get, post_json};
use crate::support::waiting::{wait_for, wait_until};

const NEWBIE: &str = "newbie";

async fn seek(client: &Client, rooms: &[&str]) -> Value {
    client.hold_socket().await.unwrap();
    let body = json!({ "rooms": rooms });
    post_json(client, "/v1/matchmaking/tickets", &body).await.expect(200)
}

fn path_of(ticket: &Value) -> String {
    format!("/v1/matchmaking/tickets/{}", ticket["id"].as_str().unwrap())
}

/// Waits until a ticket is over, and returns it.
async fn wait_until_over(client: &Client, ticket: &Value) -> Value {
    wait_for("the ticket is over", async || {
        let ticket = get(client, &path_of(ticket)).await.expect(200);
        (ticket["state"] != "waiting" && ticket["state"] != "placed").then_some(ticket)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_fitting_players_are_seated_together_and_a_fourth_waits() {
    let house = House::new().await;
    let (base, running) = house.node().await;
    let mut clients = house.guests(FRIENDS).await;
    // One of the clients uses another node.
    clients[2] = clients[2].with_base(&base);
    let mut tickets = vec![];
    for client in &clients {
        tickets.push(seek(client, &[NEWBIE, "barkada"]).await);
    }
    let mut tables = BTreeSet::new();
    for (client, ticket) in clients.iter().zip(&tickets) {
        let ticket = wait_until_over(client, ticket).await;
        assert_eq!(ticket["state"], "seated", "{ticket}");
        let seated = get(client, "/v1/table").await.body;
        assert_eq!(seated["table"], ticket["table"]);
        tables.insert(ticket["table"].as_str().unwrap().to_owned());
    }
    assert_eq!(tables.len(), 1);
    // A seated player is sent back to its table.
    let again = seek(&clients[0], &[NEWBIE]).await;
    assert_eq!(again["state"], "seated");
    assert!(tables.contains(again["table"].as_str().unwrap()));
    delete(&clients[0], &path_of(&tickets[0])).await.expect_refusal(409, "ticket_matched");

    let fourth = house.guest("Dante").await;
    let ticket = seek(&fourth, &[NEWBIE]).await;
    assert_eq!(ticket["state"], "waiting");
    assert_eq!(seek(&fourth, &["barkada"]).await["id"], ticket["id"], "a player has one ticket");
    let foreign = get(&clients[0], &path_of(&ticket)).await;
    assert_eq!(foreign.status, 404, "a ticket belongs to its player");
    let cancelled = delete(&fourth, &path_of(&ticket)).await.expect(200);
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(delete(&fourth, &path_of(&ticket)).await.status, 200, "cancellation is idempotent");
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_ticket_request_is_refused() {
    let (_house, client) = House::with_guest().await;
    client.hold_socket().await.unwrap();
    let nil = Uuid::nil().to_string();
    for (body, status, code) in [
        (json!({ "rooms": [] }), 422, "rooms_invalid"),
        (json!({ "rooms": vec![NEWBIE; 9] }), 422, "rooms_invalid"),
        (json!({ "rooms": ["nowhere"] }), 404, "room_not_found"),
        (json!({ "rooms": ["private"] }), 404, "room_not_found"),
        (json!({ "rooms": ["maharlika"] }), 409, "too_few_coins"),
        (json!({ "rooms": "newbie" }), 422, "body_invalid"),
        (json!({ "rooms": ["newbie"], "rating": 1 }), 422, "body_invalid"),
    ] {
        let refused = post_json(&client, "/v1/matchmaking/tickets", &body).await;
        assert_eq!(refused.refusal(), (status, code), "{body}");
    }
    for method in ["GET", "DELETE"] {
        for (id, status, code) in [(&*nil, 404, "ticket_not_found"), ("x", 422, "path_invalid")] {
            let path = format!("/v1/matchmaking/tickets/{id}");
            call(&client, method, &path, None).await.expect_refusal(status, code);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn players_of_one_address_do_not_meet_unless_the_house_lets_them() {
    let lobby = lobby::Options { separate_same_network: true, ..lobby::Options::default() };
    let house = House::with_setup(Setup { lobby, ..Setup::default() }).await;
    let mut tables = BTreeSet::new();
    for name in ["Althea", "Benjie"] {
        tables.insert(house.guest(name).await.seat(NEWBIE).await.unwrap());
    }
    assert_eq!(tables.len(), 2, "an instant seat keeps them apart");
    // Each room has a table with free seats, but none for these players.
    let third = house.guest("Carmela").await;
    let ticket = seek(&third, &[NEWBIE]).await;
    let first: Uuid = house.guest("Dante").await.seat("barkada").await.unwrap().0;
    assert!(!tables.contains(&TableId(first)));
    let ticket = get(&third, &path_of(&ticket)).await.body;
    assert_eq!(ticket["state"], "waiting");
}

/// A seated player needs no new table.
#[tokio::test(flavor = "multi_thread")]
async fn a_seated_player_gets_a_ticket_that_can_be_read() {
    let (house, client) = House::with_guest().await;
    let table = client.seat(NEWBIE).await.unwrap();
    let ticket = seek(&client, &["barkada"]).await;
    assert_eq!((&ticket["state"], &ticket["table"]), (&json!("seated"), &json!(table)));
    assert_eq!(ticket["rooms"], json!([NEWBIE]));
    let again = get(&client, &path_of(&ticket)).await.expect(200);
    assert_eq!(again["table"], json!(table));
    delete(&client, &path_of(&ticket)).await.expect_refusal(409, "ticket_matched");
    // The ticket is unknown to other players.
    let other = house.guest("Benjie").await;
    assert_eq!(get(&other, &path_of(&ticket)).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocker_is_not_seated_with_the_blocked_player() {
    let house = House::new().await;
    let clients = house.guests(["Althea", "Benjie", "Carmela", "Dolores"]).await;
    let mut tickets = vec![];
    // The second player has blocked the first; both are kept apart.
    let block = format!("/v1/me/blocks/{}", clients[0].player());
    assert_eq!(call(&clients[1], "PUT", &block, None).await.status, 204);
    for client in &clients {
        tickets.push(seek(client, &[NEWBIE]).await);
    }
    let mut seated = vec![];
    for place in [2, 3] {
        let ticket = wait_until_over(&clients[place], &tickets[place]).await;
        assert_eq!(ticket["state"], "seated");
        seated.push(ticket["table"].clone());
    }
    assert_eq!(seated[0], seated[1]);
    let mut states = vec![];
    for place in [0, 1] {
        states.push(get(&clients[place], &path_of(&tickets[place])).await.body);
    }
    let there = states.iter().filter(|ticket| ticket["table"] == seated[0]).count();
    assert_eq!(there, 1, "{states:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_reports_the_table_that_is_found() {
    let house = House::new().await;
    let mut plays = vec![];
    for client in house.guests(FRIENDS).await {
        let mut play = client.play().await.unwrap();
        play.send_text(r#"{"type":"seek","id":1,"rooms":["newbie"]}"#.to_owned()).await.unwrap();
        plays.push((client, play));
    }
    for (client, play) in &mut plays {
        use bahay::ws::protocol::{Message, SeekState};
        let table = loop {
            match play.next_message().await {
                Message::Ticket { state: SeekState::Seated, table, .. } => break table.unwrap(),
                Message::Ticket { state, .. } => assert_eq!(state, SeekState::Waiting),
                Message::Hello { .. } | Message::Ack { .. } => {}
                other => panic!("{other:?}"),
            }
        };
        play.confirm_join().await;
        assert_eq!(play.table(), Some(table));
        assert_eq!(client.read::<Value>("/v1/table").await.unwrap()["table"], json!(table));
    }
}

/// The coins of each player, in hundredths.
const FUNDS: i64 = 1_000_000;

async fn seek_all(lobby: &Lobby, players: &[PlayerId]) -> Vec<Ticket> {
    let mut tickets = vec![];
    for player in players {
        tickets.push(lobby.create_ticket(*player, &[NEWBIE.to_owned()], None).await.unwrap());
    }
    tickets
}

/// Asserts that each ticket is seated at the table of its player, with at most three players at a
/// table.
async fn assert_seated(lobby: &Lobby, players: &[PlayerId], tickets: &[Ticket]) {
    let mut at: BTreeMap<TableId, usize> = BTreeMap::new();
    for (player, ticket) in players.iter().zip(tickets) {
        let ticket = lobby.ticket(*player, ticket.id).await.unwrap();
        assert_eq!(ticket.state, TicketState::Seated);
        assert_eq!(lobby.seated_at(*player).await.unwrap(), ticket.table);
        *at.entry(ticket.table.unwrap()).or_default() += 1;
    }
    assert!(at.values().all(|seated| *seated <= 3), "{at:?}");
}

async fn run_rounds_until_over(
    matcher: &mut Matcher,
    lobby: &Lobby,
    players: &[PlayerId],
    ids: &[Ticket],
) {
    wait_until("everybody is seated", async || {
        matcher.run_round().await.unwrap();
        for (player, ticket) in players.iter().zip(ids) {
            let state = lobby.ticket(*player, ticket.id).await.unwrap().state;
            if state == TicketState::Waiting || state == TicketState::Placed {
                return false;
            }
        }
        true
    })
    .await;
}

/// A matcher dies at the worst moment, with tickets placed and none or one of them seated: the next
/// one seats them, at the same table.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_matcher_finishes_the_placements_of_a_dead_one() {
    let (bank, live, node) = Node::with_stores(unhurried_clocks()).await;
    let (lobby, live) = (node.lobby.clone(), live.connect().await.0);
    let players = bank.players([FUNDS; 6]).await;
    let tickets = seek_all(&lobby, &players).await;
    let held = live.acquire_matching_lease("dead").await.unwrap().unwrap();
    assert_eq!(held.waiting.len(), 6);
    let ids: Vec<TicketId> = tickets.iter().map(|ticket| ticket.id).collect();
    let table = TableId(Uuid::new_v4());
    let plan = json!({ "room": NEWBIE, "table": table }).to_string();
    assert!(live.place_tickets("dead", held.fence, &ids[..3], table, &plan).await.unwrap());
    // One of the three had a reservation and a seat claim when the matcher died.
    let who = [Candidate::new(players[0], 25_000)];
    let reserve =
        SeatReservation { room: NEWBIE, seats: 3, candidates: &who, networks_apart: true };
    assert!(live.reserve_at_table(reserve, table).await.unwrap());
    assert!(live.claim_seat(players[0], table).await.unwrap());

    let mut next = Matcher::new(lobby.clone());
    assert_eq!(next.run_round().await.unwrap(), None, "the lease has not expired");
    let cancelled = lobby.cancel_ticket(players[1], ids[1]).await.unwrap_err();
    assert!(matches!(cancelled, LobbyError::TicketMatched), "{cancelled}");
    run_rounds_until_over(&mut next, &lobby, &players, &tickets).await;
    assert_seated(&lobby, &players, &tickets).await;
    for player in &players[..3] {
        assert_eq!(lobby.seated_at(*player).await.unwrap(), Some(table));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_matcher_releases_its_lease() {
    let (_bank, live, node) = Node::with_stores(unhurried_clocks()).await;
    let live = live.connect().await.0;
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(Matcher::new(node.lobby.clone()).run_until(stopping));
    // The matcher holds the lease once another holder cannot acquire it.
    while live.acquire_matching_lease("other").await.unwrap().is_some() {
        live.release_matching_lease("other").await.unwrap();
        tokio::task::yield_now().await;
    }
    stop.send_replace(true);
    timeout(PATIENCE, running).await.unwrap().unwrap();
    assert!(live.acquire_matching_lease("next").await.unwrap().is_some(), "at once");
}

/// A paused matcher resumes with an old lease.
#[tokio::test(flavor = "multi_thread")]
async fn a_matcher_with_a_lost_lease_places_nothing() {
    let (bank, live, node) = Node::with_stores(unhurried_clocks()).await;
    let (lobby, live) = (node.lobby.clone(), live.connect().await.0);
    let players = bank.players([FUNDS; 3]).await;
    let tickets = seek_all(&lobby, &players).await;
    let ids: Vec<TicketId> = tickets.iter().map(|ticket| ticket.id).collect();
    let old = live.acquire_matching_lease("paused").await.unwrap().unwrap();
    live.release_matching_lease("paused").await.unwrap();
    let new = live.acquire_matching_lease("other").await.unwrap().unwrap();
    assert!(new.fence > old.fence);
    let table = TableId(Uuid::new_v4());
    assert!(!live.place_tickets("paused", old.fence, &ids, table, "{}").await.unwrap());
    // The old fencing number is rejected also after the lease was acquired again.
    live.release_matching_lease("other").await.unwrap();
    live.acquire_matching_lease("paused").await.unwrap().unwrap();
    assert!(!live.place_tickets("paused", old.fence, &ids, table, "{}").await.unwrap());
    live.release_matching_lease("paused").await.unwrap();
    // Placement is all or nothing: a cancelled ticket keeps the others from this table.
    lobby.cancel_ticket(players[2], ids[2]).await.unwrap();
    let held = live.acquire_matching_lease("other").await.unwrap().unwrap();
    assert!(!live.place_tickets("other", held.fence, &ids, table, "{}").await.unwrap());
    for (player, ticket) in players.iter().zip(&tickets).take(2) {
        let state = lobby.ticket(*player, ticket.id).await.unwrap().state;
        assert_eq!(state, TicketState::Waiting);
    }
}

/// Cancellations, instant seats and two matchers race many times: every ticket has one outcome, and
/// nobody sits at another table than that of the ticket.
#[tokio::test(flavor = "multi_thread")]
async fn no_ticket_is_lost_or_seated_twice_in_any_race() {
    let seed = Uuid::new_v4().as_u64_pair().0;
    println!("seed {seed}");
    let mut dice = TestRng::new(seed);
    let (bank, _live, nodes) = Node::pair().await;
    let [lobby, other] = nodes.each_ref().map(|node| node.lobby.clone());
    let players = bank.players([FUNDS; 30]).await;
    let tickets = seek_all(&lobby, &players).await;
    let matchers = [&lobby, &other].map(|lobby| tokio::spawn(Matcher::new(lobby.clone()).run()));
    let mut racing = tokio::task::JoinSet::new();
    let mut instant = BTreeSet::new();
    for (player, ticket) in players.iter().copied().zip(&tickets) {
        let (id, lobby) = (ticket.id, other.clone());
        match dice.below(3) {
            0 => {
                racing.spawn(async move {
                    let cancelled = lobby.cancel_ticket(player, id).await;
                    let is_fine = matches!(cancelled, Ok(_) | Err(LobbyError::TicketMatched));
                    assert!(is_fine, "{cancelled:?}");
                });
            }
            1 => {
                instant.insert(player);
                racing.spawn(async move {
                    let seated = lobby.seat(player, NEWBIE).await;
                    assert!(matches!(seated, Ok(_) | Err(LobbyError::Seating)), "{seated:?}");
                });
            }
            _ => {}
        }
    }
    racing.join_all().await;
    // One or two players may be left: two more join.
    let more = bank.players([FUNDS; 2]).await;
    let late = seek_all(&lobby, &more).await;
    let all = || players.iter().chain(&more).zip(tickets.iter().chain(&late));
    let ended = async {
        for (player, ticket) in all() {
            loop {
                let ticket = lobby.ticket(*player, ticket.id).await.unwrap();
                let seated = lobby.seated_at(*player).await;
                let few = ticket.state == TicketState::Waiting && waiting(&lobby, all()).await < 3;
                match (ticket.state, seated) {
                    (TicketState::Seated, Ok(Some(table))) => {
                        assert_eq!(ticket.table, Some(table));
                        break;
                    }
                    (TicketState::Cancelled, Ok(None)) => break,
                    // A player seated without the ticket no longer needs it.
                    (TicketState::Cancelled, Ok(Some(_))) => {
                        assert!(instant.contains(player), "cancelled without an instant seat");
                        break;
                    }
                    // Too few players are left for a table.
                    (TicketState::Waiting, Ok(None)) if few => break,
                    _ => tokio::task::yield_now().await,
                }
            }
        }
    };
    timeout(PATIENCE, ended).await.expect("every ticket is over");
    let mut seats: BTreeMap<PlayerId, usize> = BTreeMap::new();
    let mut tables = BTreeSet::new();
    for (player, ticket) in all() {
        tables.extend(lobby.ticket(*player, ticket.id).await.unwrap().table);
    }
    for table in tables {
        let table = lobby.tables().read_table(table).await.unwrap().unwrap();
        for (_, occupant) in table.occupants() {
            *seats.entry(occupant.player).or_default() += 1;
        }
    }
    assert!(seats.values().all(|seats| *seats == 1), "{seats:?}");
    for matcher in matchers {
        matcher.abort();
    }
}

async fn waiting(lobby: &Lobby, all: impl Iterator<Item = (&PlayerId, &Ticket)>) -> usize {
    let mut waiting = 0;
    for (player, ticket) in all {
        let state = lobby.ticket(*player, ticket.id).await.unwrap().state;
        waiting += usize::from(matches!(state, TicketState::Waiting | TicketState::Placed));
    }
    waiting
}

/// Ratings follow finished games, and each game counts once.
#[tokio::test(flavor = "multi_thread")]
async fn ratings_follow_finished_games() {
    let house = House::new().await;
    timeout(PATIENCE, bahay_lab::demo::run(&house.base, "newbie")).await.unwrap().unwrap();
    let (one, other) = (Ratings::new(house.pool.clone()), Ratings::new(house.pool.clone()));
    tokio::join!(house.rate_all(&one), house.rate_all(&other));
    let counts = "
        select (select count(*) from games where state = 'settled'),
            (select sum(games) / 3 from ratings), (select count(*) from ratings),
            (select count(*) from ratings where rating > 25000)";
    let (games, rated, players, above): (i64, i64, i64, i64) = read_row(&house.pool, counts).await;
    assert_eq!((games, players), (rated, 3));
    assert!((1..3).contains(&above), "{above}");
    let player = read_value::<Uuid>(&house.pool, "select player from ratings limit 1").await;
    let bearing = one.matchmaking_profile(PlayerId(player), KIND).await.unwrap();
    assert_eq!((bearing.recent.len(), bearing.devices.len()), (2, 1));
}
