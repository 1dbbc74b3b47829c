//! Who is connected through this node, and under which name each shard knows the node.
//!
//! A connection is noted, here and in live state, before its table hears of it, and forgotten after
//! its table has heard that it is gone. So whenever a process dies, every connection that a table
//! may believe in is noted somewhere. A table that could not be told is told later.
//!
//! A node that was taken for dead goes on under a new name, and ends its watches in that shard, so
//! that its clients come again and resume: it does not connect its players by itself, because it
//! cannot know who has come back elsewhere. The connections of a dead node are told by whoever took
//! it, in portions ([`DeadNodeReaper`]); each is forgotten after it was told, so who dies in the midst loses
//! nothing, and being told twice does no harm.

use std::collections::BTreeMap;
use std::fmt;

use bahay_engine::game::Refusal;
use bahay_engine::table::{ConnectionId, Input, PlayerId, TableId};
use uuid::Uuid;

use crate::failure::TableError;

/// A process, from its start or from the moment at which it learned that it was taken for dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub Uuid);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A connection that has joined a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerConnection {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
}

impl PlayerConnection {
    /// Of an input that speaks of a connection that has come.
    pub fn from_connect<A>(table: TableId, input: &Input<A>) -> Option<Self> {
        let Input::Connect { player, connection } = input else {
            return None;
        };
        Some(Self { table, player: *player, connection: *connection })
    }

    /// Of an input that speaks of a connection that has gone.
    pub fn from_disconnect<A>(table: TableId, input: &Input<A>) -> Option<Self> {
        let Input::Disconnect { player, connection } = input else {
            return None;
        };
        Some(Self { table, player: *player, connection: *connection })
    }

    /// What its table is told when it is gone.
    pub fn to_disconnect<A>(self) -> Input<A> {
        let Self { player, connection, .. } = self;
        Input::Disconnect { player, connection }
    }
}

/// A connection as it is noted in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRecord {
    pub shard: u16,
    pub node: NodeId,
    pub present: PlayerConnection,
}

/// A connection of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalConnection {
    pub present: PlayerConnection,
    pub shard: u16,
    /// The connection is gone and its table could not be told.
    is_departed: bool,
}

/// What a shard knows this node by.
#[derive(Clone, Copy, Debug)]
struct ShardIdentity {
    node: NodeId,
    /// Others have seen it there.
    has_beaten: bool,
}

/// Who this node is and who is connected through it.
#[derive(Debug)]
pub struct Presence {
    /// By shard.
    identities: Vec<ShardIdentity>,
    here: BTreeMap<ConnectionId, LocalConnection>,
}

impl Presence {
    pub fn new(node: NodeId, shards: usize) -> Self {
        let identity = ShardIdentity { node, has_beaten: false };
        Self { identities: vec![identity; shards], here: BTreeMap::new() }
    }

    /// What a shard knows this node by, and whether others have seen it there.
    pub fn identity(&self, shard: u16) -> (NodeId, bool) {
        let ShardIdentity { node, has_beaten } = self.identities[usize::from(shard)];
        (node, has_beaten)
    }

    /// A shard has taken a beat. Whether the node was taken for dead there: then it goes on under
    /// the new name, and whoever is connected there is to come again.
    pub fn record_heartbeat(&mut self, shard: u16, is_dead: bool, new_node: impl FnOnce() -> NodeId) -> bool {
        let identity = &mut self.identities[usize::from(shard)];
        if is_dead {
            *identity = ShardIdentity { node: new_node(), has_beaten: false };
            let here = self.here.values_mut().filter(|here| here.shard == shard);
            here.for_each(|here| here.is_departed = true);
        } else {
            identity.has_beaten = true;
        }
        is_dead
    }

    /// Before an input is submitted: what is to be noted, and then what is to be forgotten. What
    /// cannot be noted is not submitted.
    pub fn prepare_submit<A>(
        &mut self,
        table: TableId,
        shard: u16,
        input: &Input<A>,
    ) -> Option<(ConnectionRecord, Option<ConnectionRecord>)> {
        PlayerConnection::from_connect(table, input).map(|present| self.register(present, shard))
    }

    /// After an input that speaks of a connection that has gone: what is to be forgotten, if the
    /// table knows.
    pub fn finish_submit<I: Refusal>(
        &mut self,
        departed: Option<PlayerConnection>,
        shard: u16,
        submitted: &Result<u64, TableError<I>>,
    ) -> Option<ConnectionRecord> {
        let present = departed.filter(|_| is_departure_known(submitted))?;
        self.find(present.connection)?;
        Some(self.unregister(present, shard))
    }

    /// Before a table hears of a connection: how it is to be noted, and what of it is to be
    /// forgotten after that, because it was at another table.
    fn register(&mut self, present: PlayerConnection, shard: u16) -> (ConnectionRecord, Option<ConnectionRecord>) {
        let here = LocalConnection { present, shard, is_departed: false };
        let before = self.here.insert(present.connection, here);
        let before = before.filter(|before| before.present != present);
        let before = before.map(|before| self.to_record(before.present, before.shard));
        (self.to_record(present, shard), before)
    }

    /// The connection, if it is one of this node's.
    pub fn find(&self, connection: ConnectionId) -> Option<PlayerConnection> {
        self.here.get(&connection).map(|here| here.present)
    }

    /// After a table has heard that a connection is gone: what is to be forgotten.
    pub fn unregister(&mut self, present: PlayerConnection, shard: u16) -> ConnectionRecord {
        self.here.remove(&present.connection);
        self.to_record(present, shard)
    }

    /// A table could not be told that a connection is gone: it is told again at a beat.
    pub fn mark_departed(&mut self, connection: ConnectionId) {
        if let Some(here) = self.here.get_mut(&connection) {
            here.is_departed = true;
        }
    }

    /// The connections to a shard whose tables have yet to be told that they are gone.
    pub fn departed(&self, shard: u16, limit: usize) -> Vec<PlayerConnection> {
        let gone = self.here.values().filter(|here| here.is_departed && here.shard == shard);
        gone.map(|here| here.present).take(limit).collect()
    }

    /// Everybody who is connected to tables of a shard.
    pub fn connections(&self, shard: u16) -> Vec<PlayerConnection> {
        let here = self.here.values().filter(|here| here.shard == shard);
        here.map(|here| here.present).collect()
    }

    pub fn is_empty(&self, shard: u16) -> bool {
        self.here.values().all(|here| here.shard != shard)
    }

    fn to_record(&self, present: PlayerConnection, shard: u16) -> ConnectionRecord {
        ConnectionRecord { shard, node: self.identities[usize::from(shard)].node, present }
    }
}

/// Whether a table that was told of a connection's end knows now that it is gone, or need not know.
pub fn is_departure_known<I: Refusal>(submitted: &Result<u64, TableError<I>>) -> bool {
    match submitted {
        Ok(_) | Err(TableError::Rejected(_) | TableError::Missing | TableError::Halted) => true,
        Err(TableError::OtherVersion | TableError::Unavailable(_)) => false,
    }
}

/// A step of telling the tables of a dead node's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaperCall {
    /// Some of the connections that are noted under the node.
    ReadConnections,
    /// Tell each table; answer with those that know it now.
    Disconnect(Vec<PlayerConnection>),
    Forget(Vec<PlayerConnection>),
    /// Nobody is noted under the node any more.
    RemoveNode,
}

/// Tells the tables of a dead node's connections, in portions. A call that fails breaks it off, and
/// another node takes the dead one later.
#[derive(Debug)]
pub struct DeadNodeReaper {
    next: Option<ReaperCall>,
}

impl DeadNodeReaper {
    #[expect(clippy::new_without_default, reason = "it is the beginning of a task")]
    pub fn new() -> Self {
        Self { next: Some(ReaperCall::ReadConnections) }
    }

    /// The next call; when there is none, it is over.
    pub fn next_call(&mut self) -> Option<ReaperCall> {
        self.next.take()
    }

    /// The answer to `Read`.
    pub fn handle_connections(&mut self, present: Vec<PlayerConnection>) {
        let is_empty = present.is_empty();
        self.next = Some(if is_empty { ReaperCall::RemoveNode } else { ReaperCall::Disconnect(present) });
    }

    /// The answer to `Tell`. Whether some table was told; else it is left to others.
    pub fn handle_disconnected(&mut self, disconnected: Vec<PlayerConnection>) -> bool {
        let is_any = !disconnected.is_empty();
        self.next = is_any.then_some(ReaperCall::Forget(disconnected));
        is_any
    }

    /// The answer to `Forget`.
    pub fn handle_forgotten(&mut self) {
        self.next = Some(ReaperCall::ReadConnections);
    }
}
