//! Presence: the connections of each node, and the consequences of a node's death.

use std::time::Duration;

use bahay::live_store::{GAP_MS, NodeId, PlayerConnection};
use bahay::tables::TableError;
use bahay_engine::table::{ConnectionId, Event, Input, PlayerId, TableId};
use redis::AsyncCommands as _;
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::bank::Bank;
use crate::support::checks::read_game;
use crate::support::house::{PATIENCE, ai_clocks, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::node::{
    ConnectedPlayer, Node, deal, is_connected, is_playing, seat_new_players,
};
use crate::support::waiting::wait_until;

const FUNDS: i64 = 100_000;

/// Rule 8.3: the players of a killed node are shown as away; a player who has come back through
/// another node is not affected.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_players_of_a_killed_node_are_away() {
    let (bank, _live, [doomed, other]) = Node::start_pair().await;
    let (table, players) = seat_new_players([&other], &bank, [FUNDS; 3]).await;
    let _dies = ConnectedPlayer::join(&doomed, table, players[0]).await;
    let _moved = ConnectedPlayer::join(&doomed, table, players[1]).await;
    let mut seated = vec![
        ConnectedPlayer::join(&other, table, players[1]).await,
        ConnectedPlayer::join(&other, table, players[2]).await,
    ];
    other.become_ready(table, &players).await;
    for one in &mut seated {
        one.wait_until(is_playing).await;
    }
    drop(doomed);

    let watcher = &mut seated[1];
    watcher.wait_until(|table| !is_connected(table, players[0])).await;
    let seat = watcher.table.seat_of(players[0]).unwrap();
    assert!(watcher.table.away_seats().contains(seat));
    assert!(is_connected(&watcher.table, players[1]) && is_connected(&watcher.table, players[2]));

    let back = ConnectedPlayer::join(&other, table, players[0]).await;
    watcher.wait_until(|table| is_connected(table, players[0])).await;
    assert!(watcher.table.away_seats().is_empty() && watcher.table.taken_over_seats().is_empty());
    assert_eq!(back.player, players[0]);
    let is_still_connected = is_connected(&watcher.table, players[1]);
    assert!(is_still_connected, "the end of the older connection has no effect");
    bank.audit_clean().await;
}

/// A node that was paused and declared dead ends its watches, so that its clients reconnect.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_declared_dead_ends_its_watches() {
    let (bank, _live, [mut silent, other]) = Node::start_pair().await;
    let (table, players) = seat_new_players([&other], &bank, [FUNDS; 3]).await;
    let mut through_silent = ConnectedPlayer::join(&silent, table, players[0]).await;
    let mut watcher = ConnectedPlayer::join(&other, table, players[1]).await;
    silent.stop_heartbeats();
    watcher.wait_until(|table| !is_connected(table, players[0])).await;
    // A silent node does not know the time and therefore takes no decisions.
    wait_until("the silent node does not know the time", async || {
        let taken = silent.tables().submit(table, Input::TakeBack { player: players[0] }).await;
        matches!(taken, Err(TableError::Unavailable(_)))
    })
    .await;
    silent.resume_heartbeats();
    assert_eq!(through_silent.watch_end().await, Some(bahay_shell::WatchEnd::NodeGone));
    // The node is alive again, and its players are present.
    let _again = ConnectedPlayer::join(&silent, table, players[0]).await;
    watcher.wait_until(|table| is_connected(table, players[0])).await;
    assert!(is_connected(&watcher.table, players[1]));
}

/// A node is silent before it is dead, but not while the live store itself was unavailable.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_misses_heartbeats_is_silent() {
    let live = TestLive::new();
    let (redis, _publications) = live.connect().await;
    let [silent, other] = [NodeId(Uuid::new_v4()), NodeId(Uuid::new_v4())];
    let beat = async |node| {
        redis.send_heartbeat(0, node, false, None).await.unwrap();
    };
    beat(silent).await;
    wait_until("one of the nodes is silent", async || {
        beat(other).await;
        redis.count_silent_nodes().await.unwrap() == 1
    })
    .await;
    wait_until("the silent node is dead", async || {
        beat(other).await;
        redis.count_silent_nodes().await.unwrap() == 0
    })
    .await;
    // Without any heartbeat for longer than that, the store was unavailable to all.
    tokio::time::sleep(Duration::from_millis(u64::from(GAP_MS) + 100)).await;
    assert_eq!(redis.count_silent_nodes().await.unwrap(), 0);
}

/// The connections of a dead node are reported once, even if the first node that claims it dies as
/// well.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_dies_while_claiming_another_loses_nothing() {
    let (bank, live) = (Bank::new().await, TestLive::new());
    let (redis, _publications) = live.connect().await;
    let node = NodeId(Uuid::new_v4());
    let (table, player) = (TableId(Uuid::new_v4()), PlayerId(Uuid::new_v4()));
    let shard = redis.shard_of(table);
    redis.send_heartbeat(shard, node, false, None).await.unwrap();
    let present = |_| PlayerConnection { table, player, connection: ConnectionId(Uuid::new_v4()) };
    let all: Vec<_> = (0..150).map(present).collect();
    redis.add_present(shard, node, &all).await.unwrap();
    let mut portion = redis.read_present(shard, node).await.unwrap();
    assert_eq!(portion.len(), 64);
    // Connections that were read but not removed are still stored.
    portion.truncate(10);
    redis.remove_present(shard, node, &portion).await.unwrap();

    let heir = Node::start(&bank, &live, unhurried_clocks()).await;
    wait_until("the heir reports all connections", async || {
        redis.read_present(shard, node).await.unwrap().is_empty()
    })
    .await;
    wait_until("the heir counts the connections that it reported", async || {
        heir.tables().counts().dead_node_connections() >= 140
    })
    .await;
    assert_eq!(heir.tables().counts().dead_node_connections(), 140);
    wait_until("the house remembers the dead node once", async || {
        redis.count_dead_nodes(heir.tables().clock().now()).await.unwrap() == 1
    })
    .await;
    assert!(redis.send_heartbeat(shard, node, true, None).await.unwrap().is_dead);
}

/// A node that stops in order has nothing to be claimed.
#[tokio::test(flavor = "multi_thread")]
async fn an_orderly_end_leaves_nothing_behind() {
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (table, players) = seat_new_players([&node], &bank, [FUNDS; 3]).await;
    let seated = ConnectedPlayer::join(&node, table, players[0]).await;
    node.tables().handle_connection_end(seated.connection).await;
    let left = node.read_table(table).await;
    assert!(!is_connected(&left, players[0]));
    let tables = node.tables().clone();
    drop(node);
    tables.retire().await;
    let (redis, _publications) = live.connect().await;
    let dead = redis.count_dead_nodes(tables.clock().now()).await.unwrap();
    assert_eq!(dead, 0, "a node that stops in order is not lost");
    let mut raw = live.raw().await;
    for shard in 0..live.options().shards {
        for key in ["beats", "dead"] {
            let is_there: bool = raw.exists(live.shard_key(shard, key)).await.unwrap();
            assert!(!is_there, "{key}");
        }
    }
}

/// Rule 8.3: if all players are gone, the AI plays the game to its end.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_whose_node_dies_is_played_to_its_end_by_another() {
    let clocks = ai_clocks(1);
    let (bank, live, doomed) = Node::start_with_stores(clocks).await;
    let (table, players) = seat_new_players([&doomed], &bank, [FUNDS; 3]).await;
    let mut seated = doomed.join_players(table, &players).await;
    let game = deal(&doomed, &mut seated).await;
    drop(doomed);
    let heir = Node::start(&bank, &live, clocks).await;
    let connection = ConnectionId(Uuid::new_v4());
    let mut watch = heir.tables().watch(table, connection, None).await.unwrap();
    loop {
        let notice = timeout(PATIENCE, watch.notices.recv()).await.unwrap().unwrap();
        let is_over = |event: &Event<_>| matches!(event, Event::Settled { .. });
        if notice.events.iter().any(is_over) {
            break;
        }
    }
    assert!(read_game(&bank.pool, game).await.record.is_some());
    bank.audit_clean().await;
}
