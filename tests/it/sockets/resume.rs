//! Coming back: whatever breaks off, wherever it breaks off, and to whichever node the player
//! returns, the updates are those of somebody who was never away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bahay::client::{Client, PlayEvent, ReconnectingPlay, table_events};
use bahay::clock::Clock;
use bahay::ledger::{Ledger, LedgerOptions, LedgerTasks};
use bahay::tables::Tables;
use bahay::ws::protocol::{Command, Message, OpenPrompt, Tag};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{self, Key, Request, Stream};
use bahay_engine::game::{Game, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::table::{Clocks, ConnectionId, Event, PlayerId, TableId, TableView};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::player::{self, Bot, Stop};
use crate::support::house::{House, PATIENCE, joined};

type Events = Vec<Event<<AnyGame as Game>::Event>>;

/// What somebody in a player's seat sees who is never away.
#[derive(Clone, Debug)]
struct Seen {
    /// Empty for what the spectator was shown whole.
    events: Option<Events>,
    view: TableView<AnyGame>,
}

/// Watches a seat in the midst of the house, without any socket.
struct Spectator {
    /// By the tag of the line that was seen last.
    seen: Arc<Mutex<HashMap<Tag, Seen>>>,
    _ledger: LedgerTasks,
    _tasks: JoinSet<()>,
}

impl Spectator {
    async fn of(house: &House, table: TableId, player: PlayerId) -> Self {
        let (live, publications) = house.live.connect().await;
        let pool = house.database.pool().await;
        let (ledger, ledger_tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
        let tables = Tables::<AnyGame>::new(live, ledger, Clock::system(), pool);
        let mut tasks = JoinSet::new();
        tasks.spawn(tables.clone().handle_publications(publications));
        let connection = ConnectionId(Uuid::new_v4());
        let mut watch = tables.watch(table, connection, None).await.unwrap();
        let first = Seen { events: None, view: watch.table.view(Some(player)) };
        let viewer = watch.table.viewer(player);
        let first =
            [watch.at, watch.last_visible.point_for(viewer)].map(|at| (at.tag, first.clone()));
        let seen = Arc::new(Mutex::new(HashMap::from(first)));
        let filled = seen.clone();
        tasks.spawn(async move {
            while let Some(notice) = watch.notices.recv().await {
                let view = notice.table.view(Some(player));
                let viewer = notice.table.seat_of(player).map_or(Viewer::Public, Viewer::Seat);
                let events =
                    notice.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
                let events = (!notice.is_snapshot).then(|| events.collect());
                filled.lock().unwrap().insert(notice.at.tag, Seen { events, view });
            }
        });
        Self { seen, _ledger: ledger_tasks, _tasks: tasks }
    }

    /// All of it, once it has come to a line.
    async fn until(&self, tag: Tag) -> HashMap<Tag, Seen> {
        let there = async {
            loop {
                let seen = self.seen.lock().unwrap().clone();
                if seen.contains_key(&tag) {
                    return seen;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, there).await.expect("the spectator keeps up")
    }
}

fn below(dice: &mut Stream, limit: u32) -> u32 {
    match dice.draw(Request::Number(limit)) {
        chance::ChanceAnswer::Number(number) => number,
        chance::ChanceAnswer::Order(_) => unreachable!("a number was asked for"),
    }
}

/// What the player heard: the message, and the view after it.
struct Heard {
    message: Message<AnyGame>,
    view: TableView<AnyGame>,
}

/// Plays `games` games, and breaks off at random: after any message, in the midst of commands, and
/// while coming back.
async fn play_and_break_off(
    client: &Client,
    bases: &[String],
    dice: &mut Stream,
    games: usize,
) -> (Vec<Heard>, u64) {
    let mut steady = ReconnectingPlay::new(client.clone(), bases);
    let mut bot = Bot::default();
    let mut heard = Vec::new();
    let mut settled = 0;
    while settled < games {
        // Cut off before anything comes of a connection, too.
        let told = if below(dice, 12) == 0 {
            let wait = std::time::Duration::from_micros(u64::from(below(dice, 4_000)));
            match timeout(wait, steady.next()).await {
                Ok(told) => told.unwrap(),
                Err(_) => {
                    steady.break_connection();
                    continue;
                }
            }
        } else {
            timeout(PATIENCE, steady.next()).await.expect("something happens").unwrap()
        };
        assert_ne!(told, PlayEvent::Unseated);
        settled += table_events(&told).iter().filter(|event| is_settled(event)).count();
        if let PlayEvent::Table(message) = told {
            if matches!(message, Message::Snapshot { .. }) && is_between(steady.view()) {
                // What a snapshot skips may be the end of a game.
                settled += usize::from(below(dice, 2) == 0);
            }
            heard.push(Heard { message, view: steady.view().unwrap().clone() });
        }
        let acted = bot.answer(&mut steady).await.is_some();
        if below(dice, if acted { 3 } else { 6 }) == 0 {
            steady.break_connection();
        }
    }
    (heard, steady.connections())
}

fn is_settled<E>(event: &Event<E>) -> bool {
    matches!(event, Event::Settled { .. })
}

fn is_between(view: Option<&TableView<AnyGame>>) -> bool {
    use bahay_engine::table::PhaseView;
    view.is_some_and(|view| matches!(view.phase, PhaseView::Preparing { .. }))
}

fn compare(heard: &[Heard], seen: &HashMap<Tag, Seen>) -> (usize, usize) {
    let (mut updates, mut snapshots) = (0, 0);
    let mut last = None;
    for Heard { message, view } in heard {
        let (version, tag, prompt) = match message {
            Message::Snapshot { version, tag, prompt, .. } => {
                snapshots += 1;
                assert!(last.is_none_or(|last| *version >= last), "back to {version}");
                (*version, *tag, prompt)
            }
            Message::Update { version, tag, events, prompt, .. } => {
                updates += 1;
                assert_eq!(Some(*version), last.map(|last| last + 1), "a hole or a repetition");
                assert!(!events.is_empty(), "version {version} tells of nothing");
                if let Some(theirs) = &seen[tag].events {
                    assert_eq!(events, theirs, "version {version}");
                }
                (*version, *tag, prompt)
            }
            other => panic!("not of a table: {other:?}"),
        };
        let seen = &seen[&tag];
        assert_eq!(*view, seen.view, "version {version}");
        // Of several updates that resume only the last one has the prompt.
        let open = OpenPrompt::from_view(&seen.view);
        assert!(prompt.is_none() || *prompt == open, "version {version}");
        last = Some(version);
    }
    (updates, snapshots)
}

async fn check(seed: u8) {
    let clocks = Clocks { think_ms: 20, grace_ms: 1, ..Clocks::default() };
    let house = House::with_clocks(clocks).await;
    let (second, running) = house.node().await;
    let bases = vec![house.base.clone(), second.clone()];
    let (table, clients) = house.table().await;
    let spectator = Spectator::of(&house, table, clients[0].player()).await;
    let stop = Stop::default();
    let mut others = JoinSet::new();
    for client in &clients[1..] {
        let (client, bases, stop) = (client.clone(), bases.clone(), stop.clone());
        others.spawn(async move { player::play(&client, &bases, &stop).await });
    }
    let mut dice = Stream::new(Key(Hex([seed; 32])));
    let (heard, connections) = play_and_break_off(&clients[0], &bases, &mut dice, 4).await;
    stop.stop();
    // The others need not wait for the deadline. There may be no seat to leave any more.
    let _ = clients[0].leave().await;
    let last = heard.iter().rev().find_map(|heard| match heard.message {
        Message::Update { tag, .. } | Message::Snapshot { tag, .. } => Some(tag),
        _ => None,
    });
    let seen = spectator.until(last.unwrap()).await;
    let (updates, snapshots) = compare(&heard, &seen);
    println!("seed {seed}: {connections} connections, {updates} updates, {snapshots} snapshots");
    assert!(connections > 5, "seed {seed}: too few connections: {connections}");
    for played in others.join_all().await {
        assert_eq!(played.refused, [], "seed {seed}");
    }
    running.stop().await.unwrap();
    let report = bahay::ledger::audit::audit(&house.pool).await.unwrap();
    assert!(report.is_clean(), "seed {seed}: {report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_breaks_off_anywhere_sees_what_somebody_saw_who_never_did_1() {
    check(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_breaks_off_anywhere_sees_what_somebody_saw_who_never_did_2() {
    check(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_breaks_off_anywhere_sees_what_somebody_saw_who_never_did_3() {
    check(3).await;
}

/// The versions and kinds that answer a join from a version.
async fn answer_to_join(
    client: &Client,
    (from, tag): (u64, Option<Tag>),
    table: TableId,
) -> (usize, Vec<u64>) {
    let mut play = client.play().await.unwrap();
    let joining = play.send(|id| Command::Join { id, from: Some(from), tag, table: Some(table) });
    let joining = joining.await.unwrap();
    let (mut snapshots, mut updates) = (0, vec![]);
    loop {
        // The view is of no account here: what is asked for was made up.
        match timeout(PATIENCE, play.next_unapplied()).await.unwrap().unwrap() {
            Message::Snapshot { .. } => snapshots += 1,
            Message::Update { version, .. } => updates.push(version),
            Message::Ack { id, .. } if id == joining => return (snapshots, updates),
            Message::Refusal { code, .. } => panic!("{code}"),
            Message::Hello { .. }
            | Message::Said { .. }
            | Message::Ticket { .. }
            | Message::Invited { .. }
            | Message::Advice { .. }
            | Message::Closed { .. }
            | Message::Ack { .. } => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gap_is_closed_by_its_updates_or_by_one_snapshot() {
    let house = House::new().await;
    let (table, clients) = house.table().await;
    let stop = Stop::default();
    let mut playing = JoinSet::new();
    for client in clients.clone() {
        let (bases, stop) = (vec![house.base.clone()], stop.clone());
        playing.spawn(async move {
            player::play_and_count(&client, &bases, &stop.clone(), |_| stop.stop()).await
        });
    }
    assert_eq!(playing.join_all().await.len(), 3);
    // All have left; two sit down at the same table again, one after the other.
    assert_eq!(clients[1].seat("newbie").await.unwrap(), table, "its POT waits");
    let before = joined(&clients[1]).await;
    let before = (before.version().unwrap(), before.tag());
    clients[1].leave().await.unwrap();
    let client = &clients[0];
    assert_eq!(client.seat("newbie").await.unwrap(), table, "its POT waits");
    let known = joined(client).await;
    let (sat_at, tag) = (known.version().unwrap(), known.tag());
    drop(known);
    come_and_go(client, 5).await;
    let (snapshots, updates) = answer_to_join(client, (sat_at, tag), table).await;
    assert_eq!(snapshots, 0);
    assert_eq!(updates[0], sat_at + 1);
    assert!(updates.windows(2).all(|pair| pair[1] == pair[0] + 1), "{updates:?}");
    // Before the player sat there; of the future; of another table; of another history; of
    // whatever history.
    for (from, of) in [
        (before, table),
        ((1_000_000, tag), table),
        ((sat_at, tag), TableId(Uuid::new_v4())),
        ((sat_at, Some(Tag::default())), table),
        ((sat_at, None), table),
    ] {
        let (snapshots, updates) = answer_to_join(client, from, of).await;
        assert_eq!(snapshots, 1, "from {from:?}");
        assert!(updates.len() <= 2, "what came after the snapshot: {updates:?}");
    }
    come_and_go(client, 70).await;
    assert_eq!(answer_to_join(client, (sat_at, tag), table).await.0, 1, "the gap is too long");
}

/// What has gone from the journal, and is too long ago for a copy to have it, cannot be told again.
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_was_shortened_gives_a_snapshot() {
    let house = House::new().await;
    let client = house.guest("Althea").await;
    let table = client.seat("newbie").await.unwrap();
    come_and_go(&client, 20).await;
    let shortened = async {
        loop {
            let known = joined(&client).await;
            let from = (known.version().unwrap(), known.tag());
            drop(known);
            come_and_go(&client, 10).await;
            let (snapshots, updates) = answer_to_join(&client, from, table).await;
            if snapshots == 1 {
                break;
            }
            assert!(updates.len() >= 20, "{updates:?}");
        }
    };
    timeout(PATIENCE, shortened).await.expect("a journal is shortened between games");
}

/// Each time is a line in the table's journal.
async fn come_and_go(client: &Client, times: usize) {
    for _ in 0..times {
        joined(client).await;
    }
}
