//! Players at tables on a cluster: three at a time, who play on whatever the masters do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bahay::client::{Client, Play, PlayError};
use bahay::ws::protocol::Message;
use bahay_engine::table::{Event, PhaseView, TableId};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::{PACE, home};
use crate::support::cluster::{Cluster, until};
use crate::support::house::{PATIENCE, guest_at, joined};
use crate::support::live::TestLive;

/// Three players of one table, whose connections go through the nodes in turn.
pub(super) struct Trio {
    pub(super) table: TableId,
    pub(super) clients: Vec<Client>,
    pub(super) plays: Vec<Play>,
}

pub(super) async fn trio(nodes: &[&str]) -> Trio {
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
pub(super) async fn trios(cluster: &Cluster, house: &TestLive, nodes: &[&str]) -> Vec<Trio> {
    let mut trios = BTreeMap::new();
    while trios.len() < cluster.masters.len() {
        let trio = trio(nodes).await;
        let (_, master) = home(cluster, house, trio.table).await;
        trios.entry(master).or_insert(trio);
    }
    trios.into_values().collect()
}

/// Players who play on, game after game, until they are told that it is enough.
pub(super) struct Playing {
    players: JoinSet<()>,
    pub(super) seen: Vec<Arc<Seen>>,
    games: watch::Sender<u32>,
}

/// What a player has seen.
#[derive(Default)]
pub(super) struct Seen {
    version: AtomicU64,
    settled: AtomicU32,
    pub(super) refused: AtomicU32,
}

impl Playing {
    pub(super) fn start(plays: Vec<Play>) -> Self {
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
    pub(super) async fn sees_more(&self, versions: u64, games: u32) {
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

    pub(super) fn refused(&self) -> u32 {
        self.seen.iter().map(|seen| seen.refused.load(Ordering::Relaxed)).sum()
    }

    /// Lets the game end, and gives how many were played.
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
            | Message::Invited { .. }
            | Message::Advice { .. }
            | Message::Closed { .. }
            | Message::Said { .. }
            | Message::Snapshot { .. }
            | Message::Ack { .. } => {}
        }
        seen.version.store(play.version().unwrap(), Ordering::Relaxed);
    }
}

/// A connection that joins its table as soon as that is possible.
pub(super) async fn comes_to(client: &Client) -> Play {
    let comes = async {
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
    timeout(PATIENCE, comes).await.unwrap()
}
