//! The state that the crowd of players shares, and the orders that each player receives.

use std::sync::{Arc, OnceLock, RwLock};
use std::time::Duration;

use bahay_client_tokio::{Client, ClientError};
use tokio::sync::{Semaphore, watch};

use super::audit::ObservedGame;
use super::board::Boards;
use super::known_texts::KnownTexts;
use crate::loadtest::Options;
use crate::loadtest::counters::{Count, Figure, RunCounters};
use crate::loadtest::nodes::Nodes;

/// The state that all players share.
#[derive(Debug)]
pub(in crate::loadtest) struct Crowd {
    pub(in crate::loadtest) options: Options,
    pub(in crate::loadtest) think_ms: u64,
    /// The number of players at a full table.
    pub(in crate::loadtest) seats: u32,
    pub(in crate::loadtest) counters: RunCounters,
    pub(in crate::loadtest) boards: Boards,
    pub(in crate::loadtest) known: Arc<RwLock<KnownTexts>>,
    pub(in crate::loadtest) nodes: Nodes,
    /// Limits the number of players between sign-in and the join of a table.
    pub(in crate::loadtest) arrivals: Arc<Semaphore>,
    /// The players that have joined a table.
    pub(in crate::loadtest) playing: PlayerCount,
    /// The players with a connection and no table.
    pub(in crate::loadtest) unseated: PlayerCount,
    /// The code of the server's first rate-limit refusal.
    pub(in crate::loadtest) rate_limited: OnceLock<String>,
}

/// A number of players, each counted while it holds a token.
#[derive(Debug, Default)]
pub(in crate::loadtest) struct PlayerCount(Arc<()>);

impl PlayerCount {
    /// Counts a player until the token is dropped.
    pub(in crate::loadtest) fn add_player(&self) -> Arc<()> {
        self.0.clone()
    }

    pub(in crate::loadtest) fn players(&self) -> u64 {
        Arc::strong_count(&self.0) as u64 - 1
    }
}

/// The target state of all players.
#[derive(Clone, Copy, Debug)]
pub(in crate::loadtest) struct CrowdTarget {
    /// The wanted number of players; those with this number and above leave.
    pub(in crate::loadtest) players: u32,
    /// If true, players leave without finishing their game.
    pub(in crate::loadtest) at_once: bool,
    /// If true, players look for a table; otherwise they only connect.
    pub(in crate::loadtest) seek_tables: bool,
    /// The number of mass disconnections so far.
    pub(in crate::loadtest) storms: u64,
}

/// One player's receiver of orders.
#[derive(Clone, Debug)]
pub(in crate::loadtest) struct OrderReceiver {
    target: watch::Receiver<CrowdTarget>,
    storms: u64,
}

/// An order to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::loadtest) enum Order {
    /// Leave for good.
    Go,
    /// Disconnect and reconnect.
    BreakOff,
}

impl OrderReceiver {
    /// Creates a receiver that ignores the mass disconnections so far.
    pub(in crate::loadtest) fn new(target: &watch::Sender<CrowdTarget>) -> Self {
        let storms = target.borrow().storms;
        Self { target: target.subscribe(), storms }
    }

    pub(in crate::loadtest) fn is_dismissed(&self, number: u32) -> bool {
        number >= self.target.borrow().players
    }

    /// Returns true if a dismissed player leaves without finishing its game.
    pub(in crate::loadtest) fn leaves_at_once(&self) -> bool {
        self.target.borrow().at_once
    }

    /// Returns true if players look for tables.
    pub(in crate::loadtest) fn seeks_tables(&self) -> bool {
        self.target.borrow().seek_tables
    }

    /// Waits until this player is to look for a table, or to leave.
    pub(in crate::loadtest) async fn wait_to_sit(&mut self, number: u32) {
        let is_due = |target: &CrowdTarget| target.seek_tables || number >= target.players;
        // An error means that the control was dropped, which ends the wait as well.
        let _ = self.target.wait_for(is_due).await;
    }

    /// Waits for the next order to this player.
    pub(in crate::loadtest) async fn next_order(&mut self, number: u32) -> Order {
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
    pub(in crate::loadtest) fn new(options: &Options, seats: u32, nodes: Nodes) -> Self {
        Self {
            options: options.clone(),
            think_ms: options.mean_think_ms(),
            seats,
            counters: RunCounters::with_nodes(options.urls.len()),
            boards: Boards::default(),
            known: Arc::default(),
            nodes,
            arrivals: Arc::new(Semaphore::new(options.arrivals.into())),
            playing: PlayerCount::default(),
            unseated: PlayerCount::default(),
            rate_limited: OnceLock::new(),
        }
    }

    /// Counts a failed request.
    pub(in crate::loadtest) fn record_failure(&self, error: &ClientError) {
        match error {
            ClientError::Refused { status, code, .. } => {
                self.counters.count_error(&format!("{status}_{code}"));
                self.note_refusal(*status, code);
            }
            ClientError::Unreachable(_) | ClientError::Unavailable(_) => {
                self.counters.count_error("unreachable");
            }
            ClientError::Offline(_) => self.counters.count_error("offline"),
            ClientError::Nonsense(what) => self.counters.add_fault(what.clone()),
        }
    }

    /// Reads the record of a settled game and compares the observed game with it.
    pub(in crate::loadtest) async fn audit(self: Arc<Self>, client: Client, shown: ObservedGame) {
        match client.record(shown.game).await {
            Ok(record) => match shown.check(client.player(), &record.to_string()) {
                Ok(()) => self.counters.count(Count::Audited, 1),
                Err(why) => {
                    let fault = format!("game {} differs from its record: {why}", shown.game);
                    self.counters.add_fault(fault);
                }
            },
            // The player renews its tokens or leaves.
            Err(ClientError::Refused { status: 401, .. }) => {}
            Err(error) => self.record_failure(&error),
        }
    }

    /// Remembers the first rate-limit refusal.
    pub(in crate::loadtest) fn note_refusal(&self, status: u16, code: &str) {
        if status == 429 {
            self.rate_limited.get_or_init(|| code.to_owned());
        }
    }

    /// Records a move that this node acknowledged.
    pub(in crate::loadtest) fn record_move(&self, taken: Duration, node: usize) {
        self.counters.count_move(node);
        self.counters.record_corrected_latency(Figure::ActionToAck, taken, self.move_interval());
    }

    /// Records the time in which a move reached every seat.
    pub(in crate::loadtest) fn record_delivery(&self, taken: Duration) {
        self.counters.record_corrected_latency(Figure::ActionToEvent, taken, self.move_interval());
    }

    /// Returns the expected interval between two moves of a table, at which one player is always
    /// thinking.
    fn move_interval(&self) -> Duration {
        Duration::from_millis(self.think_ms)
    }
}
