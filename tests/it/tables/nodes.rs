//! Nodes as processes: killed, paused, and managed from the command line.

use std::process::Output;

use bahay::ws::protocol::{Closing, Message, close};
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::{Event, TableId};

use crate::support::bank::seat;
use crate::support::db::TestDatabase;
use crate::support::house::seat_guests;
use crate::support::play::{TestPlay as _, deal_game, join_tables, rejoin};
use crate::support::process::{Server, bahay, serve};

/// Seats three guests at one table: the first through one node, the others through another.
async fn seated(here: &Server, there: &Server) -> (TableId, Vec<Client>, Vec<Play>) {
    let (table, clients) = seat_guests([&here.url, &there.url, &there.url]).await;
    let plays = join_tables(&clients).await;
    (table, clients, plays)
}

/// Rule 8.3, over `kill -9`: after the grace the AI takes over the seat, and the player gets it
/// back through any node.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_gives_its_seats_to_the_ai_until_their_players_are_back() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let [doomed, other] = [Server::start(&mut command).await, Server::start(&mut command).await];
    let (_, clients, mut plays) = seated(&doomed, &other).await;
    deal_game(&mut plays).await;
    // Killed before the connection ends, so that the node can report nothing.
    doomed.signal("KILL");
    let known = plays.remove(0).drop_connection();
    plays[0].wait_for_event(Event::Takeover { seat: seat(0), on: true }).await;
    let _back = rejoin(&clients[0].with_base(&other.url), known).await;
    plays[0].wait_for_event(Event::Takeover { seat: seat(0), on: false }).await;
}

/// A node is paused for so long that its players count as away, and then resumed: it disconnects
/// its clients, and nothing that it missed is undone.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_node_that_goes_on_sends_its_clients_back() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let [paused, other] = [Server::start(&mut command).await, Server::start(&mut command).await];
    let (_, clients, mut plays) = seated(&paused, &other).await;
    deal_game(&mut plays).await;
    paused.signal("STOP");
    plays[1].wait_for_event(Event::Presence { seat: seat(0), connected: false }).await;
    paused.signal("CONT");
    let closed = plays[0].close_code().await;
    assert_eq!(closed, close::GOING_AWAY);
    let known = plays.remove(0).drop_connection();
    let _back = rejoin(&clients[0], known).await;
    plays[0].wait_for_event(Event::Presence { seat: seat(0), connected: true }).await;
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An operator's commands beside a serving node.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_voided_from_the_command_line() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let server = Server::start(&mut command).await;
    let (table, clients, mut plays) = seated(&server, &server).await;
    let game = deal_game(&mut plays).await;
    let envs: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let order = |words: &[&str]| {
        let mut order = bahay();
        order.arg("table").args(words).envs(envs.clone()).output().unwrap()
    };
    assert_eq!(said(&order(&["list-halted"])), "no table is halted\n");
    let table = table.to_string();
    let released = order(&["release", &table]);
    assert_eq!(released.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&released.stderr).contains("not halted"));
    for wrong in ["ñ".repeat(9), "ñ".repeat(501)] {
        let refused = order(&["void", &table, "--reason", &wrong]);
        assert_eq!(refused.status.code(), Some(2));
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(why.contains("10 to 500 characters"), "{why}");
    }
    assert_eq!(said(&order(&["list-halted"])), "no table is halted\n");
    let voided = said(&order(&["void", &table, "--reason", &"ñ".repeat(500)]));
    assert!(voided.contains(&game.to_string()), "{voided}");
    for (client, mut play) in clients.iter().zip(plays) {
        let closed = loop {
            if let Message::Closed { table, reason: Closing::Voided } = play.next_message().await {
                break table.to_string();
            }
        };
        assert_eq!(closed, table);
        let wallet = client.wallet().await.unwrap();
        assert_eq!((wallet.available.hundredths(), wallet.held.hundredths()), (100_000, 0));
        // On the same connection, at another table.
        client.seat("newbie").await.unwrap();
        play.confirm_join().await;
        assert_ne!(play.table().unwrap().to_string(), table);
    }
    let again = order(&["void", &table, "--reason", "once more, again"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("nothing to void"));
}
