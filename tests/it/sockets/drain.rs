//! A test of rolling restarts during games: clients reconnect to another node, and no acknowledged
//! action is lost.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bahay_client_tokio::{Client, Outcome};
use bahay_engine::catalog::AnyAction;
use bahay_engine::table::{ActionOrigin, GameId};
use tokio::task::JoinSet;

use super::player::{self, PlayReport, Stop};
use crate::support::checks::{audit_books, read_record};
use crate::support::db::{TestDatabase, count_rows};
use crate::support::house::guest_at;
use crate::support::process::{Server, serve};
use crate::support::waiting::wait_until;

type Games = Arc<Mutex<BTreeSet<GameId>>>;

/// Waits until this number of further games has been settled.
async fn wait_for_games(games: &Games, number: usize) {
    let before = games.lock().unwrap().len();
    wait_until("games are settled", async || games.lock().unwrap().len() >= before + number).await;
}

/// Returns whether `few` is a subsequence of `many`.
fn is_subsequence(few: &[AnyAction], many: &[AnyAction]) -> bool {
    let mut many = many.iter();
    few.iter().all(|one| many.any(|other| other == one))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_loses_no_acknowledged_action() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let mut nodes = [Server::start(&mut command).await, Server::start(&mut command).await];
    let bases: Vec<String> = nodes.iter().map(|node| node.url.clone()).collect();
    let games = Games::default();
    let stop = Stop::default();
    let mut clients = vec![];
    for name in ["Althea", "Benjie", "Carmela", "Dante", "Elena", "Felix"] {
        let client = guest_at(&bases[0], name).await;
        client.seat("newbie").await.unwrap();
        clients.push(client);
    }
    let mut playing = JoinSet::new();
    for (number, client) in clients.iter().enumerate() {
        let (client, bases, stop, games) =
            (client.clone(), bases.clone(), stop.clone(), games.clone());
        playing.spawn(async move {
            let settled = |game| {
                games.lock().unwrap().insert(game);
            };
            (number, player::play_and_count(&client, &bases, &stop, settled).await)
        });
    }
    wait_for_games(&games, 1).await;
    for place in 0..2 {
        nodes[place].terminate();
        assert!(nodes[place].wait().success(), "a terminated node exits successfully");
        let address: SocketAddr = bases[place].trim_start_matches("http://").parse().unwrap();
        nodes[place] = Server::start_at(&mut command, address).await;
        wait_for_games(&games, 2).await;
    }
    stop.stop();
    let played = playing.join_all().await;
    let pool = database.pool().await;
    let voided = count_rows(&pool, "games where state <> 'settled'").await;
    assert_eq!(voided, 0, "no game is voided or left open");
    for (number, played) in &played {
        check_records(&clients[*number], played).await;
    }
    let connections: u64 = played.iter().map(|(_, played)| played.connections).sum();
    assert!(connections >= 12, "every client reconnected at least once: {connections}");
    println!("{} games, {connections} connections", games.lock().unwrap().len());
    audit_books(&pool).await;
}

/// Checks that the records contain every acknowledged action and no action that was not sent.
async fn check_records(client: &Client, played: &PlayReport) {
    assert_eq!(played.refused, []);
    let games: BTreeSet<GameId> = played.acts.iter().map(|act| act.game).collect();
    for game in games {
        let record = read_record(client, game).await;
        let seat = record.players.iter().position(|player| *player == client.player()).unwrap();
        let stored = record.actions.iter();
        let stored =
            stored.filter(|taken| taken.seat.index() == seat && taken.by == ActionOrigin::Player);
        let stored: Vec<_> = stored.map(|taken| taken.action.clone()).collect();
        let acts_in_game = || played.acts.iter().filter(|act| act.game == game);
        let sent: Vec<_> = acts_in_game().map(|act| act.action.clone()).collect();
        let acknowledged: Vec<_> = acts_in_game()
            .filter(|act| matches!(act.outcome, Some(Outcome::Done { .. })))
            .map(|act| act.action.clone())
            .collect();
        assert!(is_subsequence(&acknowledged, &stored), "{game} lacks an acknowledged action");
        assert!(is_subsequence(&stored, &sent), "{game} contains an action that was not sent");
    }
}
