//! Which nodes live, who is connected through them, and what time the house has.
//!
//! All of it is kept for each shard by itself, beside the shard's tables: whatever becomes of the
//! server of one shard says nothing about the nodes, the players and the time of another.
//!
//! A node says every second that it lives, in one script that also tells it the shard's time and
//! gives it the nodes that have been silent for too long. Time is Redis' own within the script,
//! so no two clocks are compared. A silent node is taken by one node for some seconds; when that
//! one dies too, another takes it.
//!
//! Each joined connection is noted under its node, in a set of its own. An entry is taken out
//! only after its table has been told that the connection is gone, so a taker that dies in the
//! midst loses nothing. Being told twice does no harm: it is about exactly that connection.
//!
//! Bounds: at most `DEAD_AT_ONCE` nodes are taken in one call, at most
//! [`LiveStore::PRESENT_AT_ONCE`] connections are read in one.

use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};
use bahay_shell::{NodeId, Present};
use uuid::Uuid;

use crate::live_store::{LiveStore, Unavailable};

/// A node that says nothing for this long is dead.
const SILENCE_MS: u32 = 3_000;

/// When nobody says anything for longer than this, it was Redis that was away, or its clock was
/// set. Two beats that are late are not that.
pub const GAP_MS: u32 = 2_000;

/// A dead node that was taken and is not buried can be taken again after this.
const CLAIM_MS: u32 = 5_000;

const DEAD_AT_ONCE: u32 = 16;

/// What a node learns when it says that it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The node was taken for dead. It goes on under a new id.
    pub is_dead: bool,
    /// The house's time, as the tables of this shard have it.
    pub now: Timestamp,
    /// Nodes whose connections are the caller's to tell.
    pub taken: Vec<NodeId>,
}

impl LiveStore {
    /// Connections that [`LiveStore::present`] reads at once.
    pub const PRESENT_AT_ONCE: u32 = 64;

    /// Says to a shard that a node lives. `own` is its clock for that shard, once it has one.
    pub async fn beat(
        &self,
        shard: u16,
        node: NodeId,
        has_beaten: bool,
        own: Option<Timestamp>,
    ) -> Result<Beat, Unavailable> {
        let mut call = self.scripts.beat.prepare_invoke();
        for part in ["beats", "dead", "clock"] {
            call.key(self.shard_key(shard, part));
        }
        call.arg(node.to_string()).arg(u8::from(has_beaten));
        match own {
            Some(own) => call.arg(own.ms()),
            None => call.arg(""),
        };
        call.arg(SILENCE_MS).arg(GAP_MS).arg(CLAIM_MS).arg(DEAD_AT_ONCE);
        let (is_dead, now_ms, taken): (bool, i64, Vec<String>) =
            call.invoke_async(&mut self.commands.clone()).await?;
        let taken = taken.iter().filter_map(|node| node.parse().ok().map(NodeId)).collect();
        Ok(Beat { is_dead, now: Timestamp::from_ms(now_ms), taken })
    }

    /// Returns the time of a shard, which no node's clock is ahead of; `None` before the first beat, or
    /// where it cannot be told before the next one.
    pub async fn time(&self, shard: u16) -> Result<Option<Timestamp>, Unavailable> {
        let mut call = self.scripts.time.prepare_invoke();
        call.key(self.shard_key(shard, "clock")).arg(GAP_MS);
        let now_ms: String = call.invoke_async(&mut self.commands.clone()).await?;
        Ok(now_ms.parse().ok().map(Timestamp::from_ms))
    }

    /// A node that stops in good order, with nobody connected: no one is to look for it.
    pub async fn retire(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let mut call = redis::cmd("ZREM");
        call.arg(self.shard_key(shard, "beats")).arg(node.to_string());
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// A dead node whose connections have all been told is forgotten.
    pub async fn bury(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let mut call = redis::cmd("ZREM");
        call.arg(self.shard_key(shard, "dead")).arg(node.to_string());
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Notes connections to tables of a shard under a node.
    pub async fn note(
        &self,
        shard: u16,
        node: NodeId,
        present: &[Present],
    ) -> Result<(), Unavailable> {
        self.change_present("SADD", shard, node, present).await
    }

    /// Takes out connections that are gone and told.
    pub async fn forget(
        &self,
        shard: u16,
        node: NodeId,
        present: &[Present],
    ) -> Result<(), Unavailable> {
        self.change_present("SREM", shard, node, present).await
    }

    /// Some of the connections noted under a node, in no order; none when there are no more.
    pub async fn present(&self, shard: u16, node: NodeId) -> Result<Vec<Present>, Unavailable> {
        let mut call = redis::cmd("SRANDMEMBER");
        call.arg(self.present_key(shard, node)).arg(Self::PRESENT_AT_ONCE);
        let noted: Vec<String> = call.query_async(&mut self.commands.clone()).await?;
        noted.iter().map(|text| read(text)).collect()
    }

    async fn change_present(
        &self,
        command: &str,
        shard: u16,
        node: NodeId,
        present: &[Present],
    ) -> Result<(), Unavailable> {
        if present.is_empty() {
            return Ok(());
        }
        let mut call = redis::cmd(command);
        call.arg(self.present_key(shard, node));
        for present in present {
            call.arg(noted(present));
        }
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    pub(super) fn shard_key(&self, shard: u16, part: &str) -> String {
        format!("{}:{{s{shard}}}:{part}", self.prefix)
    }

    fn present_key(&self, shard: u16, node: NodeId) -> String {
        self.shard_key(shard, &format!("present:{node}"))
    }
}

/// How a connection is noted.
fn noted(present: &Present) -> String {
    format!("{} {} {}", present.connection, present.table, present.player)
}

fn read(text: &str) -> Result<Present, Unavailable> {
    let mut ids = text.split(' ').map(|id| id.parse::<Uuid>().ok());
    let mut id = || ids.next().flatten();
    match (id(), id(), id()) {
        (Some(connection), Some(table), Some(player)) => Ok(Present {
            table: TableId(table),
            player: PlayerId(player),
            connection: ConnectionId(connection),
        }),
        _ => Err(Unavailable::new("a noted connection cannot be read".into())),
    }
}
