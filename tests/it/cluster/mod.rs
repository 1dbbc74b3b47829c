//! Live state on a Redis Cluster: three masters that are processes of the test, and what becomes
//! of tables when slots move and masters stand still or die.

mod playing;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bahay::app::RunningServer;
use bahay::client::{Play, PlayError};
use bahay::clock::Clock;
use bahay::entropy;
use bahay::live_store::{AppendOutcome, JournalEntry, NewLine, Point, Publication, Tail};
use bahay::lobby::house_rooms;
use bahay_engine::table::{Clocks, ENGINE, PhaseView, TableId};
use tokio::time::timeout;
use uuid::Uuid;

use playing::{Playing, Trio, comes_to, trio, trios};

use crate::support::cluster::{Cluster, Server, until};
use crate::support::db::TestDatabase;
use crate::support::house::{House, PATIENCE, joined};
use crate::support::live::TestLive;

/// Keeps a player below the limit of commands.
const PACE: Duration = Duration::from_millis(60);

/// A master that stands still is given up after this.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

fn line(after: Point, line: &str) -> NewLine<'_> {
    let tag = entropy::tag();
    NewLine { after, tag, engine: ENGINE, line, deadline: None, idle_ms: None }
}

/// Where a line leads.
fn to(new: &NewLine<'_>) -> Point {
    Point { version: new.after.version + 1, tag: new.tag }
}

async fn house(live: &TestLive, clocks: Clocks) -> House {
    let database = TestDatabase::new().await;
    House::on(database, live.clone(), house_rooms(clocks), Clock::system()).await
}

fn live(cluster: &Cluster) -> TestLive {
    TestLive::on(&cluster.url()).with_timeout(RESPONSE_TIMEOUT)
}

/// The slot of a table and the master that it was first given to.
async fn home(cluster: &Cluster, live: &TestLive, table: TableId) -> (u16, usize) {
    let shard = table.0.as_u128() % u128::from(live.options().shards);
    cluster.home(&format!("{{s{shard}}}")).await
}

async fn audit_clean(house: &House, games: u32) {
    let report = bahay::ledger::audit::audit(&house.pool).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert!(report.games >= i64::from(games), "{report:?}");
}

/// The main job: tables on every master, each played through two nodes, also when the masters
/// have forgotten the scripts.
#[tokio::test(flavor = "multi_thread")]
async fn a_house_plays_on_a_cluster() {
    let cluster = Cluster::start().await;
    let live = live(&cluster);
    let house = house(&live, Clocks::default()).await;
    let (other, running) = house.node().await;
    let trios = trios(&cluster, &live, &[&house.base, &other]).await;
    let playing: Vec<_> = trios.into_iter().map(|trio| Playing::start(trio.plays)).collect();
    for playing in &playing {
        playing.sees_more(0, 1).await;
    }
    for master in &cluster.masters {
        assert!(master.ask::<u32>("DBSIZE").await > 0, "every master has something to do");
        master.ask::<()>("SCRIPT FLUSH").await;
    }
    let mut games = 0;
    for playing in playing {
        assert_eq!(playing.refused(), 0);
        games += playing.end().await;
    }
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A slot is moved in mid-game, key by key: calls follow it there and back, and so do the
/// subscriptions, without a version left out.
#[tokio::test(flavor = "multi_thread")]
async fn play_goes_on_while_its_slot_moves() {
    let cluster = Cluster::start().await;
    let live = live(&cluster);
    let house = house(&live, Clocks::default()).await;
    let (other, running) = house.node().await;
    let Trio { table, plays, .. } = trio(&[&house.base, &other]).await;
    let playing = Playing::start(plays);
    playing.sees_more(5, 0).await;

    let (slot, from) = home(&cluster, &live, table).await;
    let to = (from + 1) % 3;
    let [source, target] = [from, to].map(|number| &cluster.masters[number]);
    let source_id: String = source.ask("CLUSTER MYID").await;
    let target_id: String = target.ask("CLUSTER MYID").await;
    target.ask::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {source_id}")).await;
    source.ask::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {target_id}")).await;
    playing.sees_more(5, 0).await;
    let list = format!("CLUSTER GETKEYSINSLOT {slot} 10");
    loop {
        let keys: Vec<String> = source.ask(&list).await;
        let Some(key) = keys.first() else { break };
        source.ask::<()>(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", target.port)).await;
    }
    // The old master serves nothing of the table any more, and says where to ask.
    playing.sees_more(5, 0).await;
    let assign = format!("CLUSTER SETSLOT {slot} NODE {target_id}");
    for number in [to, from, (from + 2) % 3] {
        cluster.masters[number].ask::<()>(&assign).await;
    }
    let listen = async |server: &Server| -> BTreeMap<String, u32> {
        let channels: Vec<String> = server.ask("PUBSUB SHARDCHANNELS").await;
        let channels = channels.iter().find(|channel| channel.contains(&table.to_string()));
        match channels {
            Some(channel) => server.ask(&format!("PUBSUB SHARDNUMSUB {channel}")).await,
            None => BTreeMap::new(),
        }
    };
    until("both nodes listen at the new master", async || {
        listen(target).await.values().eq([&2]) && listen(source).await.is_empty()
    })
    .await;
    playing.sees_more(5, 0).await;
    assert_eq!(playing.refused(), 0);
    let games = playing.end().await;
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A house of which a master was struck.
struct Struck {
    house: House,
    /// The second node.
    running: RunningServer,
    /// The players of the table on that master.
    stuck: Vec<Play>,
    /// That have ended elsewhere meanwhile.
    games: u32,
}

/// What becomes of a master.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Freeze,
    Kill,
}

/// A master stands still, whichever it is: its table refuses as unavailable and goes on
/// afterwards; the others play game after game, moved by their players and by the clock.
#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_stands_still_holds_up_only_its_own_tables() {
    for master in 0..3 {
        let mut cluster = Cluster::start().await;
        let struck = strike(&mut cluster, master, Blow::Freeze).await;
        let Struck { house, running, stuck, games } = struck;
        cluster.masters[master].thaw();
        let stuck = Playing::start(stuck);
        // What the frozen master was sent it may carry out now, so being late is no surprise.
        for seen in &stuck.seen {
            seen.refused.fetch_add(1, Ordering::Relaxed);
        }
        stuck.sees_more(5, 0).await;
        let games = games + stuck.end().await;
        running.stop().await.unwrap();
        audit_clean(&house, games).await;
    }
}

/// A master dies, whichever it is, and nobody takes its place: all others play on, and players
/// who go away are found and played for.
#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_dies_takes_only_its_own_tables_along() {
    for master in 0..3 {
        let mut cluster = Cluster::start().await;
        let struck = strike(&mut cluster, master, Blow::Kill).await;
        audit_clean(&struck.house, struck.games).await;
        drop((struck.running, struck.stuck));
    }
}

/// Strikes a master in the midst of three games, one on each; the two others are played to their
/// ends.
async fn strike(cluster: &mut Cluster, master: usize, blow: Blow) -> Struck {
    let live = live(cluster);
    let clocks = Clocks { think_ms: 1, grace_ms: 1, ..Clocks::default() };
    let house = house(&live, clocks).await;
    let (other, running) = house.node().await;
    let mut trios = trios(cluster, &live, &[&house.base, &other]).await;
    let mut homes = vec![];
    for trio in &trios {
        homes.push(home(cluster, &live, trio.table).await.1);
    }
    let place = homes.iter().position(|home| *home == master).unwrap();
    let mut stuck = begun(trios.remove(place).plays).await;
    let mut others = vec![];
    for trio in trios {
        others.push(begun(trio.plays).await);
    }

    let turn = stuck.iter().position(|play| play.advice().is_some()).unwrap();
    let action = stuck[turn].advice().unwrap();
    match blow {
        Blow::Freeze => cluster.masters[master].freeze(),
        Blow::Kill => cluster.masters[master].kill(),
    }
    let acting = stuck[turn].act(action).await.unwrap();
    let refused =
        timeout(PATIENCE, stuck[turn].wait_for_answer(acting)).await.unwrap().unwrap_err();
    assert!(
        matches!(&refused, PlayError::Refused { code, .. } if code == "unavailable"),
        "{refused}"
    );
    // One player of each other table goes away: the clock plays for him.
    let others = others.into_iter().map(|mut plays| {
        plays.pop().unwrap().drop_connection();
        Playing::start(plays)
    });
    let mut games = 0;
    for playing in others.collect::<Vec<_>>() {
        let seen = playing.seen.clone();
        games += playing.end_after(1).await;
        assert!(seen.iter().all(|seen| seen.refused.load(Ordering::Relaxed) == 0));
    }
    Struck { house, running, stuck, games }
}

/// The same three, with a game that has begun.
async fn begun(mut plays: Vec<Play>) -> Vec<Play> {
    for play in &mut plays {
        let game = loop {
            if let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase) {
                break *game;
            }
            timeout(PATIENCE, play.next()).await.unwrap().unwrap();
        };
        let readied = play.ready(game, None).await.unwrap();
        play.wait_for_answer(readied).await.unwrap();
    }
    for play in &mut plays {
        while play.prompt().is_none() {
            timeout(PATIENCE, play.next()).await.unwrap().unwrap();
        }
    }
    plays
}

/// A node starts while a master stands still: who comes to it plays on at the tables of the others,
/// and at that master's as soon as it answers again.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_starts_while_a_master_is_away() {
    let cluster = Cluster::start().await;
    let live = live(&cluster);
    let house = house(&live, Clocks { prepare_ms: 60_000, ..Clocks::default() }).await;
    let trios = trios(&cluster, &live, &[&house.base]).await;
    let mut homes = vec![];
    for trio in &trios {
        let mut players = vec![];
        for client in &trio.clients {
            players.push(cluster.home(&format!("{{p{}}}", client.player())).await.1);
        }
        homes.push((home(&cluster, &live, trio.table).await.1, players));
    }
    // Whoever is known on the master that is away cannot come to another node meanwhile.
    let can_come = |away: usize| {
        let others = homes.iter().filter(|(table, _)| *table != away);
        others.flat_map(|(_, players)| players).filter(|player| **player != away).count()
    };
    let away = (0..3).max_by_key(|away| can_come(*away)).unwrap();
    assert!(can_come(away) > 0);

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
                trio.plays[place] = joined(&trio.clients[place].with_base(&other)).await;
            }
        }
        others.push(Playing::start(trio.plays));
    }
    let mut games = 0;
    for playing in others {
        playing.sees_more(5, 0).await;
        games += playing.end().await;
    }

    cluster.masters[away].thaw();
    let mut plays = vec![];
    for client in stuck.unwrap().clients {
        plays.push(comes_to(&client.with_base(&other)).await);
    }
    let playing = Playing::start(plays);
    playing.sees_more(5, 0).await;
    games += playing.end().await;
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A master dies and its replica takes over: calls find it, it is taught the scripts, and watched
/// tables are heard of from there, after a word that something may have been missed.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_takes_the_place_of_its_master() {
    let mut cluster = Cluster::start().await;
    let house = live(&cluster);
    let (here, _publications) = house.connect().await;
    let (there, mut heard) = house.connect().await;
    let table = TableId(Uuid::new_v4());
    let (_, master) = home(&cluster, &house, table).await;
    let replica = cluster.replica_of(master).await;
    let start = Point { version: 0, tag: entropy::tag() };
    here.create(table, start.tag, "empty", 60_000, ENGINE).await.unwrap();
    there.watch(table).await.unwrap();
    let a = line(start, "a");
    assert_eq!(here.append(table, a).await.unwrap(), AppendOutcome::Appended);
    let lines = vec![JournalEntry { tag: a.tag, line: "a".to_owned() }];
    assert_eq!(heard.recv().await.unwrap(), Publication::Lines { table, after: start, lines });
    until("the replica has the line", async || {
        let offset = |info: String, name: &str| {
            let line = info.lines().find(|line| line.starts_with(name)).map(str::to_owned);
            line.and_then(|line| line.rsplit(':').next()?.parse::<u64>().ok())
        };
        let written = cluster.masters[master].ask("INFO replication").await;
        let read = replica.ask("INFO replication").await;
        offset(written, "master_repl_offset") == offset(read, "slave_repl_offset")
    })
    .await;
    cluster.masters[master].kill();
    let lost = here.append(table, line(to(&a), "lost")).await;
    assert!(lost.is_err(), "{lost:?}");
    replica.ask::<()>("CLUSTER FAILOVER TAKEOVER").await;
    let b = line(to(&a), "b");
    until("the new master is found", async || {
        match here.append(table, b).await {
            Ok(AppendOutcome::Appended) => true,
            // An attempt before this one was carried out, and answered too late.
            Ok(AppendOutcome::Behind(lines)) => {
                assert_eq!(lines, [JournalEntry { tag: b.tag, line: "b".to_owned() }]);
                true
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => false,
        }
    })
    .await;
    assert_eq!(heard.recv().await.unwrap(), Publication::Interrupted);
    // The new subscription stands once something is heard of it.
    let mut at = to(&b);
    let again = async {
        loop {
            match heard.recv().await.unwrap() {
                Publication::Lines { after, .. } => break after.version,
                Publication::Interrupted | Publication::Ended { .. } | Publication::Talk { .. } => {
                }
            }
        }
    };
    let mut again = std::pin::pin!(again);
    let first = loop {
        let more = line(at, "more");
        assert_eq!(here.append(table, more).await.unwrap(), AppendOutcome::Appended);
        at = to(&more);
        if let Ok(first) = timeout(PACE, &mut again).await {
            break first;
        }
    };
    assert!((1..at.version).contains(&first), "{first} of {at:?}");
    let Tail::Lines(stored) = here.tail(table, start).await.unwrap() else { panic!("it is there") };
    let stored: Vec<_> = stored.iter().map(|entry| entry.line.as_str()).collect();
    assert_eq!(&stored[..3], ["a", "b", "more"]);
}
