//! Live state on a Redis Cluster of three masters, which are processes of the test, while slots
//! move and masters freeze or die.

mod playing;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bahay::app::RunningServer;
use bahay::entropy;
use bahay::live_store::{AppendOutcome, JournalEntry, Point, Publication, Tail};
use bahay::lobby::house_rooms;
use bahay_client_tokio::Play;
use bahay_engine::table::{Clocks, ENGINE, TableId};
use playing::{PlayerGroup, Trio, join_when_available, trio, trios};
use tokio::time::timeout;
use uuid::Uuid;

use crate::stores::live_store::{line, point_after};
use crate::support::checks::audit_books;
use crate::support::cluster::{Cluster, Server};
use crate::support::db::TestDatabase;
use crate::support::house::{House, ai_clocks, join_table, unhurried_clocks};
use crate::support::live::TestLive;
use crate::support::play::{TestPlay as _, deal_game};
use crate::support::waiting::wait_until;

/// The pause between a player's commands, which keeps the player below the rate limit.
const PACE: Duration = Duration::from_millis(60);

/// The time after which a call to a frozen master fails.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

async fn house(cluster: &Cluster, clocks: Clocks) -> House {
    let database = TestDatabase::new().await;
    House::with_services(database, live(cluster), house_rooms(clocks)).await
}

fn live(cluster: &Cluster) -> TestLive {
    TestLive::with_url(&cluster.url()).with_timeout(RESPONSE_TIMEOUT)
}

/// Returns the slot of a table and the master to which the slot was first assigned.
async fn locate_table(cluster: &Cluster, live: &TestLive, table: TableId) -> (u16, usize) {
    let shard = table.0.as_u128() % u128::from(live.options().shards);
    cluster.locate_key(&format!("{{s{shard}}}")).await
}

async fn audit_clean(house: &House, games: u32) {
    let report = audit_books(&house.pool).await;
    assert!(report.games >= i64::from(games), "{report:?}");
}

/// Tables on every master are played through two nodes, also after the masters have lost the
/// scripts.
#[tokio::test(flavor = "multi_thread")]
async fn a_house_plays_on_a_cluster() {
    let cluster = Cluster::start().await;
    let house = house(&cluster, unhurried_clocks()).await;
    let (other, running) = house.node().await;
    let trios = trios(&cluster, &house.live, &[&house.base, &other]).await;
    let playing: Vec<_> = trios.into_iter().map(|trio| PlayerGroup::start(trio.plays)).collect();
    for playing in &playing {
        playing.wait_for_progress(0, 1).await;
    }
    for master in &cluster.masters {
        assert!(master.send_command::<u32>("DBSIZE").await > 0, "every master holds keys");
        master.send_command::<()>("SCRIPT FLUSH").await;
    }
    let mut games = 0;
    for playing in playing {
        assert_eq!(playing.refused(), 0);
        games += playing.end().await;
    }
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A slot is moved key by key during a game: calls and subscriptions follow it, and no version is
/// skipped.
#[tokio::test(flavor = "multi_thread")]
async fn play_goes_on_while_its_slot_moves() {
    let cluster = Cluster::start().await;
    let house = house(&cluster, unhurried_clocks()).await;
    let (other, running) = house.node().await;
    let Trio { table, plays, .. } = trio(&[&house.base, &other]).await;
    let playing = PlayerGroup::start(plays);
    playing.wait_for_progress(5, 0).await;

    let (slot, from) = locate_table(&cluster, &house.live, table).await;
    let to = (from + 1) % 3;
    let [source, target] = [from, to].map(|number| &cluster.masters[number]);
    let source_id: String = source.send_command("CLUSTER MYID").await;
    let target_id: String = target.send_command("CLUSTER MYID").await;
    target.send_command::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {source_id}")).await;
    source.send_command::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {target_id}")).await;
    playing.wait_for_progress(5, 0).await;
    let list = format!("CLUSTER GETKEYSINSLOT {slot} 10");
    loop {
        let keys: Vec<String> = source.send_command(&list).await;
        let Some(key) = keys.first() else { break };
        source.send_command::<()>(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", target.port)).await;
    }
    // The old master no longer serves the table and redirects all calls.
    playing.wait_for_progress(5, 0).await;
    let assign = format!("CLUSTER SETSLOT {slot} NODE {target_id}");
    for number in [to, from, (from + 2) % 3] {
        cluster.masters[number].send_command::<()>(&assign).await;
    }
    let count_subscribers = async |server: &Server| -> BTreeMap<String, u32> {
        let channels: Vec<String> = server.send_command("PUBSUB SHARDCHANNELS").await;
        let channels = channels.iter().find(|channel| channel.contains(&table.to_string()));
        match channels {
            Some(channel) => server.send_command(&format!("PUBSUB SHARDNUMSUB {channel}")).await,
            None => BTreeMap::new(),
        }
    };
    wait_until("both nodes are subscribed at the new master", async || {
        count_subscribers(target).await.values().eq([&2])
            && count_subscribers(source).await.is_empty()
    })
    .await;
    playing.wait_for_progress(5, 0).await;
    assert_eq!(playing.refused(), 0);
    let games = playing.end().await;
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A house on a cluster of which one master has failed.
struct HouseWithFault {
    house: House,
    /// The second node.
    running: RunningServer,
    /// The players of the table on the failed master.
    stuck: Vec<Play>,
    /// The number of games that have ended on the other masters since.
    games: u32,
}

/// A fault of a master.
#[derive(Clone, Copy, Debug)]
enum MasterFault {
    Freeze,
    Kill,
}

/// Freezes each master in turn. Its table refuses commands as unavailable and resumes afterwards;
/// the other tables play on, advanced by their players and by the clock.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_master_delays_only_its_own_tables() {
    for master in 0..3 {
        let mut cluster = Cluster::start().await;
        let failed = run_with_fault(&mut cluster, master, MasterFault::Freeze).await;
        let HouseWithFault { house, running, stuck, games } = failed;
        cluster.masters[master].thaw();
        let stuck = PlayerGroup::start_after_refusals(stuck, 1);
        stuck.wait_for_progress(5, 0).await;
        let games = games + stuck.end().await;
        running.stop().await.unwrap();
        audit_clean(&house, games).await;
    }
}

/// Kills each master in turn, without a replica. All other tables play on, and disconnected players
/// are detected and replaced by the AI.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_master_stops_only_its_own_tables() {
    for master in 0..3 {
        let mut cluster = Cluster::start().await;
        let failed = run_with_fault(&mut cluster, master, MasterFault::Kill).await;
        audit_clean(&failed.house, failed.games).await;
        drop((failed.running, failed.stuck));
    }
}

/// Makes a master fail during three games, one on each master. The games on the two other masters
/// are played to their end.
async fn run_with_fault(
    cluster: &mut Cluster,
    master: usize,
    fault: MasterFault,
) -> HouseWithFault {
    let house = house(cluster, ai_clocks(1)).await;
    let (other, running) = house.node().await;
    let mut trios = trios(cluster, &house.live, &[&house.base, &other]).await;
    let mut homes = vec![];
    for trio in &trios {
        homes.push(locate_table(cluster, &house.live, trio.table).await.1);
    }
    let place = homes.iter().position(|home| *home == master).unwrap();
    let mut stuck = trios.remove(place).plays;
    deal_game(&mut stuck).await;
    for trio in &mut trios {
        deal_game(&mut trio.plays).await;
    }

    let turn = stuck.iter().position(|play| play.advice().is_some()).unwrap();
    let action = stuck[turn].advice().unwrap();
    match fault {
        MasterFault::Freeze => cluster.masters[master].freeze(),
        MasterFault::Kill => cluster.masters[master].kill(),
    }
    let acting = stuck[turn].act(action).await.unwrap();
    assert_eq!(stuck[turn].refusal_of(acting).await, "unavailable");
    // One player of each other table disconnects, so the AI acts for that player.
    let others = trios.into_iter().map(|mut trio| {
        trio.plays.pop().unwrap().drop_connection();
        PlayerGroup::start(trio.plays)
    });
    let mut games = 0;
    for playing in others.collect::<Vec<_>>() {
        let seen = playing.seen.clone();
        games += playing.end_after(1).await;
        assert!(seen.iter().all(|seen| seen.refused.load(Ordering::Relaxed) == 0));
    }
    HouseWithFault { house, running, stuck, games }
}

/// A node starts while a master is frozen. Players who connect to the node play at the tables of
/// the other masters, and at that master's tables as soon as it answers again.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_starts_while_a_master_is_frozen() {
    let cluster = Cluster::start().await;
    let house = house(&cluster, unhurried_clocks()).await;
    let trios = trios(&cluster, &house.live, &[&house.base]).await;
    let mut homes = vec![];
    for trio in &trios {
        let mut players = vec![];
        for client in &trio.clients {
            players.push(cluster.locate_key(&format!("{{p{}}}", client.player())).await.1);
        }
        homes.push((locate_table(&cluster, &house.live, trio.table).await.1, players));
    }
    // A player whose keys are on the frozen master cannot connect to another node meanwhile.
    let count_movable = |away: usize| {
        let others = homes.iter().filter(|(table, _)| *table != away);
        others.flat_map(|(_, players)| players).filter(|player| **player != away).count()
    };
    let away = (0..3).max_by_key(|away| count_movable(*away)).unwrap();
    assert!(count_movable(away) > 0);

    cluster.masters[away].freeze();
    let (other, running) = house.node().await;
    let mut stuck = None;
    let mut others = vec![];
    for (mut trio, (table, players)) in trios.into_iter().zip(homes) {
        if table == away {
            stuck = Some(trio);
            continue;
        }
        for (place, player) in players.into_iter().enumerate() {
            if player != away {
                trio.plays[place] = join_table(&trio.clients[place].with_base(&other)).await;
            }
        }
        others.push(PlayerGroup::start(trio.plays));
    }
    let mut games = 0;
    for playing in others {
        playing.wait_for_progress(5, 0).await;
        games += playing.end().await;
    }

    cluster.masters[away].thaw();
    let mut plays = vec![];
    for client in stuck.unwrap().clients {
        plays.push(join_when_available(&client.with_base(&other)).await);
    }
    let playing = PlayerGroup::start(plays);
    playing.wait_for_progress(5, 0).await;
    games += playing.end().await;
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A master dies and its replica takes over. Calls reach the replica, the scripts are loaded into
/// it, and watched tables are published from there, after `Publication::Interrupted` reports that
/// lines may have been missed.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_the_place_of_its_master() {
    let mut cluster = Cluster::start().await;
    let house = live(&cluster);
    let (here, _publications) = house.connect().await;
    let (there, mut publications) = house.connect().await;
    let table = TableId(Uuid::new_v4());
    let (_, master) = locate_table(&cluster, &house, table).await;
    let replica = cluster.replica_of(master).await;
    let start = Point { version: 0, tag: entropy::tag() };
    here.create(table, start.tag, "empty", 60_000, ENGINE).await.unwrap();
    there.watch(table).await.unwrap();
    let a = line(start, "a", None);
    assert_eq!(here.append(table, a).await.unwrap(), AppendOutcome::Appended);
    let lines = vec![JournalEntry { tag: a.tag, line: "a".to_owned() }];
    let expected = Publication::Lines { table, after: start, lines };
    assert_eq!(publications.recv().await.unwrap(), expected);
    wait_until("the replica has the line", async || {
        let offset = |info: String, name: &str| {
            let line = info.lines().find(|line| line.starts_with(name)).map(str::to_owned);
            line.and_then(|line| line.rsplit(':').next()?.parse::<u64>().ok())
        };
        let written = cluster.masters[master].send_command("INFO replication").await;
        let read = replica.send_command("INFO replication").await;
        offset(written, "master_repl_offset") == offset(read, "slave_repl_offset")
    })
    .await;
    cluster.masters[master].kill();
    let lost = here.append(table, line(point_after(&a), "lost", None)).await;
    assert!(lost.is_err(), "{lost:?}");
    replica.send_command::<()>("CLUSTER FAILOVER TAKEOVER").await;
    let b = line(point_after(&a), "b", None);
    wait_until("the new master is found", async || {
        match here.append(table, b).await {
            Ok(AppendOutcome::Appended) => true,
            // An earlier attempt was executed, and its response came too late.
            Ok(AppendOutcome::Behind(lines)) => {
                assert_eq!(lines, [JournalEntry { tag: b.tag, line: "b".to_owned() }]);
                true
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => false,
        }
    })
    .await;
    assert_eq!(publications.recv().await.unwrap(), Publication::Interrupted);
    // The new subscription is established once it delivers a line.
    let mut at = point_after(&b);
    let again = async {
        loop {
            match publications.recv().await.unwrap() {
                Publication::Lines { after, .. } => break after.version,
                Publication::Interrupted | Publication::Ended { .. } | Publication::Talk { .. } => {
                }
            }
        }
    };
    let mut again = std::pin::pin!(again);
    let first = loop {
        let more = line(at, "more", None);
        assert_eq!(here.append(table, more).await.unwrap(), AppendOutcome::Appended);
        at = point_after(&more);
        if let Ok(first) = timeout(PACE, &mut again).await {
            break first;
        }
    };
    assert!((1..at.version).contains(&first), "{first} of {at:?}");
    let Tail::Lines(stored) = here.tail(table, start).await.unwrap() else {
        panic!("the journal exists")
    };
    let stored: Vec<_> = stored.iter().map(|entry| entry.line.as_str()).collect();
    assert_eq!(&stored[..3], ["a", "b", "more"]);
}
