//! The house's clock: the same on every node, whatever any machine's clock does.

use std::time::Duration;

use bahay::clock::{Clock, Timestamp, subtract};
use bahay::live_store::{GAP_MS, NodeId};
use bahay::lobby::house_rooms;
use bahay::tables::{Tables, TermsSource};
use bahay::ws::protocol::Message;
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{ActionOrigin, Clocks, ConnectionId, Event};
use redis::AsyncCommands as _;
use uuid::Uuid;

use crate::support::checks::read_record;
use crate::support::house::{House, Setup, guest_at, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::node::{Node, seat_new_players};
use crate::support::play::{TestPlay as _, join_new_table};

const HOUR_MS: i64 = 3_600_000;

/// Smaller differences are insignificant on a busy machine; an hour is significant.
const NEAR_MS: i64 = 60_000;

fn is_near(one: Timestamp, other: Timestamp) -> bool {
    (one.ms() - other.ms()).abs() < NEAR_MS
}

/// Redis's clock is set by an hour in either direction: the house continues from the nodes' clocks,
/// and so does a node that starts later.
#[tokio::test]
async fn a_step_of_redis_clock_moves_no_time() {
    for step_ms in [-HOUR_MS, HOUR_MS] {
        let house = TestLive::new();
        let (live, _publications) = house.connect().await;
        let node = NodeId(Uuid::new_v4());
        let began = live.send_heartbeat(0, node, false, None).await.unwrap().now;
        // As if a clock that was set since had recorded the last heartbeat.
        let _: i64 =
            house.raw().await.hincr(house.shard_key(0, "clock"), "at", -step_ms).await.unwrap();
        let own = Timestamp::from_ms(began.ms() + 1_000);
        let after = live.send_heartbeat(0, node, true, Some(own)).await.unwrap();
        assert!(!after.is_dead);
        assert_eq!(after.now, own);
        let later = live.send_heartbeat(0, NodeId(Uuid::new_v4()), false, None).await.unwrap();
        assert!(is_near(later.now, own), "{} {}", later.now.ms(), own.ms());
    }
}

/// During an outage of Redis no node counts as dead, and the house's time stands still.
#[tokio::test]
async fn after_a_pause_of_everybody_the_house_goes_on_where_it_was() {
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let [here, there] = [(); 2].map(|()| NodeId(Uuid::new_v4()));
    live.send_heartbeat(0, here, false, None).await.unwrap();
    let stood = live.send_heartbeat(0, there, false, None).await.unwrap().now;
    let mut raw = house.raw().await;
    let _: i64 = raw.hincr(house.shard_key(0, "clock"), "at", -50_000).await.unwrap();
    for node in [here, there] {
        let _: f64 =
            raw.zincr(house.shard_key(0, "beats"), node.to_string(), -50_000).await.unwrap();
    }
    let beat = live.send_heartbeat(0, here, true, Some(stood)).await.unwrap();
    assert_eq!((beat.is_dead, beat.now), (false, stood));
    let beat = live.send_heartbeat(0, there, true, Some(stood)).await.unwrap();
    assert!(!beat.is_dead && beat.taken.is_empty() && is_near(beat.now, stood));
}

/// After an outage of Redis its first heartbeat may be that of a node that never knew the time, or
/// one that was buffered. All nodes continue from the time of those that knew it.
#[tokio::test]
async fn after_a_standstill_all_nodes_go_on_at_the_same_time() {
    const STANDSTILL_MS: i64 = 5_000;
    for waited_ms in [None, Some(1_000), Some(i64::from(GAP_MS))] {
        let house = TestLive::new();
        let (live, _publications) = house.connect().await;
        let began = live.send_heartbeat(0, NodeId(Uuid::new_v4()), false, None).await.unwrap().now;
        // As if that had been before the outage.
        let key = house.shard_key(0, "clock");
        let _: i64 = house.raw().await.hincr(key, "at", -STANDSTILL_MS).await.unwrap();
        let last = began.ms() - STANDSTILL_MS;
        let own = waited_ms.map(|waited_ms| Timestamp::from_ms(last + waited_ms));
        let first = live.send_heartbeat(0, NodeId(Uuid::new_v4()), false, own).await.unwrap().now;
        assert_eq!(first.ms(), last + i64::from(GAP_MS), "{waited_ms:?}");
    }
}

/// A client moves to a node whose clock is behind, as that of a node that could not reach Redis for
/// some seconds.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_table_does_not_go_back_for_who_changes_nodes() {
    const BEHIND: Duration = Duration::from_millis(700);
    let (bank, live, node) = Node::start_with_stores(unhurried_clocks()).await;
    let (table, _players) = seat_new_players([&node], &bank, [100_000; 3]).await;

    let (redis, _publications) = live.connect().await;
    let (ledger, _tasks) = bank.node().await;
    let clock = Clock::house(subtract(node.tables().clock_of(table).now(), BEHIND));
    let pool = bank.pool.clone();
    let terms = TermsSource::unchanging();
    let behind = Tables::<AnyGame>::new(redis, ledger, clock.clone(), pool, terms);
    let looked = node.read_table(table).await;
    let shown = node.tables().time_at(&looked);
    assert!(clock.now() < shown, "the other node would show an earlier time");
    let connection = ConnectionId(Uuid::new_v4());
    let watch = behind.watch(table, connection, None).await.unwrap();
    assert!(behind.time_at(&watch.table) >= shown);
}

/// An operating system's clock is set by an hour during a game, forth and back: no deadline of the
/// table is early or late, and another node agrees.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_a_nodes_clock_is_nothing_to_its_tables() {
    let wall = Clock::set_to(Clock::system().now());
    let rooms = house_rooms(Clocks::default());
    let house = House::with_setup(Setup { rooms, wall: wall.clone(), ..Setup::default() }).await;
    let (base, running) = house.node().await;
    let (_, clients, mut plays) = join_new_table(&house).await;
    let game = plays[0].prepared_game().await;
    let began = Clock::system().now();
    for play in &mut plays {
        play.confirm_ready(game).await;
    }
    let mut players = tokio::task::JoinSet::new();
    for (number, mut play) in plays.into_iter().enumerate() {
        let wall = wall.clone();
        players.spawn(async move {
            let mut answered = None;
            let mut moves = 0;
            loop {
                let question = play.prompt().map(|prompt| prompt.number);
                if question != answered
                    && let Some(action) = play.advice()
                {
                    answered = question;
                    // The first two players each set the clock once.
                    moves += 1;
                    if moves == 2 && number < 2 {
                        let step_ms = [HOUR_MS, -2 * HOUR_MS][number];
                        wall.step_to(Timestamp::from_ms(wall.now().ms() + step_ms));
                    }
                    let deadline = play.prompt().and_then(|prompt| prompt.deadline_ms).unwrap();
                    assert!(is_near(deadline, began), "{} {}", deadline.ms(), began.ms());
                    play.act(action).await.unwrap();
                }
                let told = play.next_message().await;
                if let Message::Update { events, server_time_ms, .. } = told {
                    assert!(is_near(server_time_ms, began));
                    if events.iter().any(|event| matches!(event, Event::Settled { .. })) {
                        return;
                    }
                }
            }
        });
    }
    players.join_all().await;
    let record = read_record(&clients[2], game).await;
    let mut origins = record.actions.iter().map(|taken| taken.by);
    assert!(origins.all(|by| by == ActionOrigin::Player), "the clock was early");
    assert!(is_near(record.finished_at, began));
    let elsewhere = guest_at(&base, "Dante").await;
    let Message::Hello { server_time_ms, .. } =
        elsewhere.play().await.unwrap().next().await.unwrap()
    else {
        panic!("the first message is a greeting");
    };
    assert!(is_near(server_time_ms, began));
    running.stop().await.unwrap();
}
