//! Tests of resumption: at any point of interruption, and at any node to which the player returns,
//! the updates equal those of a player who was never disconnected.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bahay::ledger::LedgerTasks;
use bahay::ws::protocol::{Command, Message, OpenPrompt, Tag};
use bahay_client_tokio::{Client, PlayEvent, ReconnectingPlay, table_events};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{Game, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::table::{ConnectionId, Event, PlayerId, TableId, TableView};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::player::{self, Bot, Stop, spawn_players};
use crate::support::checks::audit_books;
use crate::support::house::{House, PATIENCE, ai_clocks, join_table};
use crate::support::waiting::wait_for;

type Events = Vec<Event<<AnyGame as Game>::Event>>;

/// The events and the view that a seat's player sees at one line without any interruption.
#[derive(Clone, Debug)]
struct ObservedState {
    /// `None` if the spectator received a snapshot instead of events.
    events: Option<Events>,
    view: TableView<AnyGame>,
}

/// An observer of a seat inside the house, without a socket.
struct Spectator {
    /// The observed states by the tag of the last visible line.
    seen: Arc<Mutex<HashMap<Tag, ObservedState>>>,
    _ledger: LedgerTasks,
    _tasks: JoinSet<()>,
}

impl Spectator {
    async fn watch_seat(house: &House, table: TableId, player: PlayerId) -> Self {
        let (tables, ledger_tasks, publications) = house.tables().await;
        let mut tasks = JoinSet::new();
        tasks.spawn(tables.clone().handle_publications(publications));
        let connection = ConnectionId(Uuid::new_v4());
        let mut watch = tables.watch(table, connection, None).await.unwrap();
        let first = ObservedState { events: None, view: watch.table.view(Some(player)) };
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
                filled.lock().unwrap().insert(notice.at.tag, ObservedState { events, view });
            }
        });
        Self { seen, _ledger: ledger_tasks, _tasks: tasks }
    }

    /// Waits for the line with this tag, and returns all states observed so far.
    async fn wait_for_line(&self, tag: Tag) -> HashMap<Tag, ObservedState> {
        wait_for("the spectator observes the line", async || {
            Some(self.seen.lock().unwrap().clone()).filter(|seen| seen.contains_key(&tag))
        })
        .await
    }
}

/// A message that the player received, and the view after it.
struct ReceivedMessage {
    message: Message<AnyGame>,
    view: TableView<AnyGame>,
}

/// Plays this number of games and interrupts the connection at random: after any message, between
/// commands, and while it reconnects. Returns the received messages and the number of connections.
async fn play_with_interruptions(
    client: &Client,
    bases: &[String],
    dice: &mut ChanceRng,
    games: usize,
) -> (Vec<ReceivedMessage>, u64) {
    let mut play = ReconnectingPlay::new(client.clone(), bases);
    let mut bot = Bot::default();
    let mut heard = Vec::new();
    let mut settled = 0;
    while settled < games {
        // Some interruptions also come before a connection has delivered anything.
        let event = if dice.below(12) == 0 {
            let wait = std::time::Duration::from_micros(dice.below(4_000) as u64);
            match timeout(wait, play.next()).await {
                Ok(event) => event.unwrap(),
                Err(_) => {
                    play.break_connection();
                    continue;
                }
            }
        } else {
            timeout(PATIENCE, play.next()).await.expect("an event arrives").unwrap()
        };
        assert!(!matches!(event, PlayEvent::Unseated(_)), "{event:?}");
        settled += table_events(&event).iter().filter(|event| is_settled(event)).count();
        if let PlayEvent::Table(message) = event {
            if matches!(message, Message::Snapshot { .. }) && is_between_games(play.view()) {
                // The skipped lines of a snapshot may contain the end of a game.
                settled += usize::from(dice.below(2) == 0);
            }
            heard.push(ReceivedMessage { message, view: play.view().unwrap().clone() });
        }
        let acted = bot.answer(&mut play).await.is_some();
        if dice.below(if acted { 3 } else { 6 }) == 0 {
            play.break_connection();
        }
    }
    (heard, play.connections())
}

fn is_settled<E>(event: &Event<E>) -> bool {
    matches!(event, Event::Settled { .. })
}

fn is_between_games(view: Option<&TableView<AnyGame>>) -> bool {
    use bahay_engine::table::PhaseView;
    view.is_some_and(|view| matches!(view.phase, PhaseView::Preparing { .. }))
}

fn compare_updates(
    heard: &[ReceivedMessage],
    seen: &HashMap<Tag, ObservedState>,
) -> (usize, usize) {
    let (mut updates, mut snapshots) = (0, 0);
    let mut last = None;
    for ReceivedMessage { message, view } in heard {
        let (version, tag, prompt) = match message {
            Message::Snapshot { version, tag, prompt, .. } => {
                snapshots += 1;
                let is_newer = last.is_none_or(|last| *version >= last);
                assert!(is_newer, "a snapshot goes back to version {version}");
                (*version, *tag, prompt)
            }
            Message::Update { version, tag, events, prompt, .. } => {
                updates += 1;
                let expected = last.map(|last| last + 1);
                assert_eq!(Some(*version), expected, "an update is missing or repeated");
                assert!(!events.is_empty(), "version {version} has no events");
                if let Some(observed) = &seen[tag].events {
                    assert_eq!(events, observed, "version {version}");
                }
                (*version, *tag, prompt)
            }
            other => panic!("the message does not belong to a table: {other:?}"),
        };
        let seen = &seen[&tag];
        assert_eq!(*view, seen.view, "version {version}");
        // Of several updates of a resumption, only the last one carries the prompt.
        let open = OpenPrompt::from_view(&seen.view);
        assert!(prompt.is_none() || *prompt == open, "version {version}");
        last = Some(version);
    }
    (updates, snapshots)
}

async fn check_resumption(seed: u8) {
    let house = House::with_clocks(ai_clocks(20)).await;
    let (second, running) = house.node().await;
    let bases = vec![house.base.clone(), second.clone()];
    let (table, clients) = house.table().await;
    let spectator = Spectator::watch_seat(&house, table, clients[0].player()).await;
    let stop = Stop::default();
    let others = spawn_players(&clients[1..], &bases, &stop);
    let mut dice = ChanceRng::new(Key(Hex([seed; 32])));
    let (heard, connections) = play_with_interruptions(&clients[0], &bases, &mut dice, 4).await;
    stop.stop();
    // Leaving spares the other players the wait for the deadline. The client may already have lost
    // its seat, so errors are ignored.
    let _ = clients[0].leave().await;
    let last = heard.iter().rev().find_map(|heard| match heard.message {
        Message::Update { tag, .. } | Message::Snapshot { tag, .. } => Some(tag),
        _ => None,
    });
    let seen = spectator.wait_for_line(last.unwrap()).await;
    let (updates, snapshots) = compare_updates(&heard, &seen);
    println!("seed {seed}: {connections} connections, {updates} updates, {snapshots} snapshots");
    assert!(connections > 5, "seed {seed}: too few connections: {connections}");
    for played in others.join_all().await {
        assert_eq!(played.refused, [], "seed {seed}");
    }
    running.stop().await.unwrap();
    audit_books(&house.pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_player_misses_and_repeats_no_update_1() {
    check_resumption(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_player_misses_and_repeats_no_update_2() {
    check_resumption(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_player_misses_and_repeats_no_update_3() {
    check_resumption(3).await;
}

/// Joins from a version, and returns the number of snapshots and the versions of the updates that
/// arrive before the answer.
async fn join_from(
    client: &Client,
    (from, tag): (u64, Option<Tag>),
    table: TableId,
) -> (usize, Vec<u64>) {
    let mut play = client.play().await.unwrap();
    let joining = play.send(|id| Command::Join { id, from: Some(from), tag, table: Some(table) });
    let joining = joining.await.unwrap();
    let (mut snapshots, mut updates) = (0, vec![]);
    loop {
        // The requested position may be invented, so the messages are not applied to a view.
        let message = timeout(PATIENCE, play.next_unapplied()).await.unwrap().unwrap();
        let is_answer = message.acked_command() == Some(joining);
        match message {
            Message::Snapshot { .. } => snapshots += 1,
            Message::Update { version, .. } => updates.push(version),
            Message::Refusal { code, .. } => panic!("{code}"),
            _ => {}
        }
        if is_answer {
            return (snapshots, updates);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gap_is_filled_by_its_updates_or_by_one_snapshot() {
    let (house, table, clients) = House::with_table().await;
    let stop = Stop::default();
    let mut playing = JoinSet::new();
    for client in clients.clone() {
        let (bases, stop) = (vec![house.base.clone()], stop.clone());
        playing.spawn(async move {
            player::play_and_count(&client, &bases, &stop.clone(), |_| stop.stop()).await
        });
    }
    assert_eq!(playing.join_all().await.len(), 3);
    // All players have left; two of them take seats at the same table again, one after the other.
    assert_eq!(clients[1].seat("newbie").await.unwrap(), table, "the table keeps its POT");
    let before = join_table(&clients[1]).await;
    let before = (before.version().unwrap(), before.tag());
    clients[1].leave().await.unwrap();
    let client = &clients[0];
    assert_eq!(client.seat("newbie").await.unwrap(), table, "the table keeps its POT");
    let known = join_table(client).await;
    let (sat_at, tag) = (known.version().unwrap(), known.tag());
    drop(known);
    reconnect(client, 5).await;
    let (snapshots, updates) = join_from(client, (sat_at, tag), table).await;
    assert_eq!(snapshots, 0);
    assert_eq!(updates[0], sat_at + 1);
    assert!(updates.windows(2).all(|pair| pair[1] == pair[0] + 1), "{updates:?}");
    // In order: a version before the player sat down, a future version, another table, another
    // history, and a version without a tag.
    for (from, table) in [
        (before, table),
        ((1_000_000, tag), table),
        ((sat_at, tag), TableId(Uuid::new_v4())),
        ((sat_at, Some(Tag::default())), table),
        ((sat_at, None), table),
    ] {
        let (snapshots, updates) = join_from(client, from, table).await;
        assert_eq!(snapshots, 1, "from {from:?}");
        assert!(updates.len() <= 2, "updates follow the snapshot: {updates:?}");
    }
    reconnect(client, 70).await;
    assert_eq!(join_from(client, (sat_at, tag), table).await.0, 1, "the gap is too long");
}

/// Lines that are no longer in the journal, and too old for a replica to hold them, cannot be sent
/// again.
#[tokio::test(flavor = "multi_thread")]
async fn resuming_from_before_a_shortened_journal_gives_a_snapshot() {
    let (_house, client) = House::with_guest().await;
    let table = client.seat("newbie").await.unwrap();
    reconnect(&client, 20).await;
    let shortened = async {
        loop {
            let known = join_table(&client).await;
            let from = (known.version().unwrap(), known.tag());
            drop(known);
            reconnect(&client, 10).await;
            let (snapshots, updates) = join_from(&client, from, table).await;
            if snapshots == 1 {
                break;
            }
            assert!(updates.len() >= 20, "{updates:?}");
        }
    };
    timeout(PATIENCE, shortened).await.expect("the journal is shortened between games");
}

/// Connects and disconnects this number of times; each connection appends a line to the table's
/// journal.
async fn reconnect(client: &Client, times: usize) {
    for _ in 0..times {
        join_table(client).await;
    }
}
