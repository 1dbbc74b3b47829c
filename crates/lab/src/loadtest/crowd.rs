//! The crowd of players and its control: the number of players, and mass disconnections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bahay_base::entropy;
use bahay_client::{Client, ClientError};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::board::Boards;
use super::counters::{Figure, RunCounters};
use super::nodes::Nodes;
use super::player::LoadPlayer;
use super::room;
use super::{LoadError, Options};

/// The time that players have to leave at the end of a run.
const SHUTDOWN_MAX: Duration = Duration::from_secs(5);

/// A bound on the duration of a game, unless players think for very long.
const GAME_MAX: Duration = Duration::from_secs(60);

/// The state that all players share.
#[derive(Debug)]
pub(super) struct Crowd {
    pub(super) options: Options,
    pub(super) think_ms: u64,
    /// The number of players at a full table.
    pub(super) seats: u32,
    pub(super) counters: RunCounters,
    pub(super) boards: Boards,
    pub(super) nodes: Nodes,
    /// Limits the number of players between sign-in and the join of a table.
    pub(super) arrivals: Arc<Semaphore>,
    /// The number of players that have joined a table.
    playing: AtomicU64,
    /// The number of players with a connection and no table.
    pub(super) unseated: AtomicU64,
    /// The code of the server's first rate-limit refusal.
    pub(super) rate_limited: OnceLock<String>,
}

/// The target state of all players.
#[derive(Clone, Copy, Debug)]
struct CrowdTarget {
    /// The wanted number of players; those with this number and above leave.
    players: u32,
    /// If true, players leave without finishing their game.
    at_once: bool,
    /// If true, players look for a table; otherwise they only connect.
    seek_tables: bool,
    /// The number of mass disconnections so far.
    storms: u64,
}

/// One player's receiver of orders.
#[derive(Clone, Debug)]
pub(super) struct OrderReceiver {
    target: watch::Receiver<CrowdTarget>,
    storms: u64,
}

/// An order to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Leave for good.
    Go,
    /// Disconnect and reconnect.
    BreakOff,
}

impl OrderReceiver {
    pub(super) fn is_dismissed(&self, number: u32) -> bool {
        number >= self.target.borrow().players
    }

    /// Returns true if a dismissed player leaves without finishing its game.
    pub(super) fn leaves_at_once(&self) -> bool {
        self.target.borrow().at_once
    }

    /// Returns true if players look for tables.
    pub(super) fn seeks_tables(&self) -> bool {
        self.target.borrow().seek_tables
    }

    /// Waits until this player is to look for a table, or to leave.
    pub(super) async fn wait_to_sit(&mut self, number: u32) {
        let is_due = |target: &CrowdTarget| target.seek_tables || number >= target.players;
        // An error means that the control was dropped, which ends the wait as well.
        let _ = self.target.wait_for(is_due).await;
    }

    /// Waits for the next order to this player.
    pub(super) async fn next_order(&mut self, number: u32) -> Order {
        loop {
            {
                let target = self.target.borrow_and_update();
                if number >= target.players {
                    return Order::Go;
                }
                if target.storms > self.storms {
                    self.storms = target.storms;
                    return Order::BreakOff;
                }
            }
            if self.target.changed().await.is_err() {
                return Order::Go;
            }
        }
    }
}

impl Crowd {
    /// Counts a failed request.
    pub(super) fn record_failure(&self, error: &ClientError) {
        match error {
            ClientError::Refused { status, code, .. } => {
                self.counters.count_error(&format!("{status}_{code}"));
                self.note_refusal(*status, code);
            }
            ClientError::Unreachable(_) => self.counters.count_error("unreachable"),
            ClientError::Offline(_) => self.counters.count_error("offline"),
            ClientError::Nonsense(what) => self.counters.add_fault(what.clone()),
        }
    }

    /// Remembers the first rate-limit refusal.
    pub(super) fn note_refusal(&self, status: u16, code: &str) {
        if status == 429 {
            self.rate_limited.get_or_init(|| code.to_owned());
        }
    }

    /// Records a move that this node acknowledged.
    pub(super) fn record_move(&self, taken: Duration, node: usize) {
        self.counters.count_move(node);
        self.counters.record_corrected_latency(Figure::ActionToAck, taken, self.move_interval());
    }

    /// Records the time in which a move reached every seat.
    pub(super) fn record_delivery(&self, taken: Duration) {
        self.counters.record_corrected_latency(Figure::ActionToEvent, taken, self.move_interval());
    }

    /// Returns the expected interval between two moves of a table, at which one player is always
    /// thinking.
    fn move_interval(&self) -> Duration {
        Duration::from_millis(self.think_ms)
    }

    pub(super) fn player_joined(&self) {
        self.playing.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn player_left(&self) {
        self.playing.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn playing(&self) -> u64 {
        self.playing.load(Ordering::Relaxed)
    }
}

/// The control of the crowd.
#[derive(Debug)]
pub(super) struct CrowdControl {
    pub(super) crowd: Arc<Crowd>,
    target: watch::Sender<CrowdTarget>,
    players: JoinSet<()>,
    /// The number of the next player.
    next: u32,
}

impl CrowdControl {
    /// Creates a crowd without players. One guest signs in at each address to check that it is
    /// reachable.
    pub(super) async fn new(options: &Options) -> Result<Self, LoadError> {
        let mut first = None;
        for url in &options.urls {
            let device = format!("load-{}", entropy::uuid());
            first =
                Some(Client::guest(url, &device, "Load").await.map_err(|error| match error {
                    ClientError::Refused { status: 429, code, .. } => {
                        LoadError::RateLimited { code }
                    }
                    error => LoadError::SignIn(error),
                })?);
        }
        let first = first.ok_or(LoadError::NoAddress)?;
        let seats = room::read_seat_count(&first, &options.room).await?.into();
        let nodes = Nodes::new(options, &first);
        let think_ms = options.mean_think_ms();
        let crowd = Arc::new(Crowd {
            options: options.clone(),
            think_ms,
            seats,
            counters: RunCounters::with_nodes(options.urls.len()),
            boards: Boards::default(),
            nodes,
            arrivals: Arc::new(Semaphore::new(options.arrivals.into())),
            playing: AtomicU64::new(0),
            unseated: AtomicU64::new(0),
            rate_limited: OnceLock::new(),
        });
        let (target, _) = watch::channel(CrowdTarget {
            players: 0,
            at_once: false,
            seek_tables: true,
            storms: 0,
        });
        Ok(Self { crowd, target, players: JoinSet::new(), next: 0 })
    }

    /// Sets the wanted number of players. Missing ones are started; those with the highest numbers
    /// leave first.
    pub(super) fn set_players(&mut self, players: u32) {
        self.target.send_modify(|target| target.players = players);
        if players < self.next {
            self.next = players;
        }
        while self.next < players {
            let orders = OrderReceiver {
                target: self.target.subscribe(),
                storms: self.target.borrow().storms,
            };
            self.players.spawn(LoadPlayer::new(self.crowd.clone(), self.next, orders).run());
            self.next += 1;
        }
        // Reaps players that have left.
        while self.players.try_join_next().is_some() {}
    }

    /// Sets whether players look for tables or only connect.
    pub(super) fn set_seek_tables(&self, seek_tables: bool) {
        self.target.send_modify(|target| target.seek_tables = seek_tables);
    }

    /// Disconnects every player now.
    pub(super) fn disconnect_all(&self) {
        self.target.send_modify(|target| target.storms += 1);
    }

    /// Returns the wanted number of players.
    pub(super) fn players(&self) -> u32 {
        self.next
    }

    /// Lets all players leave after their current game, so that no game is left to the AI.
    pub(super) async fn finish_games(&mut self) {
        self.set_players(0);
        let gone = async { while self.players.join_next().await.is_some() {} };
        if tokio::time::timeout(GAME_MAX, gone).await.is_err() {
            self.players.shutdown().await;
        }
    }

    /// Lets all players leave at once, and drops the crowd.
    pub(super) async fn shut_down(mut self) {
        self.target.send_modify(|target| target.at_once = true);
        self.set_players(0);
        let gone = async { while self.players.join_next().await.is_some() {} };
        // Players that do not leave in time are dropped.
        let _ = tokio::time::timeout(SHUTDOWN_MAX, gone).await;
    }
}
