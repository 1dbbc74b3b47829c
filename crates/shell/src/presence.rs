//! The connections of this node, and the node's identity in each shard.
//!
//! A connection is recorded, here and in live state, before its table learns of it, and its record
//! is removed after the table has learned of its end. If a process dies, every connection that a
//! table may believe in is therefore recorded. A disconnect that a table could not be sent is
//! retried.
//!
//! A node that was declared dead continues under a new identity and ends its watches in that shard,
//! so that its clients reconnect and resume. It does not reconnect its players itself, because they
//! may have connected to another node. The connections of a dead node are disconnected in batches
//! by the node that claimed it ([`DeadNodeReaper`]). Each record is removed after its table was
//! informed, so a reaper that dies loses nothing, and a repeated disconnect is idempotent.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::game::Refusal;
use bahay_engine::table::{ConnectionId, Input, PlayerId, TableId};
use uuid::Uuid;

use crate::failure::TableError;

bahay_engine::uuid_ids! {
    /// The identity of a process, from its start or from the moment at which it learned that it was
    /// declared dead.
    NodeId;
}

/// A connection that has joined a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerConnection {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
}

impl PlayerConnection {
    /// Returns the connection of an input that reports its end.
    pub fn from_disconnect<A>(table: TableId, input: &Input<A>) -> Option<Self> {
        let Input::Disconnect { player, connection } = input else {
            return None;
        };
        Some(Self { table, player: *player, connection: *connection })
    }

    /// Returns the input that reports the connection's end to its table.
    pub fn to_disconnect<A>(self) -> Input<A> {
        let Self { player, connection, .. } = self;
        Input::Disconnect { player, connection }
    }
}

/// A connection as recorded in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRecord {
    pub shard: u16,
    pub node: NodeId,
    pub present: PlayerConnection,
}

/// A connection of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LocalConnection {
    present: PlayerConnection,
    shard: u16,
}

/// The identity of this node in one shard.
#[derive(Clone, Copy, Debug)]
struct ShardIdentity {
    node: NodeId,
    /// The shard has accepted a heartbeat under this identity.
    has_beaten: bool,
}

/// The identities and connections of this node.
#[derive(Debug)]
pub struct Presence {
    /// Indexed by shard.
    identities: Vec<ShardIdentity>,
    local: BTreeMap<ConnectionId, LocalConnection>,
    /// The connections, with their shards, that have ended and whose tables could not be informed.
    /// Each heartbeat asks for those of its shard, so they are not searched among all connections.
    departed: BTreeSet<(u16, ConnectionId)>,
}

impl Presence {
    pub fn new(node: NodeId, shards: usize) -> Self {
        let identity = ShardIdentity { node, has_beaten: false };
        Self {
            identities: vec![identity; shards],
            local: BTreeMap::new(),
            departed: BTreeSet::new(),
        }
    }

    /// Returns the node's identity in a shard, and whether the shard has accepted a heartbeat under
    /// it.
    pub fn identity(&self, shard: u16) -> (NodeId, bool) {
        let ShardIdentity { node, has_beaten } = self.identities[usize::from(shard)];
        (node, has_beaten)
    }

    /// Records the response to a heartbeat. If the node was declared dead in that shard, it
    /// continues under a new identity, and its clients there must reconnect. Returns `is_dead`.
    pub fn record_heartbeat(
        &mut self,
        shard: u16,
        is_dead: bool,
        new_node: impl FnOnce() -> NodeId,
    ) -> bool {
        let identity = &mut self.identities[usize::from(shard)];
        if is_dead {
            *identity = ShardIdentity { node: new_node(), has_beaten: false };
            let connections = self.local.values().filter(|connection| connection.shard == shard);
            self.departed
                .extend(connections.map(|connection| (shard, connection.present.connection)));
        } else {
            identity.has_beaten = true;
        }
        is_dead
    }

    /// Registers the connection of an input that reports a start, before its table learns of it.
    /// Returns the record to add first, and then the record to remove if the connection was at
    /// another table. If the record cannot be added, the input must not be submitted.
    pub fn prepare_submit<A>(
        &mut self,
        table: TableId,
        shard: u16,
        input: &Input<A>,
    ) -> Option<(ConnectionRecord, Option<ConnectionRecord>)> {
        let Input::Connect { player, connection } = *input else {
            return None;
        };
        let present = PlayerConnection { table, player, connection };
        let before = self.local.insert(connection, LocalConnection { present, shard });
        if let Some(before) = before {
            self.departed.remove(&(before.shard, connection));
        }
        let before = before.filter(|before| before.present != present);
        let before = before.map(|before| self.to_record(before.present, before.shard));
        Some((self.to_record(present, shard), before))
    }

    /// Unregisters the connection of an input that reported an end, if the table has learned of it,
    /// and returns the record to remove.
    pub fn finish_submit<I: Refusal>(
        &mut self,
        departed: Option<PlayerConnection>,
        shard: u16,
        submitted: &Result<u64, TableError<I>>,
    ) -> Option<ConnectionRecord> {
        let present = departed.filter(|_| is_departure_known(submitted))?;
        let connection = self.local.remove(&present.connection)?;
        self.departed.remove(&(connection.shard, present.connection));
        Some(self.to_record(present, shard))
    }

    /// Returns the connection, if it is one of this node's.
    pub fn find(&self, connection: ConnectionId) -> Option<PlayerConnection> {
        self.local.get(&connection).map(|connection| connection.present)
    }

    /// Marks a connection as ended whose table could not be informed. The disconnect is retried
    /// with a later heartbeat.
    pub fn mark_departed(&mut self, connection: ConnectionId) {
        if let Some(&LocalConnection { shard, .. }) = self.local.get(&connection) {
            self.departed.insert((shard, connection));
        }
    }

    /// Returns up to `limit` ended connections of a shard whose tables are not informed yet.
    pub fn departed(&self, shard: u16, limit: usize) -> Vec<PlayerConnection> {
        let of_shard = (shard, ConnectionId(Uuid::nil()))..=(shard, ConnectionId(Uuid::max()));
        let departed = self.departed.range(of_shard).take(limit);
        departed.filter_map(|(_, connection)| self.find(*connection)).collect()
    }

    /// Returns all connections to tables of a shard.
    pub fn connections(&self, shard: u16) -> Vec<PlayerConnection> {
        self.in_shard(shard).map(|connection| connection.present).collect()
    }

    pub fn is_empty(&self, shard: u16) -> bool {
        self.in_shard(shard).next().is_none()
    }

    fn in_shard(&self, shard: u16) -> impl Iterator<Item = &LocalConnection> {
        self.local.values().filter(move |connection| connection.shard == shard)
    }

    fn to_record(&self, present: PlayerConnection, shard: u16) -> ConnectionRecord {
        ConnectionRecord { shard, node: self.identities[usize::from(shard)].node, present }
    }
}

/// Returns true if a table that was sent a disconnect has learned of it, or need not.
pub fn is_departure_known<I: Refusal>(submitted: &Result<u64, TableError<I>>) -> bool {
    match submitted {
        Ok(_) | Err(TableError::Rejected(_) | TableError::Missing | TableError::Halted) => true,
        Err(TableError::OtherVersion | TableError::Unavailable(_)) => false,
    }
}

/// A step of reaping a dead node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaperCall {
    /// Reads a batch of the connections recorded under the node.
    ReadConnections,
    /// Disconnects each connection at its table. Answered with those whose tables have learned of
    /// it.
    Disconnect(Vec<PlayerConnection>),
    Forget(Vec<PlayerConnection>),
    /// Removes the node, which has no recorded connections left.
    RemoveNode,
}

/// The procedure of disconnecting a dead node's connections in batches. A failed call aborts it,
/// and another node claims the dead one later.
#[derive(Debug)]
pub struct DeadNodeReaper {
    next: Option<ReaperCall>,
}

impl DeadNodeReaper {
    #[expect(clippy::new_without_default, reason = "a new procedure is not an empty value")]
    pub fn new() -> Self {
        Self { next: Some(ReaperCall::ReadConnections) }
    }

    /// Returns the next call, or `None` when the procedure is finished.
    pub fn next_call(&mut self) -> Option<ReaperCall> {
        self.next.take()
    }

    /// Handles the result of `ReadConnections`.
    pub fn handle_connections(&mut self, present: Vec<PlayerConnection>) {
        let is_empty = present.is_empty();
        self.next =
            Some(if is_empty { ReaperCall::RemoveNode } else { ReaperCall::Disconnect(present) });
    }

    /// Handles the result of `Disconnect`. Returns true if at least one table was informed;
    /// otherwise the rest is left to other nodes.
    pub fn handle_disconnected(&mut self, disconnected: Vec<PlayerConnection>) -> bool {
        let is_any = !disconnected.is_empty();
        self.next = is_any.then_some(ReaperCall::Forget(disconnected));
        is_any
    }

    /// Handles the result of `Forget`.
    pub fn handle_forgotten(&mut self) {
        self.next = Some(ReaperCall::ReadConnections);
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::{ConnectionId, Input, PlayerId, TableId};
    use uuid::Uuid;

    use super::{NodeId, PlayerConnection, Presence};

    fn connection(number: u128) -> PlayerConnection {
        PlayerConnection {
            table: TableId(Uuid::from_u128(1)),
            player: PlayerId(Uuid::from_u128(number)),
            connection: ConnectionId(Uuid::from_u128(number)),
        }
    }

    /// Returns the presence of a node with three connections: two in shard 0, one in shard 1.
    fn presence() -> Presence {
        let mut presence = Presence::new(NodeId(Uuid::from_u128(9)), 2);
        for (number, shard) in [(1, 0), (2, 0), (3, 1)] {
            connect(&mut presence, number, shard);
        }
        presence
    }

    fn connect(presence: &mut Presence, number: u128, shard: u16) {
        let PlayerConnection { table, player, connection } = connection(number);
        let input: Input<()> = Input::Connect { player, connection };
        presence.prepare_submit(table, shard, &input);
    }

    #[test]
    fn ended_connections_are_listed_by_shard_until_they_return() {
        let mut presence = presence();
        assert_eq!(presence.departed(0, 9), []);
        for number in [2, 1, 3, 4] {
            presence.mark_departed(connection(number).connection);
        }
        assert_eq!(presence.departed(0, 9), [connection(1), connection(2)]);
        assert_eq!(presence.departed(0, 1), [connection(1)]);
        assert_eq!(presence.departed(1, 9), [connection(3)]);
        connect(&mut presence, 1, 0);
        assert_eq!(presence.departed(0, 9), [connection(2)]);
    }

    #[test]
    fn all_connections_of_a_shard_end_when_its_node_is_declared_dead() {
        let mut presence = presence();
        assert!(presence.record_heartbeat(0, true, || NodeId(Uuid::from_u128(8))));
        assert_eq!(presence.departed(0, 9), [connection(1), connection(2)]);
        assert_eq!(presence.departed(1, 9), []);
    }
}
