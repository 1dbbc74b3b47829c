//! Who is connected through this node, and under which name each shard knows the node.
//!
//! A connection is noted, here and in live state, before its table hears of it, and forgotten after
//! its table has heard that it is gone. So whenever a process dies, every connection that a table
//! may believe in is noted somewhere. A table that could not be told is told later.
//!
//! A node that was taken for dead goes on under a new name, and ends its watches in that shard, so
//! that its clients come again and resume: it does not connect its players by itself, because it
//! cannot know who has come back elsewhere. The connections of a dead node are told by whoever took
//! it, in portions ([`Burial`]); each is forgotten after it was told, so who dies in the midst loses
//! nothing, and being told twice does no harm.

use std::collections::BTreeMap;
use std::fmt;

use bahay_engine::game::Refusal;
use bahay_engine::table::{ConnectionId, Input, PlayerId, TableId};
use uuid::Uuid;

use crate::failure::Failure;

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
pub struct Present {
    pub table: TableId,
    pub player: PlayerId,
    pub connection: ConnectionId,
}

impl Present {
    /// Of an input that speaks of a connection that has come.
    pub fn come<A>(table: TableId, input: &Input<A>) -> Option<Self> {
        let Input::Connect { player, connection } = input else {
            return None;
        };
        Some(Self { table, player: *player, connection: *connection })
    }

    /// Of an input that speaks of a connection that has gone.
    pub fn gone<A>(table: TableId, input: &Input<A>) -> Option<Self> {
        let Input::Disconnect { player, connection } = input else {
            return None;
        };
        Some(Self { table, player: *player, connection: *connection })
    }

    /// What its table is told when it is gone.
    pub fn farewell<A>(self) -> Input<A> {
        let Self { player, connection, .. } = self;
        Input::Disconnect { player, connection }
    }
}

/// A connection as it is noted in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    pub shard: u16,
    pub node: NodeId,
    pub present: Present,
}

/// A connection of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    pub present: Present,
    pub shard: u16,
    /// The connection is gone and its table could not be told.
    is_gone: bool,
}

/// What a shard knows this node by.
#[derive(Clone, Copy, Debug)]
struct Name {
    node: NodeId,
    /// Others have seen it there.
    has_beaten: bool,
}

/// Who this node is and who is connected through it.
#[derive(Debug)]
pub struct Presence {
    /// By shard.
    names: Vec<Name>,
    here: BTreeMap<ConnectionId, Here>,
}

impl Presence {
    pub fn new(node: NodeId, shards: usize) -> Self {
        let name = Name { node, has_beaten: false };
        Self { names: vec![name; shards], here: BTreeMap::new() }
    }

    /// What a shard knows this node by, and whether others have seen it there.
    pub fn name(&self, shard: u16) -> (NodeId, bool) {
        let Name { node, has_beaten } = self.names[usize::from(shard)];
        (node, has_beaten)
    }

    /// A shard has taken a beat. Whether the node was taken for dead there: then it goes on under
    /// the new name, and whoever is connected there is to come again.
    pub fn beaten(&mut self, shard: u16, is_dead: bool, anew: impl FnOnce() -> NodeId) -> bool {
        let name = &mut self.names[usize::from(shard)];
        if is_dead {
            *name = Name { node: anew(), has_beaten: false };
            let here = self.here.values_mut().filter(|here| here.shard == shard);
            here.for_each(|here| here.is_gone = true);
        } else {
            name.has_beaten = true;
        }
        is_dead
    }

    /// Before an input is submitted: what is to be noted, and then what is to be forgotten. What
    /// cannot be noted is not submitted.
    pub fn before<A>(
        &mut self,
        table: TableId,
        shard: u16,
        input: &Input<A>,
    ) -> Option<(Noted, Option<Noted>)> {
        Present::come(table, input).map(|present| self.arrive(present, shard))
    }

    /// After an input that speaks of a connection that has gone: what is to be forgotten, if the
    /// table knows.
    pub fn after<I: Refusal>(
        &mut self,
        gone: Option<Present>,
        shard: u16,
        told: &Result<u64, Failure<I>>,
    ) -> Option<Noted> {
        let present = gone.filter(|_| is_told_gone(told))?;
        self.here(present.connection)?;
        Some(self.depart(present, shard))
    }

    /// Before a table hears of a connection: how it is to be noted, and what of it is to be
    /// forgotten after that, because it was at another table.
    fn arrive(&mut self, present: Present, shard: u16) -> (Noted, Option<Noted>) {
        let here = Here { present, shard, is_gone: false };
        let before = self.here.insert(present.connection, here);
        let before = before.filter(|before| before.present != present);
        let before = before.map(|before| self.noted(before.present, before.shard));
        (self.noted(present, shard), before)
    }

    /// The connection, if it is one of this node's.
    pub fn here(&self, connection: ConnectionId) -> Option<Present> {
        self.here.get(&connection).map(|here| here.present)
    }

    /// After a table has heard that a connection is gone: what is to be forgotten.
    pub fn depart(&mut self, present: Present, shard: u16) -> Noted {
        self.here.remove(&present.connection);
        self.noted(present, shard)
    }

    /// A table could not be told that a connection is gone: it is told again at a beat.
    pub fn tell_again(&mut self, connection: ConnectionId) {
        if let Some(here) = self.here.get_mut(&connection) {
            here.is_gone = true;
        }
    }

    /// The connections to a shard whose tables have yet to be told that they are gone.
    pub fn gone(&self, shard: u16, most: usize) -> Vec<Present> {
        let gone = self.here.values().filter(|here| here.is_gone && here.shard == shard);
        gone.map(|here| here.present).take(most).collect()
    }

    /// Everybody who is connected to tables of a shard.
    pub fn all(&self, shard: u16) -> Vec<Present> {
        let here = self.here.values().filter(|here| here.shard == shard);
        here.map(|here| here.present).collect()
    }

    pub fn is_empty(&self, shard: u16) -> bool {
        self.here.values().all(|here| here.shard != shard)
    }

    fn noted(&self, present: Present, shard: u16) -> Noted {
        Noted { shard, node: self.names[usize::from(shard)].node, present }
    }
}

/// Whether a table that was told of a connection's end knows now that it is gone, or need not know.
pub fn is_told_gone<I: Refusal>(told: &Result<u64, Failure<I>>) -> bool {
    match told {
        Ok(_) | Err(Failure::Rejected(_) | Failure::Missing | Failure::Halted) => true,
        Err(Failure::OtherVersion | Failure::Unavailable(_)) => false,
    }
}

/// A step of telling the tables of a dead node's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BurialCall {
    /// Some of the connections that are noted under the node.
    Read,
    /// Tell each table; answer with those that know it now.
    Tell(Vec<Present>),
    Forget(Vec<Present>),
    /// Nobody is noted under the node any more.
    Bury,
}

/// Tells the tables of a dead node's connections, in portions. A call that fails breaks it off, and
/// another node takes the dead one later.
#[derive(Debug)]
pub struct Burial {
    next: Option<BurialCall>,
}

impl Burial {
    #[expect(clippy::new_without_default, reason = "it is the beginning of a task")]
    pub fn new() -> Self {
        Self { next: Some(BurialCall::Read) }
    }

    /// The next call; when there is none, it is over.
    pub fn next_call(&mut self) -> Option<BurialCall> {
        self.next.take()
    }

    /// The answer to `Read`.
    pub fn read(&mut self, present: Vec<Present>) {
        let bury = present.is_empty();
        self.next = Some(if bury { BurialCall::Bury } else { BurialCall::Tell(present) });
    }

    /// The answer to `Tell`. Whether some table was told; else it is left to others.
    pub fn told(&mut self, told: Vec<Present>) -> bool {
        let is_told = !told.is_empty();
        self.next = is_told.then_some(BurialCall::Forget(told));
        is_told
    }

    /// The answer to `Forget`.
    pub fn forgot(&mut self) {
        self.next = Some(BurialCall::Read);
    }
}
