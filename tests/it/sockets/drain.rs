//! A server that is told to stop while games are played: its clients go to another node, and
//! nothing that was acknowledged is lost.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bahay::client::{Client, CommandOutcome};
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::table::{ActionOrigin, GameId, Readable};
use tokio::task::JoinSet;

use super::player::{self, Played, Stop};
use crate::support::db::TestDatabase;
use crate::support::house::{PATIENCE, guest_at};
use crate::support::process::{Server, serve};

type Games = Arc<Mutex<BTreeSet<GameId>>>;

/// Until so many more games have been settled.
async fn more(games: &Games, number: usize) {
    let before = games.lock().unwrap().len();
    let played = async {
        while games.lock().unwrap().len() < before + number {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE * 2, played).await.expect("games are played");
}

/// Whether all of `few` are in `many`, in order.
fn is_within(few: &[AnyAction], many: &[AnyAction]) -> bool {
    let mut many = many.iter();
    few.iter().all(|one| many.any(|other| other == one))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_is_nothing_to_a_player() {
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
    more(&games, 1).await;
    for place in 0..2 {
        nodes[place].terminate();
        assert!(nodes[place].wait().success(), "a node that was told to stop ends well");
        let address: SocketAddr = bases[place].trim_start_matches("http://").parse().unwrap();
        nodes[place] = Server::start_at(&mut command, address).await;
        more(&games, 2).await;
    }
    stop.stop();
    let played = playing.join_all().await;
    let pool = database.pool().await;
    let voided: i64 = sqlx::query_scalar("select count(*) from games where state <> 'settled'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(voided, 0, "games were voided or left open");
    for (number, played) in &played {
        check(&clients[*number], played).await;
    }
    let connections: u64 = played.iter().map(|(_, played)| played.connections).sum();
    assert!(connections >= 12, "everybody was sent away once at least: {connections}");
    println!("{} games, {connections} connections", games.lock().unwrap().len());
    let report = bahay::ledger::audit::audit(&pool).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

/// What was acknowledged is in the records, and nothing else than what was sent.
async fn check(client: &Client, played: &Played) {
    assert_eq!(played.refused, []);
    let games: BTreeSet<GameId> = played.acts.iter().map(|act| act.game).collect();
    for game in games {
        let record = client.record(game).await.unwrap();
        let record = AnyGame::read_record(&record.to_string()).unwrap();
        record.verify().unwrap_or_else(|fault| panic!("{game}: {fault}"));
        let seat = record.players.iter().position(|player| *player == client.player()).unwrap();
        let stored = record.actions.iter();
        let stored =
            stored.filter(|taken| taken.seat.index() == seat && taken.by == ActionOrigin::Player);
        let stored: Vec<_> = stored.map(|taken| taken.action.clone()).collect();
        let of_game = || played.acts.iter().filter(|act| act.game == game);
        let sent: Vec<_> = of_game().map(|act| act.action.clone()).collect();
        let done = of_game().filter(|act| matches!(act.outcome, Some(CommandOutcome::Done { .. })));
        let done: Vec<_> = done.map(|act| act.action.clone()).collect();
        assert!(is_within(&done, &stored), "acknowledged and not stored in {game}");
        assert!(is_within(&stored, &sent), "stored and never sent in {game}");
    }
}
