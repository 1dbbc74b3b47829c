//! Live state on a Redis Cluster: three masters that are processes of the test, and what becomes
//! of tables when slots move and masters stand still or die.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bahay::app::Running;
use bahay::client::{Client, Play, PlayError};
use bahay::clock::Clock;
use bahay::demo;
use bahay::entropy;
use bahay::live::{Append, Entry, NewLine, Point, Publication, Tail};
use bahay::lobby::house_rooms;
use bahay::ws::protocol::Message;
use bahay_engine::table::{Clocks, ENGINE, Event, PhaseView, TableId};
use futures_util::StreamExt;
use redis::cluster_routing::Slot;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use uuid::Uuid;

use crate::support::cluster::{Cluster, Server, until};
use crate::support::db::TestDatabase;
use crate::support::house::{House, PATIENCE, guest_at, joined};
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

/// Three players of one table, whose connections go through the nodes in turn.
struct Trio {
    table: TableId,
    clients: Vec<Client>,
    plays: Vec<Play>,
}

async fn trio(nodes: &[&str]) -> Trio {
    let mut clients: Vec<Client> = vec![];
    let mut tables = BTreeSet::new();
    for (name, node) in ["Althea", "Benjie", "Carmela"].into_iter().zip(nodes.iter().cycle()) {
        let client = guest_at(node, name).await;
        tables.insert(client.seat("newbie").await.unwrap());
        clients.push(client);
    }
    assert_eq!(tables.len(), 1);
    let mut plays = vec![];
    for client in &clients {
        plays.push(joined(client).await);
    }
    Trio { table: tables.pop_first().unwrap(), clients, plays }
}

/// A trio on each master, by its number.
async fn trios(cluster: &Cluster, house: &TestLive, nodes: &[&str]) -> Vec<Trio> {
    let mut trios = BTreeMap::new();
    while trios.len() < cluster.masters.len() {
        let trio = trio(nodes).await;
        let (_, master) = home(cluster, house, trio.table).await;
        trios.entry(master).or_insert(trio);
    }
    trios.into_values().collect()
}

/// Players who play on, game after game, until they are told that it is enough.
struct Playing {
    players: JoinSet<()>,
    seen: Vec<Arc<Seen>>,
    games: watch::Sender<u32>,
}

/// What a player has seen.
#[derive(Default)]
struct Seen {
    version: AtomicU64,
    settled: AtomicU32,
    refused: AtomicU32,
}

impl Playing {
    fn start(plays: Vec<Play>) -> Self {
        let (games, enough) = watch::channel(u32::MAX);
        let mut playing = Self { players: JoinSet::new(), seen: vec![], games };
        for play in plays {
            let seen = Arc::<Seen>::default();
            playing.seen.push(seen.clone());
            playing.players.spawn(play_on(play, seen, enough.clone()));
        }
        playing
    }

    /// Everybody has seen so many versions and games more than now.
    async fn sees_more(&self, versions: u64, games: u32) {
        let seen = |seen: &Arc<Seen>| {
            (seen.version.load(Ordering::Relaxed), seen.settled.load(Ordering::Relaxed))
        };
        let before: Vec<_> = self.seen.iter().map(seen).collect();
        until("play goes on", async || {
            self.seen
                .iter()
                .map(seen)
                .zip(&before)
                .all(|(now, before)| now.0 >= before.0 + versions && now.1 >= before.1 + games)
        })
        .await;
    }

    fn refused(&self) -> u32 {
        self.seen.iter().map(|seen| seen.refused.load(Ordering::Relaxed)).sum()
    }

    /// Lets the game end, and gives how many were played.
    async fn end(self) -> u32 {
        let settled = self.seen.iter().map(|seen| seen.settled.load(Ordering::Relaxed));
        let games = settled.max().unwrap_or(0) + 1;
        self.end_after(games).await
    }

    async fn end_after(mut self, games: u32) -> u32 {
        self.games.send(games).unwrap();
        while let Some(ended) = timeout(PATIENCE, self.players.join_next()).await.unwrap() {
            ended.unwrap();
        }
        games
    }
}

/// Plays as the house's bot would. A refusal as unavailable is answered by trying again; after it,
/// the first attempt may turn out to have been taken. A version that is left out is an error.
async fn play_on(mut play: Play, seen: Arc<Seen>, mut enough: watch::Receiver<u32>) {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        if seen.settled.load(Ordering::Relaxed) >= *enough.borrow_and_update() {
            return;
        }
        let view = play.view().unwrap();
        let seat = view.seat.unwrap();
        if let PhaseView::Preparing { game, ready, .. } = &view.phase {
            let game = *game;
            if !ready.contains(seat) && told != Some((game, None)) {
                told = Some((game, None));
                pace.tick().await;
                play.ready(game, None).await.unwrap();
            }
        }
        if let Some(question) = play.prompt().map(|prompt| (prompt.game, Some(prompt.number)))
            && told != Some(question)
            && let Some(action) = play.advice()
        {
            told = Some(question);
            pace.tick().await;
            play.act(action).await.unwrap();
        }
        let message = tokio::select! {
            message = timeout(PATIENCE, play.next()) => message.unwrap().unwrap(),
            changed = enough.changed() => {
                changed.unwrap();
                continue;
            }
        };
        match message {
            Message::Update { events, .. } => {
                let settled = events.iter().filter(|event| matches!(event, Event::Settled { .. }));
                let settled = u32::try_from(settled.count()).unwrap();
                seen.settled.fetch_add(settled, Ordering::Relaxed);
            }
            Message::Refusal { code, .. } if code == "unavailable" => {
                seen.refused.fetch_add(1, Ordering::Relaxed);
                told = None;
            }
            Message::Refusal { code, detail, .. } => {
                assert!(seen.refused.load(Ordering::Relaxed) > 0, "{code}: {detail}");
            }
            Message::Hello { .. }
            | Message::Ticket { .. }
            | Message::Closed { .. }
            | Message::Said { .. }
            | Message::Snapshot { .. }
            | Message::Ack { .. } => {}
        }
        seen.version.store(play.version().unwrap(), Ordering::Relaxed);
    }
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
    running: Running,
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
    let clocks = Clocks { think_ms: 1, ..Clocks::default() };
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
    let refused = timeout(PATIENCE, stuck[turn].answered(acting)).await.unwrap().unwrap_err();
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
        play.answered(readied).await.unwrap();
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
                trio.plays[place] = joined(&trio.clients[place].at(&other)).await;
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
        plays.push(comes_to(&client.at(&other)).await);
    }
    let playing = Playing::start(plays);
    playing.sees_more(5, 0).await;
    games += playing.end().await;
    running.stop().await.unwrap();
    audit_clean(&house, games).await;
}

/// A connection that joins its table as soon as that is possible.
async fn comes_to(client: &Client) -> Play {
    let comes = async {
        loop {
            let mut play = client.play().await.unwrap();
            let joining = play.join().await.unwrap();
            match play.answered(joining).await {
                Ok(_) => break play,
                Err(PlayError::Refused { code, .. }) if code == "unavailable" => {}
                Err(error) => panic!("{error}"),
            }
            tokio::time::sleep(PACE).await;
        }
    };
    timeout(PATIENCE, comes).await.unwrap()
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
    here.found(table, start.tag, "empty", 60_000, ENGINE).await.unwrap();
    there.watch(table).await.unwrap();
    let a = line(start, "a");
    assert_eq!(here.append(table, a).await.unwrap(), Append::Appended);
    let lines = vec![Entry { tag: a.tag, line: "a".to_owned() }];
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
            Ok(Append::Appended) => true,
            // An attempt before this one was carried out, and answered too late.
            Ok(Append::Behind(lines)) => {
                assert_eq!(lines, [Entry { tag: b.tag, line: "b".to_owned() }]);
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
        assert_eq!(here.append(table, more).await.unwrap(), Append::Appended);
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

/// What one call, one script or one transaction touches is in one slot: every word of the house
/// that Redis sees is a key or a channel, and is looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_stays_within_its_slot() {
    let server = Server::start(&[]).await;
    let live = TestLive::on(&server.url());
    let client = redis::Client::open(server.url()).unwrap();
    let said = client.get_async_monitor().await.unwrap().into_on_message::<String>();
    let house = house(&live, Clocks::default()).await;
    let mut said = std::pin::pin!(said);
    let mut playing = std::pin::pin!(demo::run(&house.base));
    let prefix = format!("{}:", live.options().prefix);
    let mut scripts = 0;
    // Of the call that a script belongs to, and of the transaction that is open on a connection.
    let mut call = None;
    let mut transactions = BTreeMap::new();
    loop {
        let line = tokio::select! {
            line = said.next() => line.unwrap(),
            played = &mut playing => break played.unwrap(),
        };
        let (from, words) = monitored(&line);
        let mut slots = words.iter().filter(|word| word.starts_with(&prefix)).map(Slot::for_key);
        let slot = slots.next();
        assert!(slots.all(|other| Some(other) == slot), "more than one slot: {line}");
        if from == "lua" {
            scripts += 1;
            let is_keyless = words[0].eq_ignore_ascii_case("time");
            let is_at_home = slot.is_some() && slot == call;
            assert!(is_keyless || is_at_home, "not the slot of its script: {line}");
            continue;
        }
        call = slot;
        match words[0].to_ascii_lowercase().as_str() {
            "multi" => _ = transactions.insert(from, None),
            "exec" => _ = transactions.remove(&from),
            _ => {
                if let Some(first) = transactions.get_mut(&from) {
                    assert_eq!(*first.get_or_insert(slot), slot, "a slot too many: {line}");
                }
            }
        }
    }
    assert!(scripts > 100, "a game was played: {scripts}");
}

/// Who sent a command, and its words, out of a line of MONITOR:
/// `1700000000.000000 [0 127.0.0.1:4711] "get" "key"`.
fn monitored(line: &str) -> (String, Vec<String>) {
    let (head, rest) = line.split_once("] ").unwrap();
    let from = head.rsplit(' ').next().unwrap().to_owned();
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match (letter, &mut word) {
            ('"', None) => word = Some(String::new()),
            ('"', Some(_)) => words.extend(word.take()),
            ('\\', Some(word)) => word.extend(letters.next()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    (from, words)
}
