//! Who is there: a node says every second that it lives, and notes the connections that it serves,
//! as `src/tables/presence.rs` does. What is to be noted and told, and in which order, the shell
//! knows.

use std::rc::Rc;

use bahay_engine::games::tongits::{Action, Illegal};
use bahay_engine::table::{ConnectionId, Input, TableId};

use crate::simulation::Mutation;
use crate::simulation::node::Node;
use crate::simulation::redis::{Reply, Request as RedisRequest};
use crate::{
    DeadNodeReaper, ReaperCall, WatchEnd, TableError, NodeId, ConnectionRecord, PlayerConnection, Request, UnavailableError, is_departure_known,
};

const BEAT_EVERY_MS: u64 = 1_000;

/// Departures that are told again at one beat.
const RETRIES_PER_BEAT: usize = 16;

/// There is one shard.
const SHARD: u16 = 0;

impl Node {
    /// Says that it lives, and looks who does not. Without waiting for the answer to the last
    /// time: a call that is lost takes two seconds to be known as such, and with the pause after
    /// it a node that lives would be taken for dead.
    pub(super) async fn run_heartbeats(self: Rc<Self>) {
        loop {
            if self.world.mutation() == Some(Mutation::WaitsForEachHeartbeat) {
                self.clone().send_heartbeat().await;
            } else {
                self.spawn(self.clone().send_heartbeat());
            }
            self.world.sleep(BEAT_EVERY_MS).await;
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
            // The last things that Redis was told before it went away may be lost.
            self.record_all_connections().await;
        }
        // An answer to a beat under a name that it has no more says nothing.
        if self.presence.borrow().identity(SHARD).0 == node {
            let new_node = || NodeId(self.world.new_id());
            if self.presence.borrow_mut().record_heartbeat(SHARD, is_dead, new_node) {
                self.spawn(self.clone().end_watches());
            }
        }
        for node in taken {
            let here = self.clone();
            self.spawn(async move {
                // What breaks off is left to others.
                let _ = here.reap_node(node).await;
            });
        }
        for present in self.presence.borrow().departed(SHARD, RETRIES_PER_BEAT) {
            let here = self.clone();
            self.spawn(async move { here.disconnect(present).await });
        }
    }

    /// It was taken for dead: its clients are to come again.
    async fn end_watches(self: Rc<Self>) {
        for slot in self.slots() {
            self.send_request(&slot, Request::CatchUp).await;
            slot.host.borrow_mut().end_watches(WatchEnd::NodeGone);
            self.drain_outputs(&slot);
        }
    }

    /// Tells the tables of a dead node's connections.
    async fn reap_node(self: &Rc<Self>, dead: NodeId) -> Result<(), UnavailableError> {
        let mut reaper = DeadNodeReaper::new();
        while let Some(call) = reaper.next_call() {
            match call {
                ReaperCall::ReadConnections => match self.call_redis(RedisRequest::Connections { node: dead }).await? {
                    Reply::Connections(present) => reaper.handle_connections(present),
                    other => unreachable!("{other:?} is no answer to a reading"),
                },
                ReaperCall::Disconnect(present) => {
                    let mut disconnected = Vec::new();
                    for present in present {
                        if is_departure_known(&self.submit_input(present.table, present.to_disconnect()).await) {
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

    /// Has a table decide on an input. Whoever it speaks of is noted before it, and forgotten after.
    pub(super) async fn submit(
        self: &Rc<Self>,
        table: TableId,
        input: Input<Action>,
    ) -> Result<u64, TableError<Illegal>> {
        let before = self.presence.borrow_mut().prepare_submit(table, SHARD, &input);
        if let Some((noted, earlier)) = before {
            self.record_connection(noted).await?;
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

    /// A connection of this node has ended, wherever it was.
    pub(super) async fn handle_connection_end(self: &Rc<Self>, connection: ConnectionId) {
        let here = self.presence.borrow().find(connection);
        if let Some(present) = here {
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

    async fn record_connection(self: &Rc<Self>, noted: ConnectionRecord) -> Result<(), UnavailableError> {
        let ConnectionRecord { node, present, .. } = noted;
        self.call_redis(RedisRequest::Note { node, present: vec![present] }).await?;
        Ok(())
    }

    async fn forget_connection(self: &Rc<Self>, noted: ConnectionRecord) {
        let ConnectionRecord { node, present, .. } = noted;
        // What stays noted is told once more when this node ends, which does no harm.
        let _ = self.call_redis(RedisRequest::Forget { node, present: vec![present] }).await;
    }
}
