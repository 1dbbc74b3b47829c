//! The presence of this node: sends a heartbeat every second, synchronises the clocks with its
//! responses, and reaps dead nodes by informing their tables that the players are away.
//!
//! Each shard has its own heartbeat, because it may be on another server: a shard that is down
//! stops the clocks of its own tables, and no node is declared dead elsewhere because of it.
//!
//! The shell decides what is recorded before a table learns of a connection, what is removed after
//! it, and how a dead node's connections are disconnected.
//!
//! The subscription connection is tested at the same interval, so that it is restored in time.
//!
//! Bounds: a heartbeat has a timeout of one second; [`RETRIES_PER_BEAT`] disconnects are retried
//! per heartbeat.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_bots::Ai;
use bahay_engine::table::{ConnectionId, Input, Readable, TableId};
use bahay_shell::{
    ConnectionRecord, DeadNodeReaper, NodeId, PlayerConnection, Presence, ReaperCall, Request,
    WatchEnd, is_departure_known,
};
use futures_util::future::join_all;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::clock::{Clock, SyncOutcome};
use crate::entropy;
use crate::live_store::{LiveStore, Unavailable};
use crate::tables::counts::increment;
use crate::tables::{TableResult, Tables, to_unavailable};

/// The interval of heartbeats. Three missing ones make a node dead.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// The number of disconnects that are retried per heartbeat.
const RETRIES_PER_BEAT: usize = 64;

/// The number of connections per call when all are recorded again.
const RECORDS_PER_CALL: usize = 500;

/// The identity and connections of this node.
#[derive(Debug)]
pub(super) struct NodePresence {
    state: Mutex<Presence>,
    /// The number of shards that do not respond to heartbeats.
    down: AtomicU32,
}

impl NodePresence {
    pub(super) fn new(live: &LiveStore) -> Self {
        let presence = Presence::new(NodeId(entropy::uuid()), live.shards().len());
        Self { state: Mutex::new(presence), down: AtomicU32::new(0) }
    }

    /// Joins the house: sends the first heartbeat to each shard and returns the synchronised
    /// clocks. A shard that does not respond is joined later; at least one must respond.
    pub(super) async fn join(live: &LiveStore) -> Result<(Self, Vec<Clock>), Unavailable> {
        let presence = Self::new(live);
        let beats = live.shards().map(async |shard| {
            let (node, _) = presence.state().identity(shard);
            let late = |_| Unavailable::new("a first beat was not answered in time".into());
            let beat = live.send_heartbeat(shard, node, false, None);
            let beat = timeout(live.response_timeout(), beat).await.map_err(late)??;
            presence.state().record_heartbeat(shard, false, || node);
            let clock = Clock::house(beat.now);
            // From here on, the time is requested at intervals.
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
                tracing::warn!(%error, "some tables are unavailable until their Redis answers");
            }
            None => {}
        }
        Ok((presence, clocks))
    }

    fn state(&self) -> MutexGuard<'_, Presence> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Ai + Readable> Tables<G> {
    /// Sends heartbeats until it is dropped.
    pub async fn run_heartbeats(self) {
        let shards = self.inner.live.shards().map(|shard| self.run_shard_heartbeats(shard));
        tokio::join!(join_all(shards), self.monitor_subscription());
    }

    async fn run_shard_heartbeats(&self, shard: u16) {
        // The heartbeats of the shards are spread over the interval.
        let shards = self.inner.live.shards().len().try_into().unwrap_or(1);
        sleep(HEARTBEAT_INTERVAL / shards * u32::from(shard)).await;
        let mut beats = interval(HEARTBEAT_INTERVAL);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut cleanups = JoinSet::new();
        let down = &self.inner.presence.down;
        let mut is_down = false;
        loop {
            beats.tick().await;
            match self.send_heartbeat(shard, &mut cleanups).await {
                Ok(()) if is_down => {
                    is_down = false;
                    down.fetch_sub(1, Ordering::Relaxed);
                    // Redis may have lost the last records before it went down.
                    self.record_all_connections(shard).await;
                }
                Ok(()) => {}
                // Logged once for all shards that are down.
                Err(error) if !is_down => {
                    is_down = true;
                    if down.fetch_add(1, Ordering::Relaxed) == 0 {
                        tracing::warn!(shard, %error, "this node's heartbeats fail");
                    }
                }
                Err(_) => {}
            }
            if !is_down {
                // Disconnects that take longer are left to the next heartbeat.
                let gone = self.inner.presence.state().departed(shard, RETRIES_PER_BEAT);
                let again = gone.into_iter().map(|gone| self.disconnect(gone));
                let _ = timeout(HEARTBEAT_INTERVAL, join_all(again)).await;
            }
            while let Some(ended) = cleanups.try_join_next() {
                if let Err(error) = ended {
                    tracing::error!(%error, "the reaper of a dead node failed");
                }
            }
        }
    }

    async fn monitor_subscription(&self) {
        let mut ticks = interval(HEARTBEAT_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_disconnected = false;
        loop {
            ticks.tick().await;
            let was_disconnected = is_disconnected;
            is_disconnected = !matches!(
                timeout(HEARTBEAT_INTERVAL, self.inner.live.ping_subscriptions()).await,
                Ok(Ok(()))
            );
            if was_disconnected && !is_disconnected {
                tokio::spawn(self.clone().catch_up());
            }
        }
    }

    /// Deregisters the node at shutdown if it has no connections, so that no other node reaps it.
    pub async fn retire(&self) {
        // Tables must not publish for a process that has ended, as they do after a timeout.
        let unsubscribing = self.request_all(|| Request::Unsubscribe);
        let _ = timeout(HEARTBEAT_INTERVAL, unsubscribing).await;
        let shards = self.inner.live.shards().map(async |shard| {
            let (node, is_empty) = {
                let state = self.inner.presence.state();
                (state.identity(shard).0, state.is_empty(shard))
            };
            if is_empty && let Err(error) = self.inner.live.retire_node(shard, node).await {
                tracing::warn!(%node, shard, %error, "this node could not deregister: it will be declared dead");
            }
        });
        join_all(shards).await;
    }

    async fn send_heartbeat(
        &self,
        shard: u16,
        cleanups: &mut JoinSet<()>,
    ) -> Result<(), Unavailable> {
        let (node, has_beaten) = self.inner.presence.state().identity(shard);
        let clock = self.inner.clock_in(shard);
        let requested_at = clock.record_request();
        let own = clock.is_synced().then(|| clock.now());
        let beat = self.inner.live.send_heartbeat(shard, node, has_beaten, own);
        let late = |_| Unavailable::new("a beat was not answered in time".into());
        let beat = timeout(HEARTBEAT_INTERVAL, beat).await.map_err(late)??;
        match clock.record_time(beat.now, requested_at) {
            SyncOutcome::Near => {}
            SyncOutcome::Leapt(ms) => {
                tracing::warn!(ms, shard, "this node was suspended: its clock jumped ahead");
            }
            SyncOutcome::Behind(ms) => {
                tracing::warn!(ms, shard, "the house's time is behind: the local clock stops")
            }
        }
        let new_node = || NodeId(entropy::uuid());
        let is_dead = self.inner.presence.state().record_heartbeat(shard, beat.is_dead, new_node);
        if is_dead {
            tracing::warn!(%node, shard, "this node was declared dead: its clients reconnect");
            // Runs concurrently with the heartbeats, because a table may wait for Redis.
            let tables = self.clone();
            cleanups.spawn(async move {
                for driver in tables.all_drivers() {
                    if tables.inner.live.shard_of(driver.id()) == shard {
                        // If Redis was emptied, every node is unknown and no table exists.
                        driver.request(&tables, Request::CatchUp).await;
                        driver.end_watches(WatchEnd::NodeGone);
                    }
                }
            });
        }
        for node in beat.taken {
            let tables = self.clone();
            cleanups.spawn(async move {
                if let Err(error) = tables.reap_node(shard, node).await {
                    tracing::warn!(%node, shard, %error, "reaping a dead node failed: another node retries");
                }
                let at = tables.inner.clock_in(shard).now();
                if let Err(error) = tables.inner.live.record_dead_node(node, at).await {
                    tracing::warn!(%node, %error, "a dead node is missing in the alerts");
                }
            });
        }
        Ok(())
    }

    /// Disconnects a dead node's connections at their tables, in batches.
    async fn reap_node(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let live = &self.inner.live;
        let mut reaper = DeadNodeReaper::new();
        while let Some(call) = reaper.next_call() {
            match call {
                ReaperCall::ReadConnections => {
                    reaper.handle_connections(live.read_present(shard, node).await?)
                }
                ReaperCall::Disconnect(present) => {
                    let accepted =
                        join_all(present.iter().map(|present| self.send_disconnect(*present)));
                    let accepted =
                        present.iter().zip(accepted.await).filter(|(_, accepted)| *accepted);
                    let accepted: Vec<_> = accepted.map(|(present, _)| *present).collect();
                    let counts = &self.inner.counts;
                    accepted.iter().for_each(|_| increment(&counts.dead_node_connections));
                    if !reaper.handle_disconnected(accepted) {
                        return Err(Unavailable::new("no table accepted a disconnect".into()));
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

    /// Decides on an input and stores its line. The connection that the input reports is recorded
    /// before, and its record removed after it. Returns the table's version after the line.
    pub async fn submit(&self, id: TableId, input: Input<G::Action>) -> TableResult<G, u64> {
        let shard = self.inner.live.shard_of(id);
        let before = match &input {
            // The only input that reports a new connection.
            Input::Connect { .. } => self.inner.presence.state().prepare_submit(id, shard, &input),
            _ => None,
        };
        if let Some((noted, earlier)) = before {
            let ConnectionRecord { node, present, .. } = noted;
            self.inner.live.add_present(shard, node, &[present]).await.map_err(to_unavailable)?;
            if let Some(earlier) = earlier {
                self.forget_connection(earlier).await;
            }
        }
        let gone = PlayerConnection::from_disconnect(id, &input);
        let submitted = self.decide(id, input).await;
        if gone.is_some() {
            let after = self.inner.presence.state().finish_submit(gone, shard, &submitted);
            if let Some(noted) = after {
                self.forget_connection(noted).await;
            }
        }
        submitted
    }

    /// Returns true if the table has learned that the connection has ended, or need not.
    async fn send_disconnect(&self, present: PlayerConnection) -> bool {
        is_departure_known(&self.decide(present.table, present.to_disconnect()).await)
    }

    /// Handles the end of a connection of this node.
    pub async fn handle_connection_end(&self, connection: ConnectionId) {
        let connection = self.inner.presence.state().find(connection);
        if let Some(present) = connection {
            self.disconnect(present).await;
        }
    }

    async fn disconnect(&self, present: PlayerConnection) {
        let submitted = self.submit(present.table, present.to_disconnect()).await;
        if !is_departure_known(&submitted) {
            self.inner.presence.state().mark_departed(present.connection);
        }
    }

    async fn forget_connection(&self, noted: ConnectionRecord) {
        let ConnectionRecord { shard, node, present } = noted;
        if let Err(error) = self.inner.live.remove_present(shard, node, &[present]).await {
            // The record causes one more disconnect when this node ends, which is idempotent.
            tracing::debug!(connection = %present.connection, %error, "a connection record is not removed");
        }
    }

    /// Records all connections to tables of a shard again.
    async fn record_all_connections(&self, shard: u16) {
        let (node, all) = {
            let state = self.inner.presence.state();
            (state.identity(shard).0, state.connections(shard))
        };
        for chunk in all.chunks(RECORDS_PER_CALL) {
            if let Err(error) = self.inner.live.add_present(shard, node, chunk).await {
                tracing::warn!(%error, "connections could not be recorded");
                return;
            }
        }
    }
}
