//! The players, and the orders that they are given: how many are to play, and when all are to lose
//! their connection.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::board::Boards;
use super::nodes::Nodes;
use super::player::Player;
use super::room;
use super::tally::{Figure, Tally};
use super::{LoadError, Options};
use crate::client::{Client, ClientError};
use crate::entropy;

/// How long players have to go, at the end.
const END: Duration = Duration::from_secs(5);

/// Longer than a game takes, unless players think for very long.
const GAME: Duration = Duration::from_secs(60);

/// What all players share.
#[derive(Debug)]
pub(super) struct Crowd {
    pub(super) options: Options,
    pub(super) think_ms: u64,
    /// Players of a full table.
    pub(super) seats: u32,
    pub(super) tally: Tally,
    pub(super) boards: Boards,
    pub(super) nodes: Nodes,
    /// Those who may be on their way to a table at the same time.
    pub(super) arrivals: Arc<Semaphore>,
    /// Players who are joined to a table.
    playing: AtomicU64,
    /// Players who have a connection and no table.
    pub(super) standing: AtomicU64,
    /// What the door said when it did not let somebody in.
    pub(super) turned_away: OnceLock<String>,
}

/// What stands for everybody.
#[derive(Clone, Copy, Debug)]
struct Standing {
    /// Players from this number on are to go.
    players: u32,
    /// Whether those who are to go leave a game that goes on.
    at_once: bool,
    /// Whether players look for a table, or only connect.
    to_sit: bool,
    /// So often everybody was to lose the connection.
    storms: u64,
}

/// The orders as one player hears them.
#[derive(Clone, Debug)]
pub(super) struct Orders {
    standing: watch::Receiver<Standing>,
    storms: u64,
}

/// What a player is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Leave for good.
    Go,
    /// Break the connection off and come back.
    BreakOff,
}

impl Orders {
    pub(super) fn over_for(&self, number: u32) -> bool {
        number >= self.standing.borrow().players
    }

    /// Whether who is to go leaves a game that goes on.
    pub(super) fn at_once(&self) -> bool {
        self.standing.borrow().at_once
    }

    /// Whether there are to be tables.
    pub(super) fn to_sit(&self) -> bool {
        self.standing.borrow().to_sit
    }

    /// Waits until this player is to sit down, or to go.
    pub(super) async fn sitting(&mut self, number: u32) {
        let is_due = |standing: &Standing| standing.to_sit || number >= standing.players;
        // An end of all orders is an end of standing, too.
        let _ = self.standing.wait_for(is_due).await;
    }

    /// The next that concerns this player.
    pub(super) async fn next(&mut self, number: u32) -> Order {
        loop {
            {
                let standing = self.standing.borrow_and_update();
                if number >= standing.players {
                    return Order::Go;
                }
                if standing.storms > self.storms {
                    self.storms = standing.storms;
                    return Order::BreakOff;
                }
            }
            if self.standing.changed().await.is_err() {
                return Order::Go;
            }
        }
    }
}

impl Crowd {
    /// Something around the table did not work.
    pub(super) fn failed(&self, error: &ClientError) {
        match error {
            ClientError::Refused { status, code, .. } => {
                self.tally.error(&format!("{status}_{code}"));
                self.note_refusal(*status, code);
            }
            ClientError::Unreachable(_) => self.tally.error("unreachable"),
            ClientError::Offline(_) => self.tally.error("offline"),
            ClientError::Nonsense(what) => self.tally.fault(what.clone()),
        }
    }

    /// The first time that the door is closed to us is remembered.
    pub(super) fn note_refusal(&self, status: u16, code: &str) {
        if status == 429 {
            self.turned_away.get_or_init(|| code.to_owned());
        }
    }

    /// A move was acknowledged by this node.
    pub(super) fn acted(&self, taken: Duration, node: usize) {
        self.tally.moved(node);
        self.tally.took_usually(Figure::ActionToAck, taken, self.usual());
    }

    /// A move has reached every seat.
    pub(super) fn reached_all(&self, taken: Duration) {
        self.tally.took_usually(Figure::ActionToEvent, taken, self.usual());
    }

    /// From one move of a table to the next: there is always one who thinks.
    fn usual(&self) -> Duration {
        Duration::from_millis(self.think_ms)
    }

    pub(super) fn joined(&self) {
        self.playing.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn dropped_out(&self) {
        self.playing.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn playing(&self) -> u64 {
        self.playing.load(Ordering::Relaxed)
    }
}

/// The players as they are led.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) crowd: Arc<Crowd>,
    standing: watch::Sender<Standing>,
    players: JoinSet<()>,
    /// The number of the next one.
    next: u32,
}

impl Gathering {
    /// Nobody yet, but for one guest who tries each door.
    pub(super) async fn new(options: &Options) -> Result<Self, LoadError> {
        let mut first = None;
        for url in &options.urls {
            let device = format!("load-{}", entropy::uuid());
            first =
                Some(Client::guest(url, &device, "Load").await.map_err(|error| match error {
                    ClientError::Refused { status: 429, code, .. } => {
                        LoadError::TurnedAway { code }
                    }
                    error => LoadError::SignIn(error),
                })?);
        }
        let first = first.ok_or(LoadError::NoAddress)?;
        let seats = room::seats_of(&first, &options.room).await?.into();
        let nodes = Nodes::new(options, &first);
        let think_ms = options.mean_think_ms();
        let crowd = Arc::new(Crowd {
            options: options.clone(),
            think_ms,
            seats,
            tally: Tally::of_nodes(options.urls.len()),
            boards: Boards::default(),
            nodes,
            arrivals: Arc::new(Semaphore::new(options.arrivals.into())),
            playing: AtomicU64::new(0),
            standing: AtomicU64::new(0),
            turned_away: OnceLock::new(),
        });
        let (standing, _) =
            watch::channel(Standing { players: 0, at_once: false, to_sit: true, storms: 0 });
        Ok(Self { crowd, standing, players: JoinSet::new(), next: 0 })
    }

    /// So many are to play; those with the highest numbers go first.
    pub(super) fn set_players(&mut self, players: u32) {
        self.standing.send_modify(|standing| standing.players = players);
        if players < self.next {
            self.next = players;
        }
        while self.next < players {
            let orders = Orders {
                standing: self.standing.subscribe(),
                storms: self.standing.borrow().storms,
            };
            self.players.spawn(Player::new(self.crowd.clone(), self.next, orders).live());
            self.next += 1;
        }
        // Those who have gone are forgotten here.
        while self.players.try_join_next().is_some() {}
    }

    /// Whether players are to look for tables, or to stand by.
    pub(super) fn set_to_sit(&self, to_sit: bool) {
        self.standing.send_modify(|standing| standing.to_sit = to_sit);
    }

    /// Everybody loses the connection now.
    pub(super) fn storm(&self) {
        self.standing.send_modify(|standing| standing.storms += 1);
    }

    /// How many there are to be.
    pub(super) fn players(&self) -> u32 {
        self.next
    }

    /// Everybody goes when the own game is over, so that nothing is left that the AI plays on with.
    pub(super) async fn empty(&mut self) {
        self.set_players(0);
        let gone = async { while self.players.join_next().await.is_some() {} };
        if tokio::time::timeout(GAME, gone).await.is_err() {
            self.players.shutdown().await;
        }
    }

    /// Everybody goes.
    pub(super) async fn end(mut self) {
        self.standing.send_modify(|standing| standing.at_once = true);
        self.set_players(0);
        let gone = async { while self.players.join_next().await.is_some() {} };
        // Who does not go in time is dropped.
        let _ = tokio::time::timeout(END, gone).await;
    }
}
