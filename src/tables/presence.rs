//! This node among the others: it says every second that it lives, sets its clocks by the answer,
//! and tells the tables of dead nodes that their players are away.
//!
//! It does so for each shard by itself, because each may be on another server: one that is away
//! stops the clocks of its own tables, and nobody is given up over it elsewhere.
//!
//! Who is connected, what is to be noted before a table hears of it and what is forgotten after, and
//! how a dead node's connections are told, the shell says.
//!
//! The connection for publications is tried as often, so that it is made again in time.
//!
//! Bounds: a beat waits a second for its answer; [`AGAIN`] departures are told again at a beat.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_engine::table::Readable;
use bahay_engine::table::{ConnectionId, Input, TableId};
use bahay_shell::{
    DeadNodeReaper, ReaperCall, WatchEnd, TableError, NodeId, ConnectionRecord, Presence, PlayerConnection, Request, is_departure_known,
};
use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::clock::{Clock, SyncOutcome};
use crate::entropy;
use crate::live_store::{LiveStore, Unavailable};
use crate::tables::counts::count;
use crate::tables::{Submitted, Tables};

/// How often a node says that it lives: three times before it is taken for dead.
const BEAT: Duration = Duration::from_secs(1);

/// Departures that are told again at one beat.
const AGAIN: usize = 64;

/// Connections that are noted in one call when all are noted again.
const NOTED_AT_ONCE: usize = 500;

/// Who this node is and who is connected through it.
#[derive(Debug)]
pub(super) struct NodePresence {
    state: Mutex<Presence>,
    /// Shards to which it cannot say that it lives.
    down: AtomicU32,
}

impl NodePresence {
    pub(super) fn new(live: &LiveStore) -> Self {
        let presence = Presence::new(NodeId(entropy::uuid()), live.shards().len());
        Self { state: Mutex::new(presence), down: AtomicU32::new(0) }
    }

    /// Joins the house: the first beat to each shard, and clocks that show their time. A shard that
    /// does not answer is joined when it does; one at least must.
    pub(super) async fn join(live: &LiveStore) -> Result<(Self, Vec<Clock>), Unavailable> {
        let presence = Self::new(live);
        let beats = live.shards().map(async |shard| {
            let (node, _) = presence.state().identity(shard);
            let late = |_| Unavailable::new("a first beat was not answered in time".into());
            let beat = live.send_heartbeat(shard, node, false, None);
            let beat = timeout(live.response_timeout(), beat).await.map_err(late)??;
            presence.state().record_heartbeat(shard, false, || node);
            let clock = Clock::house(beat.now);
            // From here on it is asked for again and again.
            clock.record_request();
            Ok::<_, Unavailable>(clock)
        });
        let mut clocks = vec![];
        let mut joined = false;
        let mut missed = None;
        for clock in join_all(beats).await {
            joined |= clock.is_ok();
            clocks.push(clock.unwrap_or_else(|error| {
                missed = Some(error);
                Clock::unsynced_house()
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

    fn state(&self) -> MutexGuard<'_, Presence> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut cleanups = JoinSet::new();
        let down = &self.inner.presence.down;
        let mut is_down = false;
        loop {
            beats.tick().await;
            match self.beat(shard, &mut cleanups).await {
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
                let gone = self.inner.presence.state().departed(shard, AGAIN);
                let again = gone.into_iter().map(|gone| self.leave(gone));
                let _ = timeout(BEAT, join_all(again)).await;
            }
            while let Some(ended) = cleanups.try_join_next() {
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
            is_deaf = !matches!(timeout(BEAT, self.inner.live.ping_subscriptions()).await, Ok(Ok(())));
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
                let state = self.inner.presence.state();
                (state.identity(shard).0, state.is_empty(shard))
            };
            if is_empty && let Err(error) = self.inner.live.retire_node(shard, node).await {
                tracing::warn!(%node, shard, %error, "this node will be taken for dead");
            }
        });
        join_all(shards).await;
    }

    async fn beat(&self, shard: u16, cleanups: &mut JoinSet<()>) -> Result<(), Unavailable> {
        let (node, has_beaten) = self.inner.presence.state().identity(shard);
        let clock = self.inner.clock_in(shard);
        let asked = clock.record_request();
        let own = clock.is_synced().then(|| clock.now());
        let beat = self.inner.live.send_heartbeat(shard, node, has_beaten, own);
        let late = |_| Unavailable::new("a beat was not answered in time".into());
        let beat = timeout(BEAT, beat).await.map_err(late)??;
        match clock.record_time(beat.now, asked) {
            SyncOutcome::Near => {}
            SyncOutcome::Leapt(ms) => {
                tracing::warn!(ms, shard, "this node was away: its time leapt ahead");
            }
            SyncOutcome::Behind(ms) => tracing::warn!(ms, shard, "the time is behind: ours stands"),
        }
        let anew = || NodeId(entropy::uuid());
        let is_dead = self.inner.presence.state().record_heartbeat(shard, beat.is_dead, anew);
        if is_dead {
            tracing::warn!(%node, shard, "this node was taken for dead: clients are to come again");
            // Beside the beats: a table may be waiting for Redis.
            let tables = self.clone();
            cleanups.spawn(async move {
                for driver in tables.all() {
                    if tables.inner.live.shard_of(driver.id()) == shard {
                        // Where Redis was emptied, nobody is known any more, and no table is there.
                        driver.ask(&tables, Request::CatchUp).await;
                        driver.end_watches(WatchEnd::NodeGone);
                    }
                }
            });
        }
        for node in beat.taken {
            let tables = self.clone();
            cleanups.spawn(async move {
                if let Err(error) = tables.bury(shard, node).await {
                    tracing::warn!(%node, shard, %error, "a dead node is left to others");
                }
            });
        }
        Ok(())
    }

    /// Tells the tables of a dead node's connections, in portions.
    async fn bury(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let live = &self.inner.live;
        let mut reaper = DeadNodeReaper::new();
        while let Some(call) = reaper.next_call() {
            match call {
                ReaperCall::ReadConnections => reaper.handle_connections(live.read_present(shard, node).await?),
                ReaperCall::Disconnect(present) => {
                    let told = join_all(present.iter().map(|present| self.tell_gone(*present)));
                    let told = present.iter().zip(told.await).filter(|(_, told)| *told);
                    let told: Vec<_> = told.map(|(present, _)| *present).collect();
                    told.iter().for_each(|_| count(&self.inner.counts.dead_node_connections));
                    if !reaper.handle_disconnected(told) {
                        return Err(Unavailable::new("no table could be told".into()));
                    }
                }
                ReaperCall::Forget(present) => {
                    live.remove_present(shard, node, &present).await?;
                    reaper.handle_forgotten();
                }
                ReaperCall::RemoveNode => live.forget_dead_node(shard, node).await?,
            }
        }
        Ok(())
    }

    /// Has the table decide on an input and stores what it decided. Gives the table's version
    /// after it.
    pub async fn submit(&self, id: TableId, input: Input<G::Action>) -> Submitted<G, u64> {
        Ok(self.submit_noted(id, input).await?)
    }

    /// The same. Whoever the input speaks of is noted before it, and forgotten after.
    pub(crate) async fn submit_noted(
        &self,
        id: TableId,
        input: Input<G::Action>,
    ) -> Result<u64, TableError<G::Refusal>> {
        let shard = self.inner.live.shard_of(id);
        let before = match &input {
            // The only input that says that somebody has come.
            Input::Connect { .. } => self.inner.presence.state().prepare_submit(id, shard, &input),
            _ => None,
        };
        if let Some((noted, earlier)) = before {
            let unavailable = |error: Unavailable| bahay_shell::UnavailableError(error.into_reason());
            let ConnectionRecord { node, present, .. } = noted;
            self.inner.live.add_present(shard, node, &[present]).await.map_err(unavailable)?;
            if let Some(earlier) = earlier {
                self.forget(earlier).await;
            }
        }
        let gone = PlayerConnection::from_disconnect(id, &input);
        let submitted = self.decide(id, input).await;
        if gone.is_some() {
            let after = self.inner.presence.state().finish_submit(gone, shard, &submitted);
            if let Some(noted) = after {
                self.forget(noted).await;
            }
        }
        submitted
    }

    /// Whether the table knows now that this connection is gone, or need not know.
    async fn tell_gone(&self, present: PlayerConnection) -> bool {
        is_departure_known(&self.decide(present.table, present.to_disconnect()).await)
    }

    /// A connection of this node has ended, wherever it was.
    pub async fn ended(&self, connection: ConnectionId) {
        let here = self.inner.presence.state().find(connection);
        if let Some(present) = here {
            self.leave(present).await;
        }
    }

    async fn leave(&self, present: PlayerConnection) {
        let told = self.submit_noted(present.table, present.to_disconnect()).await;
        if !is_departure_known(&told) {
            self.inner.presence.state().mark_departed(present.connection);
        }
    }

    async fn forget(&self, noted: ConnectionRecord) {
        let ConnectionRecord { shard, node, present } = noted;
        if let Err(error) = self.inner.live.remove_present(shard, node, &[present]).await {
            // When this node ends, that table is told once more, which does no harm.
            tracing::debug!(connection = %present.connection, %error, "a noted connection stays");
        }
    }

    /// Notes again everybody who is connected to tables of a shard.
    async fn note_all(&self, shard: u16) {
        let (node, all) = {
            let state = self.inner.presence.state();
            (state.identity(shard).0, state.connections(shard))
        };
        for some in all.chunks(NOTED_AT_ONCE) {
            if let Err(error) = self.inner.live.add_present(shard, node, some).await {
                tracing::warn!(%error, "connections are not noted");
                return;
            }
        }
    }
}
