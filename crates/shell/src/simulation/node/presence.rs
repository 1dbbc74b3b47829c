//! The presence of a node: it sends heartbeats every second and records its connections, as
//! `src/tables/presence.rs` does. The shell decides on records, disconnects and their order.

use std::rc::Rc;

use bahay_engine::table::{ConnectionId, Input, TableId};

use crate::simulation::services::redis::{Reply, Request as RedisRequest};
use crate::simulation::{Mutation, SimulatedGame};
use crate::{
    ConnectionRecord, DeadNodeReaper, NodeId, PlayerConnection, ReaperCall, Request, TableError,
    UnavailableError, WatchEnd, is_departure_known,
};

use super::Node;

const HEARTBEAT_INTERVAL_MS: u64 = 1_000;

/// The number of disconnects that are retried per heartbeat.
const RETRIES_PER_BEAT: usize = 16;

/// The only shard.
const SHARD: u16 = 0;

impl<G: SimulatedGame> Node<G> {
    /// Sends heartbeats and reaps dead nodes. The next heartbeat does not wait for the last
    /// response: a lost call takes two seconds to time out, and with the pause after it a live node
    /// would be declared dead.
    pub(crate) async fn run_heartbeats(self: Rc<Self>) {
        loop {
            if self.world.has_mutation(Mutation::WaitsForEachHeartbeat) {
                self.clone().send_heartbeat().await;
            } else {
                self.spawn(self.clone().send_heartbeat());
            }
            self.world.sleep(HEARTBEAT_INTERVAL_MS).await;
        }
    }

    async fn send_heartbeat(self: Rc<Self>) {
        let (node, has_beaten) = self.presence.borrow().identity(SHARD);
        let was_down = self.is_down.get();
        let Ok(Reply::Beat { is_dead, taken }) =
            self.call_redis(RedisRequest::Beat { node, has_beaten }).await
        else {
            self.is_down.set(true);
            return;
        };
        self.is_down.set(false);
        if was_down {
            // Redis may have lost the last records before it went down.
            self.record_all_connections().await;
        }
        // A response to a heartbeat under a former identity is ignored.
        if self.presence.borrow().identity(SHARD).0 == node {
            let new_node = || NodeId(self.world.new_id());
            if self.presence.borrow_mut().record_heartbeat(SHARD, is_dead, new_node) {
                self.spawn(self.clone().end_watches());
            }
        }
        for node in taken {
            let this = self.clone();
            self.spawn(async move {
                // An aborted procedure is left to other nodes.
                let _ = this.reap_node(node).await;
            });
        }
        for present in self.presence.borrow().departed(SHARD, RETRIES_PER_BEAT) {
            let this = self.clone();
            self.spawn(async move { this.disconnect(present).await });
        }
    }

    /// Ends all watches of a node that was declared dead, so that its clients reconnect.
    async fn end_watches(self: Rc<Self>) {
        for slot in self.slots() {
            self.send_request(&slot, Request::CatchUp).await;
            slot.host.borrow_mut().end_watches(WatchEnd::NodeGone);
            self.drain_outputs(&slot);
        }
    }

    /// Disconnects a dead node's connections at their tables.
    async fn reap_node(self: &Rc<Self>, dead: NodeId) -> Result<(), UnavailableError> {
        let mut reaper = DeadNodeReaper::new();
        while let Some(call) = reaper.next_call() {
            match call {
                ReaperCall::ReadConnections => {
                    match self.call_redis(RedisRequest::Connections { node: dead }).await? {
                        Reply::Connections(present) => reaper.handle_connections(present),
                        other => unreachable!("{other:?} is no answer to a read"),
                    }
                }
                ReaperCall::Disconnect(present) => {
                    let mut disconnected = Vec::new();
                    for present in present {
                        if is_departure_known(
                            &self.submit_input(present.table, present.to_disconnect()).await,
                        ) {
                            self.world.totals.borrow_mut().reaped += 1;
                            disconnected.push(present);
                        }
                    }
                    if !reaper.handle_disconnected(disconnected) {
                        return Err(UnavailableError("no table accepted a disconnect".into()));
                    }
                }
                ReaperCall::Forget(present) => {
                    self.call_redis(RedisRequest::Forget { node: dead, present }).await?;
                    reaper.handle_forgotten();
                }
                ReaperCall::RemoveNode => {
                    self.call_redis(RedisRequest::Bury { node: dead }).await?;
                }
            }
        }
        Ok(())
    }

    /// Submits an input. The connection that it reports is recorded before, and its record removed
    /// after it.
    pub(crate) async fn submit(
        self: &Rc<Self>,
        table: TableId,
        input: Input<G::Action>,
    ) -> Result<u64, TableError<G::Refusal>> {
        let before = self.presence.borrow_mut().prepare_submit(table, SHARD, &input);
        if let Some((noted, earlier)) = before {
            let ConnectionRecord { node, present, .. } = noted;
            self.call_redis(RedisRequest::Note { node, present: vec![present] }).await?;
            if let Some(earlier) = earlier {
                self.forget_connection(earlier).await;
            }
        }
        let gone = PlayerConnection::from_disconnect(table, &input);
        let submitted = self.submit_input(table, input).await;
        let after = self.presence.borrow_mut().finish_submit(gone, SHARD, &submitted);
        if let Some(noted) = after {
            self.forget_connection(noted).await;
        }
        submitted
    }

    /// Handles the end of a connection of this node.
    pub(crate) async fn handle_connection_end(self: &Rc<Self>, connection: ConnectionId) {
        let connection = self.presence.borrow().find(connection);
        if let Some(present) = connection {
            self.disconnect(present).await;
        }
    }

    async fn disconnect(self: &Rc<Self>, present: PlayerConnection) {
        let submitted = self.submit(present.table, present.to_disconnect()).await;
        if !is_departure_known(&submitted) {
            self.presence.borrow_mut().mark_departed(present.connection);
        }
    }

    async fn record_all_connections(self: &Rc<Self>) {
        let (node, present) = {
            let presence = self.presence.borrow();
            (presence.identity(SHARD).0, presence.connections(SHARD))
        };
        let _ = self.call_redis(RedisRequest::Note { node, present }).await;
    }

    async fn forget_connection(self: &Rc<Self>, noted: ConnectionRecord) {
        let ConnectionRecord { node, present, .. } = noted;
        // A record that stays causes one more disconnect when this node ends, which is idempotent.
        let _ = self.call_redis(RedisRequest::Forget { node, present: vec![present] }).await;
    }
}
