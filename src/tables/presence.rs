//! This node among the others: it says every second that it lives, sets the house's clock by the
//! answer, and tells the tables of dead nodes that their players are away.
//!
//! A connection is noted, here and in Redis, before its table hears of it, and forgotten after
//! its table has heard that it is gone. So whenever a process dies, every connection that a table
//! may believe in is noted somewhere. A table that could not be told is told later.
//!
//! A node that was paused for so long that it was taken for dead learns it from its next beat: it
//! goes on under a new id and ends its watches, so that its clients come again and resume.
//!
//! Beside each beat the connection for publications is tried, so that it is made again in time.
//!
//! Bounds: a beat waits a second for its answer; [`AGAIN`] departures are told again at a beat.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::game::Game;
use bahay_engine::table::{ConnectionId, Input};
use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::clock::{Clock, Moment, Told};
use crate::entropy;
use crate::live::{Live, NodeId, Present, Unavailable};
use crate::tables::counts::count;
use crate::tables::watchers::Ending;
use crate::tables::{SubmitError, Tables};

/// How often a node says that it lives: three times before it is taken for dead.
const BEAT: Duration = Duration::from_secs(1);

/// Departures that are told again at one beat.
const AGAIN: usize = 64;

/// Connections that are noted in one call when all are noted again.
const NOTED_AT_ONCE: usize = 500;

/// Who this node is and who is connected through it.
#[derive(Debug)]
pub(super) struct Presence(Mutex<State>);

#[derive(Debug)]
struct State {
    node: NodeId,
    /// Others have seen this node.
    has_beaten: bool,
    here: BTreeMap<ConnectionId, Here>,
}

#[derive(Clone, Copy, Debug)]
struct Here {
    present: Present,
    /// The connection is gone and its table could not be told.
    is_gone: bool,
}

impl Presence {
    pub(super) fn new() -> Self {
        let node = NodeId(entropy::uuid());
        Self(Mutex::new(State { node, has_beaten: false, here: BTreeMap::new() }))
    }

    /// Joins the house: the first beat, and a clock that shows the house's time.
    pub(super) async fn join(live: &Live) -> Result<(Self, Clock), Unavailable> {
        let presence = Self::new();
        let node = presence.state().node;
        let clock = Clock::house(live.beat(node, false, None).await?.now);
        presence.state().has_beaten = true;
        Ok((presence, clock))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connections whose tables have yet to be told that they are gone.
    fn gone(&self) -> Vec<Present> {
        let state = self.state();
        let gone = state.here.values().filter(|here| here.is_gone);
        gone.map(|here| here.present).take(AGAIN).collect()
    }

    /// Becomes another node. Whoever is connected is to come again.
    fn start_anew(&self) {
        let mut state = self.state();
        state.node = NodeId(entropy::uuid());
        state.has_beaten = false;
        state.here.values_mut().for_each(|here| here.is_gone = true);
    }
}

impl<G: Game> Tables<G> {
    /// Says that this node lives, until it is dropped.
    pub async fn keep_present(self) {
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut burials = JoinSet::new();
        let (mut is_down, mut is_deaf) = (false, false);
        loop {
            beats.tick().await;
            let (beaten, heard) =
                tokio::join!(self.beat(&mut burials), timeout(BEAT, self.inner.live.can_hear()));
            let was_deaf = is_deaf;
            is_deaf = !matches!(heard, Ok(Ok(())));
            if was_deaf && !is_deaf {
                tokio::spawn(self.clone().catch_up());
            }
            match beaten {
                Ok(()) if is_down => {
                    is_down = false;
                    // The last things that Redis was told before it went away may be lost.
                    self.note_all().await;
                }
                Ok(()) => {}
                Err(error) => {
                    if !is_down {
                        tracing::warn!(%error, "this node cannot say that it lives");
                    }
                    is_down = true;
                }
            }
            if !is_down {
                // What does not pass in this time is left for the next beat.
                let again = self.inner.presence.gone().into_iter().map(|gone| self.leave(gone));
                let _ = timeout(BEAT, join_all(again)).await;
            }
            while let Some(ended) = burials.try_join_next() {
                if let Err(error) = ended {
                    tracing::error!(%error, "a dead node's connections were not all told");
                }
            }
        }
    }

    /// At the end: nobody is to look for a node that left nobody behind.
    pub async fn retire(&self) {
        let (node, is_empty) = {
            let state = self.inner.presence.state();
            (state.node, state.here.is_empty())
        };
        if is_empty && let Err(error) = self.inner.live.retire(node).await {
            tracing::warn!(%node, %error, "this node will be taken for dead");
        }
    }

    async fn beat(&self, burials: &mut JoinSet<()>) -> Result<(), Unavailable> {
        let (node, has_beaten) = {
            let state = self.inner.presence.state();
            (state.node, state.has_beaten)
        };
        let asked = Moment::now();
        let beat = self.inner.live.beat(node, has_beaten, Some(self.inner.clock.now()));
        let late = |_| Unavailable::new("a beat was not answered in time".into());
        let beat = timeout(BEAT, beat).await.map_err(late)??;
        match self.inner.clock.tell(beat.now, asked) {
            Told::Near => {}
            Told::Leapt(ms) => tracing::warn!(ms, "this node was away: its time leapt ahead"),
            Told::Behind(ms) => tracing::warn!(ms, "the house's time is behind: ours stands"),
        }
        if beat.is_dead {
            tracing::warn!(%node, "this node was taken for dead: its clients are to come again");
            self.inner.presence.start_anew();
            // Beside the beats: a table's place may be held by who waits for Redis.
            let tables = self.clone();
            burials.spawn(async move {
                for slot in tables.all() {
                    slot.end_watches(Ending::NodeGone).await;
                }
            });
        } else {
            self.inner.presence.state().has_beaten = true;
        }
        for node in beat.taken {
            let tables = self.clone();
            burials.spawn(async move {
                if let Err(error) = tables.bury(node).await {
                    tracing::warn!(%node, %error, "a dead node is left to others");
                }
            });
        }
        Ok(())
    }

    /// Tells the tables of a dead node's connections, in portions.
    async fn bury(&self, node: NodeId) -> Result<(), Unavailable> {
        loop {
            let present = self.inner.live.present(node).await?;
            if present.is_empty() {
                return self.inner.live.bury(node).await;
            }
            let told = join_all(present.iter().map(|present| self.tell_gone(*present))).await;
            let told = present.iter().zip(told).filter(|(_, told)| *told);
            let told: Vec<_> = told.map(|(present, _)| *present).collect();
            if told.is_empty() {
                return Err(Unavailable::new("no table could be told".into()));
            }
            told.iter().for_each(|_| count(&self.inner.counts.told_away));
            self.inner.live.forget(node, &told).await?;
        }
    }

    /// Whether the table knows now that this connection is gone, or need not know.
    async fn tell_gone(&self, present: Present) -> bool {
        let Present { table, player, connection } = present;
        match self.decide(table, Input::Disconnect { player, connection }).await {
            Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing | SubmitError::Halted) => {
                true
            }
            Err(SubmitError::OtherVersion | SubmitError::Unavailable(_)) => false,
        }
    }

    /// Before a table hears of a connection.
    pub(super) async fn arrive(&self, present: Present) -> Result<(), Unavailable> {
        let (node, before) = {
            let mut state = self.inner.presence.state();
            let here = Here { present, is_gone: false };
            (state.node, state.here.insert(present.connection, here))
        };
        self.inner.live.note(node, &[present]).await?;
        if let Some(before) = before.filter(|before| before.present != present) {
            self.inner.live.forget(node, &[before.present]).await?;
        }
        Ok(())
    }

    /// A connection of this node has ended, wherever it was.
    pub async fn ended(&self, connection: ConnectionId) {
        let here = self.inner.presence.state().here.get(&connection).copied();
        if let Some(here) = here {
            self.leave(here.present).await;
        }
    }

    /// Of a connection that its table knows to be gone.
    pub(super) async fn departed(&self, present: Present) {
        let is_here = self.inner.presence.state().here.contains_key(&present.connection);
        if is_here {
            self.forget(present).await;
        }
    }

    async fn leave(&self, present: Present) {
        if self.tell_gone(present).await {
            self.forget(present).await;
        } else if let Some(here) = self.inner.presence.state().here.get_mut(&present.connection) {
            here.is_gone = true;
        }
    }

    async fn forget(&self, present: Present) {
        let node = {
            let mut state = self.inner.presence.state();
            state.here.remove(&present.connection);
            state.node
        };
        if let Err(error) = self.inner.live.forget(node, &[present]).await {
            // When this node ends, that table is told once more, which does no harm.
            tracing::debug!(connection = %present.connection, %error, "a noted connection stays");
        }
    }

    /// Notes again everybody who is connected here.
    async fn note_all(&self) {
        let (node, all) = {
            let state = self.inner.presence.state();
            (state.node, state.here.values().map(|here| here.present).collect::<Vec<_>>())
        };
        for some in all.chunks(NOTED_AT_ONCE) {
            if let Err(error) = self.inner.live.note(node, some).await {
                tracing::warn!(%error, "connections are not noted");
                return;
            }
        }
    }
}
