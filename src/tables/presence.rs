//! This node among the others: it says every second that it lives, sets its clocks by the answer,
//! and tells the tables of dead nodes that their players are away.
//!
//! It does so for each shard by itself, because each may be on another server: one that is away
//! stops the clocks of its own tables, and nobody is given up over it elsewhere.
//!
//! A connection is noted, here and in Redis, before its table hears of it, and forgotten after
//! its table has heard that it is gone. So whenever a process dies, every connection that a table
//! may believe in is noted somewhere. A table that could not be told is told later.
//!
//! A node that was paused for so long that it was taken for dead learns it from its next beat: it
//! goes on under a new id and ends its watches in that shard, so that its clients come again and
//! resume.
//!
//! The connection for publications is tried as often, so that it is made again in time.
//!
//! Bounds: a beat waits a second for its answer; [`AGAIN`] departures are told again at a beat.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::Readable;
use bahay_engine::table::{ConnectionId, Input};
use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::clock::{Clock, Moment, Told};
use crate::entropy;
use crate::live_store::{LiveStore, NodeId, Present, Unavailable};
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
pub(super) struct Presence {
    state: Mutex<State>,
    /// Shards to which it cannot say that it lives.
    down: AtomicU32,
}

#[derive(Debug)]
struct State {
    /// By shard.
    names: Vec<Name>,
    here: BTreeMap<ConnectionId, Here>,
}

/// What a shard knows this node by.
#[derive(Clone, Copy, Debug)]
struct Name {
    node: NodeId,
    /// Others have seen it there.
    has_beaten: bool,
}

#[derive(Clone, Copy, Debug)]
struct Here {
    present: Present,
    shard: u16,
    /// The connection is gone and its table could not be told.
    is_gone: bool,
}

impl State {
    fn name(&mut self, shard: u16) -> &mut Name {
        &mut self.names[usize::from(shard)]
    }
}

impl Presence {
    pub(super) fn new(live: &LiveStore) -> Self {
        let name = Name { node: NodeId(entropy::uuid()), has_beaten: false };
        let names = live.shards().map(|_| name).collect();
        let state = Mutex::new(State { names, here: BTreeMap::new() });
        Self { state, down: AtomicU32::new(0) }
    }

    /// Joins the house: the first beat to each shard, and clocks that show their time. A shard that
    /// does not answer is joined when it does; one at least must.
    pub(super) async fn join(live: &LiveStore) -> Result<(Self, Vec<Clock>), Unavailable> {
        let presence = Self::new(live);
        let beats = live.shards().map(async |shard| {
            let node = presence.state().name(shard).node;
            let late = |_| Unavailable::new("a first beat was not answered in time".into());
            let beat = live.beat(shard, node, false, None);
            let beat = timeout(live.response_timeout(), beat).await.map_err(late)??;
            presence.state().name(shard).has_beaten = true;
            Ok::<_, Unavailable>(Clock::house(beat.now))
        });
        let mut clocks = vec![];
        let mut joined = false;
        let mut missed = None;
        for clock in join_all(beats).await {
            joined |= clock.is_ok();
            clocks.push(clock.unwrap_or_else(|error| {
                missed = Some(error);
                Clock::untold_house()
            }));
        }
        match missed {
            Some(error) if !joined => return Err(error),
            Some(error) => {
                tracing::warn!(%error, "some tables cannot be played before their Redis answers");
            }
            None => {}
        }
        Ok((presence, clocks))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn node(&self, shard: u16) -> NodeId {
        self.state().name(shard).node
    }

    /// The connections to a shard whose tables have yet to be told that they are gone.
    fn gone(&self, shard: u16) -> Vec<Present> {
        let state = self.state();
        let gone = state.here.values().filter(|here| here.is_gone && here.shard == shard);
        gone.map(|here| here.present).take(AGAIN).collect()
    }

    /// Becomes another node to a shard. Whoever is connected there is to come again.
    fn start_anew(&self, shard: u16) {
        let mut state = self.state();
        *state.name(shard) = Name { node: NodeId(entropy::uuid()), has_beaten: false };
        let here = state.here.values_mut().filter(|here| here.shard == shard);
        here.for_each(|here| here.is_gone = true);
    }
}

impl<G: Readable> Tables<G> {
    /// Says that this node lives, until it is dropped.
    pub async fn keep_present(self) {
        let shards = self.inner.live.shards().map(|shard| self.keep_present_to(shard));
        tokio::join!(join_all(shards), self.keep_hearing());
    }

    async fn keep_present_to(&self, shard: u16) {
        // Not all of them in the same moment.
        let shards = self.inner.live.shards().len().try_into().unwrap_or(1);
        sleep(BEAT / shards * u32::from(shard)).await;
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut burials = JoinSet::new();
        let down = &self.inner.presence.down;
        let mut is_down = false;
        loop {
            beats.tick().await;
            match self.beat(shard, &mut burials).await {
                Ok(()) if is_down => {
                    is_down = false;
                    down.fetch_sub(1, Ordering::Relaxed);
                    // The last things that Redis was told before it went away may be lost.
                    self.note_all(shard).await;
                }
                Ok(()) => {}
                // Said once, for all shards that are away.
                Err(error) if !is_down => {
                    is_down = true;
                    if down.fetch_add(1, Ordering::Relaxed) == 0 {
                        tracing::warn!(shard, %error, "this node cannot say that it lives");
                    }
                }
                Err(_) => {}
            }
            if !is_down {
                // What does not pass in this time is left for the next beat.
                let gone = self.inner.presence.gone(shard);
                let again = gone.into_iter().map(|gone| self.leave(gone));
                let _ = timeout(BEAT, join_all(again)).await;
            }
            while let Some(ended) = burials.try_join_next() {
                if let Err(error) = ended {
                    tracing::error!(%error, "a dead node's connections were not all told");
                }
            }
        }
    }

    async fn keep_hearing(&self) {
        let mut looks = interval(BEAT);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_deaf = false;
        loop {
            looks.tick().await;
            let was_deaf = is_deaf;
            is_deaf = !matches!(timeout(BEAT, self.inner.live.can_hear()).await, Ok(Ok(())));
            if was_deaf && !is_deaf {
                tokio::spawn(self.clone().catch_up());
            }
        }
    }

    /// At the end: nobody is to look for a node that left nobody behind.
    pub async fn retire(&self) {
        // Where that takes long, tables publish for nobody.
        let _ = timeout(BEAT, self.stop_listening()).await;
        let shards = self.inner.live.shards().map(async |shard| {
            let (node, is_empty) = {
                let mut state = self.inner.presence.state();
                let is_empty = state.here.values().all(|here| here.shard != shard);
                (state.name(shard).node, is_empty)
            };
            if is_empty && let Err(error) = self.inner.live.retire(shard, node).await {
                tracing::warn!(%node, shard, %error, "this node will be taken for dead");
            }
        });
        join_all(shards).await;
    }

    async fn beat(&self, shard: u16, burials: &mut JoinSet<()>) -> Result<(), Unavailable> {
        let Name { node, has_beaten } = *self.inner.presence.state().name(shard);
        let clock = self.inner.clock_in(shard);
        let asked = Moment::now();
        let own = clock.is_told().then(|| clock.now());
        let beat = self.inner.live.beat(shard, node, has_beaten, own);
        let late = |_| Unavailable::new("a beat was not answered in time".into());
        let beat = timeout(BEAT, beat).await.map_err(late)??;
        match clock.tell(beat.now, asked) {
            Told::Near => {}
            Told::Leapt(ms) => {
                tracing::warn!(ms, shard, "this node was away: its time leapt ahead");
            }
            Told::Behind(ms) => tracing::warn!(ms, shard, "the time is behind: ours stands"),
        }
        if beat.is_dead {
            tracing::warn!(%node, shard, "this node was taken for dead: clients are to come again");
            self.inner.presence.start_anew(shard);
            // Beside the beats: a table's place may be held by who waits for Redis.
            let tables = self.clone();
            burials.spawn(async move {
                for slot in tables.all() {
                    if tables.inner.live.shard_of(slot.id()) == shard {
                        // Where Redis was emptied, nobody is known any more, and no table is there.
                        slot.catch_up(&tables.inner).await;
                        slot.end_watches(Ending::NodeGone).await;
                    }
                }
            });
        } else {
            self.inner.presence.state().name(shard).has_beaten = true;
        }
        for node in beat.taken {
            let tables = self.clone();
            burials.spawn(async move {
                if let Err(error) = tables.bury(shard, node).await {
                    tracing::warn!(%node, shard, %error, "a dead node is left to others");
                }
            });
        }
        Ok(())
    }

    /// Tells the tables of a dead node's connections, in portions.
    async fn bury(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        loop {
            let present = self.inner.live.present(shard, node).await?;
            if present.is_empty() {
                return self.inner.live.bury(shard, node).await;
            }
            let told = join_all(present.iter().map(|present| self.tell_gone(*present))).await;
            let told = present.iter().zip(told).filter(|(_, told)| *told);
            let told: Vec<_> = told.map(|(present, _)| *present).collect();
            if told.is_empty() {
                return Err(Unavailable::new("no table could be told".into()));
            }
            told.iter().for_each(|_| count(&self.inner.counts.told_away));
            self.inner.live.forget(shard, node, &told).await?;
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
        let shard = self.inner.live.shard_of(present.table);
        let (node, before) = {
            let mut state = self.inner.presence.state();
            let here = Here { present, shard, is_gone: false };
            (state.name(shard).node, state.here.insert(present.connection, here))
        };
        self.inner.live.note(shard, node, &[present]).await?;
        if let Some(before) = before.filter(|before| before.present != present) {
            let node = self.inner.presence.node(before.shard);
            let forgotten = self.inner.live.forget(before.shard, node, &[before.present]).await;
            // The server of another table's shard is nothing to this one.
            if let Err(error) = forgotten {
                tracing::debug!(connection = %present.connection, %error, "it stays noted");
            }
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
        let shard = self.inner.live.shard_of(present.table);
        let node = {
            let mut state = self.inner.presence.state();
            state.here.remove(&present.connection);
            state.name(shard).node
        };
        if let Err(error) = self.inner.live.forget(shard, node, &[present]).await {
            // When this node ends, that table is told once more, which does no harm.
            tracing::debug!(connection = %present.connection, %error, "a noted connection stays");
        }
    }

    /// Notes again everybody who is connected to tables of a shard.
    async fn note_all(&self, shard: u16) {
        let (node, all) = {
            let mut state = self.inner.presence.state();
            let here = state.here.values().filter(|here| here.shard == shard);
            let all: Vec<_> = here.map(|here| here.present).collect();
            (state.name(shard).node, all)
        };
        for some in all.chunks(NOTED_AT_ONCE) {
            if let Err(error) = self.inner.live.note(shard, node, some).await {
                tracing::warn!(%error, "connections are not noted");
                return;
            }
        }
    }
}
