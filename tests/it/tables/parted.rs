//! Tables whose journal has lost its last lines, as after a crash of Redis that restarts from its
//! last write to disk. Others write on; readers of the lost lines must not take the new lines for
//! their continuation.

use bahay::live_store::Point;
use bahay::ws::protocol::{Message, close};
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Table, TableId};
use redis::AsyncCommands as _;
use tokio::time::timeout;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, join_table, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::node::{ConnectedPlayer, Node, seat_new_players};
use crate::support::play::TestPlay as _;
use crate::support::waiting::wait_until;

const FUNDS: i64 = 100_000;

/// The number of lost lines.
const LOST: usize = 3;

fn connect(player: PlayerId) -> Input<<AnyGame as bahay_engine::game::Game>::Action> {
    Input::Connect { player, connection: ConnectionId(Uuid::new_v4()) }
}

fn connection(table: &Table<AnyGame>, player: PlayerId) -> Option<ConnectionId> {
    table.occupant(table.seat_of(player)?)?.connection
}

async fn lines(live: &TestLive, table: TableId) -> isize {
    let journal = live.table_key(table, "journal");
    live.raw().await.llen(journal).await.unwrap()
}

async fn cut(live: &TestLive, table: TableId, lines: isize) {
    let journal = live.table_key(table, "journal");
    let _: () = live.raw().await.ltrim(journal, 0, lines - 1).await.unwrap();
}

/// Two nodes have read three lines; a third one, which has not, writes fewer, as many and more in
/// their place.
#[tokio::test(flavor = "multi_thread")]
async fn every_node_comes_to_the_history_that_is_stored() {
    for others in LOST - 1..=LOST + 2 {
        let (bank, live, nodes) = Node::pair().await;
        let (table, players) = seat_new_players(&nodes, &bank, [FUNDS; 3]).await;
        let mut seated = vec![
            ConnectedPlayer::join(&nodes[0], table, players[0]).await,
            ConnectedPlayer::join(&nodes[1], table, players[1]).await,
        ];
        let kept = lines(&live, table).await;
        let mut seen = 0;
        for _ in 0..LOST {
            seen = nodes[0].tables().submit(table, connect(players[2])).await.unwrap();
        }
        let mut known = vec![];
        for one in &mut seated {
            let mut at = Point::default();
            while at.version < seen {
                at = one.next().await.at;
            }
            known.push(at);
        }
        assert_eq!(known[0], known[1]);
        cut(&live, table, kept).await;
        let stranger = Node::new(&bank, &live, unhurried_clocks()).await;
        for _ in 0..others {
            stranger.tables().submit(table, connect(players[2])).await.unwrap();
        }
        let truth = stranger.read_table(table).await;
        let last = connection(&truth, players[2]);
        for one in &mut seated {
            let mut has_parted = false;
            let shown = async {
                loop {
                    let notice = one.notices.recv().await.expect("the watch goes on");
                    has_parted |= notice.is_diverged;
                    if connection(&notice.table, players[2]) == last {
                        return notice.table;
                    }
                }
            };
            let shown = timeout(PATIENCE, shown).await.expect("the watchers are told");
            assert_eq!(*shown, *truth, "{others} in the place of {LOST}");
            assert!(has_parted, "{others} in the place of {LOST}");
        }
        for node in &nodes {
            let looked = node.read_table(table).await;
            assert_eq!(*looked, *truth);
            let id = ConnectionId(Uuid::new_v4());
            let watch = node.tables().watch(table, id, Some(known[0].tag)).await.unwrap();
            assert!(watch.missed.is_none(), "nobody resumes from what is lost");
        }
        // A node without watchers compares its replica with the journal when it writes.
        nodes[1].tables().submit(table, connect(players[2])).await.unwrap();
        let [one, other] = [&nodes[0], &stranger].map(|node| node.tables().read_table(table));
        assert_eq!(one.await.unwrap(), other.await.unwrap());
    }
}

/// A client whose own join is lost joins again; the others are shown the table; an absent one gets
/// a snapshot and not the continuation of lost lines.
#[tokio::test(flavor = "multi_thread")]
async fn every_client_comes_to_the_history_that_is_stored() {
    let house = House::with_clocks(unhurried_clocks()).await;
    let (_, second) = house.node().await;
    let (table, clients) = house.table().await;
    let mut first = join_table(&clients[0]).await;
    let kept = lines(&house.live, table).await;
    let mut away = join_table(&clients[1]).await;
    let mut last = join_table(&clients[2]).await;
    away.ping().await;
    let known = away.drop_connection();
    // The lost lines are those of both; the absence is a line too, or will be.
    wait_until("the lines are written", async || lines(&house.live, table).await >= kept + 3).await;
    cut(&house.live, table, kept).await;

    let (stranger, _tasks, _publications) = house.tables().await;
    let game = stranger.read_table(table).await.unwrap().unwrap().phase().game().unwrap();
    for client in &clients[..2] {
        for input in [
            Input::Ready { player: client.player(), game, commitment: None },
            connect(clients[1].player()),
        ] {
            stranger.submit(table, input).await.unwrap();
        }
    }
    assert_eq!(last.close_code().await, close::GOING_AWAY, "its joining is lost");

    let mut last = join_table(&clients[2]).await;
    let mut back = clients[1].play().await.unwrap();
    back.resume(known);
    let joining = back.join().await.unwrap();
    let heard = back.messages_until_ack(joining).await;
    let snapshots = heard.iter().filter(|heard| matches!(heard, Message::Snapshot { .. }));
    assert_eq!(snapshots.count(), 1, "what it knew is lost");
    let truth = stranger.read_table(table).await.unwrap().unwrap();
    for (play, client) in [&mut first, &mut back, &mut last].into_iter().zip(&clients) {
        let expected = truth.view(Some(client.player()));
        play.read_until("the stored table", |play| play.view() == Some(&expected)).await;
    }
    second.stop().await.unwrap();
}
