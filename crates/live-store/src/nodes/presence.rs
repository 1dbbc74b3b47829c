//! Presence: the live nodes, the connections of players at each, and the time of the house.
//!
//! All of it is kept for each shard separately, beside the shard's tables: a failure of the server
//! of one shard does not affect the nodes, players and time of another.
//!
//! A node sends a heartbeat every second, in one script that also returns the shard's time and
//! claims the nodes that have been silent for too long. The script uses the time of Redis, so no
//! two clocks are compared. A silent node is claimed by one node for some seconds; if that node
//! dies too, another claims it.
//!
//! Each joined connection is stored under its node, in a set of its own. An entry is removed only
//! after its table has received the disconnection, so a claimer that dies in between loses nothing.
//! A repeated disconnection is harmless, because it names exactly that connection.
//!
//! Bounds: at most `DEAD_AT_ONCE` nodes are claimed in one call, and at most
//! [`LiveStore::PRESENT_AT_ONCE`] connections are read in one.

use bahay_engine::table::{ConnectionId, PlayerId, TableId, Timestamp};
use bahay_shell::{NodeId, PlayerConnection};
use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::{LiveStore, Script, Unavailable, script, text_or_empty};

static BEAT: Script = script!("beat.lua");
static SILENT: Script = script!("silent.lua");
static TIME: Script = script!("time.lua");

/// The time without a heartbeat after which a node is dead, in milliseconds.
const SILENCE_MS: u32 = 3_000;

/// The time without a heartbeat after which operators are told that a node does not respond, in
/// milliseconds. The desk asks every second, and shows it within three.
const ALERT_SILENCE_MS: u32 = 1_900;

/// The time without any heartbeat after which Redis counts as having been unavailable, or its clock
/// as set, in milliseconds. It exceeds the delay of two late heartbeats.
pub const GAP_MS: u32 = 2_000;

/// The time after which a claimed dead node can be claimed again, in milliseconds.
const CLAIM_MS: u32 = 5_000;

const DEAD_AT_ONCE: u32 = 16;

/// The time for which the house remembers a dead node, in milliseconds.
const DEAD_NODE_LIFE_MS: u32 = 3_600_000;

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The node was declared dead. It continues under a new id.
    pub is_dead: bool,
    /// The house's time, as the tables of this shard use it.
    pub now: Timestamp,
    /// The dead nodes that the caller has claimed, whose connections it has to report as gone.
    pub taken: Vec<NodeId>,
}

impl LiveStore {
    /// The maximum number of connections that [`LiveStore::read_present`] returns.
    pub const PRESENT_AT_ONCE: u32 = 64;

    /// Sends a node's heartbeat to a shard. `own` is the node's clock for that shard, once it has
    /// one.
    pub async fn send_heartbeat(
        &self,
        shard: u16,
        node: NodeId,
        has_beaten: bool,
        own: Option<Timestamp>,
    ) -> Result<Heartbeat, Unavailable> {
        let mut call = BEAT.prepare_invoke();
        for part in ["beats", "dead", "clock"] {
            call.key(self.shard_key(shard, part));
        }
        call.arg(node.to_string()).arg(u8::from(has_beaten));
        call.arg(text_or_empty(own.map(Timestamp::ms)));
        call.arg(SILENCE_MS).arg(GAP_MS).arg(CLAIM_MS).arg(DEAD_AT_ONCE);
        let (is_dead, now_ms, taken): (bool, i64, Vec<String>) = self.invoke(&call).await?;
        let taken = taken.iter().filter_map(|node| node.parse().ok().map(NodeId)).collect();
        Ok(Heartbeat { is_dead, now: Timestamp::from_ms(now_ms), taken })
    }

    /// Returns the time of a shard, which no node's clock exceeds; `None` before the first
    /// heartbeat, or if it is unknown until the next one.
    pub async fn shard_time(&self, shard: u16) -> Result<Option<Timestamp>, Unavailable> {
        let now_ms: String =
            self.invoke(TIME.key(self.shard_key(shard, "clock")).arg(GAP_MS)).await?;
        Ok(now_ms.parse().ok().map(Timestamp::from_ms))
    }

    /// Removes a node that stops in order and has no connections, so that nobody claims it.
    pub async fn retire_node(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let beats = self.shard_key(shard, "beats");
        self.query(redis::cmd("ZREM").arg(beats).arg(node.to_string())).await
    }

    /// Removes a dead node whose connections have all been reported as gone.
    pub async fn forget_dead_node(&self, shard: u16, node: NodeId) -> Result<(), Unavailable> {
        let dead = self.shard_key(shard, "dead");
        self.query(redis::cmd("ZREM").arg(dead).arg(node.to_string())).await
    }

    /// Records that a node was declared dead, for one hour. A repetition changes nothing.
    pub async fn record_dead_node(&self, node: NodeId, at: Timestamp) -> Result<(), Unavailable> {
        let key = self.dead_nodes_key();
        let oldest = at.ms() - i64::from(DEAD_NODE_LIFE_MS);
        let mut calls = redis::pipe();
        calls.cmd("ZADD").arg(&key).arg("NX").arg(at.ms()).arg(node.to_string()).ignore();
        calls.cmd("ZREMRANGEBYSCORE").arg(&key).arg("-inf").arg(oldest).ignore();
        calls.cmd("PEXPIRE").arg(&key).arg(DEAD_NODE_LIFE_MS).ignore();
        self.query_all(&calls).await
    }

    /// Returns the number of nodes that were declared dead in the hour before a time.
    pub async fn count_dead_nodes(&self, at: Timestamp) -> Result<i64, Unavailable> {
        let oldest = at.ms() - i64::from(DEAD_NODE_LIFE_MS);
        self.query(redis::cmd("ZCOUNT").arg(self.dead_nodes_key()).arg(oldest).arg("+inf")).await
    }

    /// Returns the number of nodes whose last heartbeat is too old for operators, but that are not
    /// dead yet: the greatest number of all shards. While no node sends heartbeats, it is zero.
    pub async fn count_silent_nodes(&self) -> Result<i64, Unavailable> {
        let counts = self.shards().map(async |shard| {
            let mut call = SILENT.key(self.shard_key(shard, "beats"));
            call.key(self.shard_key(shard, "clock")).arg(ALERT_SILENCE_MS).arg(GAP_MS);
            self.invoke(&call).await
        });
        let counts: Vec<i64> = try_join_all(counts).await?;
        Ok(counts.into_iter().max().unwrap_or_default())
    }

    fn dead_nodes_key(&self) -> String {
        format!("{}:dead-nodes", self.prefix)
    }

    /// Stores connections to tables of a shard under a node.
    pub async fn add_present(
        &self,
        shard: u16,
        node: NodeId,
        present: &[PlayerConnection],
    ) -> Result<(), Unavailable> {
        self.change_present("SADD", shard, node, present).await
    }

    /// Removes connections that have been reported as gone.
    pub async fn remove_present(
        &self,
        shard: u16,
        node: NodeId,
        present: &[PlayerConnection],
    ) -> Result<(), Unavailable> {
        self.change_present("SREM", shard, node, present).await
    }

    /// Returns some of the connections stored under a node, in any order; none when all are
    /// removed.
    pub async fn read_present(
        &self,
        shard: u16,
        node: NodeId,
    ) -> Result<Vec<PlayerConnection>, Unavailable> {
        let mut call = redis::cmd("SRANDMEMBER");
        call.arg(self.present_key(shard, node)).arg(Self::PRESENT_AT_ONCE);
        let noted: Vec<String> = self.query(&call).await?;
        noted.iter().map(|text| parse_present(text)).collect()
    }

    async fn change_present(
        &self,
        command: &str,
        shard: u16,
        node: NodeId,
        present: &[PlayerConnection],
    ) -> Result<(), Unavailable> {
        if present.is_empty() {
            return Ok(());
        }
        let mut call = redis::cmd(command);
        call.arg(self.present_key(shard, node));
        for present in present {
            let PlayerConnection { connection, table, player } = present;
            call.arg(format!("{connection} {table} {player}"));
        }
        self.query(&call).await
    }

    fn present_key(&self, shard: u16, node: NodeId) -> String {
        self.shard_key(shard, &format!("present:{node}"))
    }
}

fn parse_present(text: &str) -> Result<PlayerConnection, Unavailable> {
    let mut ids = text.split(' ').map(|id| id.parse::<Uuid>().ok());
    let mut id = || ids.next().flatten();
    match (id(), id(), id()) {
        (Some(connection), Some(table), Some(player)) => Ok(PlayerConnection {
            table: TableId(table),
            player: PlayerId(player),
            connection: ConnectionId(connection),
        }),
        _ => Err(Unavailable::new("a stored connection is malformed".into())),
    }
}
