//! Groups of three players at tables on a cluster, who play on while masters fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bahay::ws::protocol::Message;
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::table::{Event, PhaseView, TableId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::{PACE, locate_table};
use crate::support::cluster::Cluster;
use crate::support::house::{PATIENCE, seat_guests};
use crate::support::live::TestLive;
use crate::support::play::join_tables;
use crate::support::waiting::wait_until;

/// Three players of one table, connected through the nodes in turn.
pub(super) struct Trio {
    pub(super) table: TableId,
    pub(super) clients: Vec<Client>,
    pub(super) plays: Vec<Play>,
}

pub(super) async fn trio(nodes: &[&str]) -> Trio {
    let servers = [0, 1, 2].map(|number| nodes[number % nodes.len()]);
    let (table, clients) = seat_guests(servers).await;
    let plays = join_tables(&clients).await;
    Trio { table, clients, plays }
}

/// Returns one trio for each master, in the order of the masters.
pub(super) async fn trios(cluster: &Cluster, house: &TestLive, nodes: &[&str]) -> Vec<Trio> {
    let mut trios = BTreeMap::new();
    while trios.len() < cluster.masters.len() {
        let trio = trio(nodes).await;
        let (_, master) = locate_table(cluster, house, trio.table).await;
        trios.entry(master).or_insert(trio);
    }
    trios.into_values().collect()
}

/// Players who play game after game until they have finished the number of games in `games`.
pub(super) struct PlayerGroup {
    players: JoinSet<()>,
    pub(super) seen: Vec<Arc<PlayerProgress>>,
    games: watch::Sender<u32>,
}

/// The progress of a table as one player sees it.
#[derive(Default)]
pub(super) struct PlayerProgress {
    version: AtomicU64,
    settled: AtomicU32,
    pub(super) refused: AtomicU32,
}

impl PlayerGroup {
    pub(super) fn start(plays: Vec<Play>) -> Self {
        Self::start_after_refusals(plays, 0)
    }

    /// Starts players of whose earlier commands this many were refused as unavailable. Any of these
    /// commands may still be executed, so a refusal of a later command is expected.
    pub(super) fn start_after_refusals(plays: Vec<Play>, refused: u32) -> Self {
        let (games, enough) = watch::channel(u32::MAX);
        let mut playing = Self { players: JoinSet::new(), seen: vec![], games };
        for play in plays {
            let refused = AtomicU32::new(refused);
            let seen = Arc::new(PlayerProgress { refused, ..PlayerProgress::default() });
            playing.seen.push(seen.clone());
            playing.players.spawn(play_on(play, seen, enough.clone()));
        }
        playing
    }

    /// Waits until every player has seen this many more versions and settled games than now.
    pub(super) async fn wait_for_progress(&self, versions: u64, games: u32) {
        let seen = |seen: &Arc<PlayerProgress>| {
            (seen.version.load(Ordering::Relaxed), seen.settled.load(Ordering::Relaxed))
        };
        let before: Vec<_> = self.seen.iter().map(seen).collect();
        wait_until("play continues", async || {
            self.seen
                .iter()
                .map(seen)
                .zip(&before)
                .all(|(now, before)| now.0 >= before.0 + versions && now.1 >= before.1 + games)
        })
        .await;
    }

    pub(super) fn refused(&self) -> u32 {
        self.seen.iter().map(|seen| seen.refused.load(Ordering::Relaxed)).sum()
    }

    /// Lets the current game end. Returns the number of games played.
    pub(super) async fn end(self) -> u32 {
        let settled = self.seen.iter().map(|seen| seen.settled.load(Ordering::Relaxed));
        let games = settled.max().unwrap_or(0) + 1;
        self.end_after(games).await
    }

    pub(super) async fn end_after(mut self, games: u32) -> u32 {
        self.games.send(games).unwrap();
        while let Some(ended) = timeout(PATIENCE, self.players.join_next()).await.unwrap() {
            ended.unwrap();
        }
        games
    }
}

/// Plays as a house bot does. An action that is refused as unavailable is retried; after that,
/// other refusals are accepted, because the first attempt may have been executed. A skipped version
/// is an error.
async fn play_on(mut play: Play, seen: Arc<PlayerProgress>, mut enough: watch::Receiver<u32>) {
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = None;
    loop {
        if seen.settled.load(Ordering::Relaxed) >= *enough.borrow_and_update() {
            return;
        }
        let view = play.view().unwrap();
        let seat = view.seat.unwrap();
        if let PhaseView::Preparing { game, ready, .. } = &view.phase {
            let game = *game;
            if !ready.contains(seat) && answered != Some((game, None)) {
                answered = Some((game, None));
                pace.tick().await;
                play.ready(game, None).await.unwrap();
            }
        }
        if let Some(question) = play.prompt().map(|prompt| (prompt.game, Some(prompt.number)))
            && answered != Some(question)
            && let Some(action) = play.advice()
        {
            answered = Some(question);
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
                answered = None;
            }
            Message::Refusal { code, detail, .. } => {
                let (version, view) = (play.version(), play.view());
                assert!(
                    seen.refused.load(Ordering::Relaxed) > 0,
                    "{code}: {detail}, after {answered:?}, at {version:?}: {view:?}"
                );
            }
            _ => {}
        }
        seen.version.store(play.version().unwrap(), Ordering::Relaxed);
    }
}

/// Opens connections and tries to join the client's table until it succeeds. Returns the
/// connection.
pub(super) async fn join_when_available(client: &Client) -> Play {
    let joining_table = async {
        loop {
            let mut play = client.play().await.unwrap();
            let joining = play.join().await.unwrap();
            match play.wait_for_answer(joining).await {
                Ok(_) => break play,
                Err(PlayError::Refused { code, .. }) if code == "unavailable" => {}
                Err(error) => panic!("{error}"),
            }
            sleep(PACE).await;
        }
    };
    timeout(PATIENCE, joining_table).await.unwrap()
}
