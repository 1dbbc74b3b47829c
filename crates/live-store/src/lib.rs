//! Live state in Redis: the journals of tables, their deadlines and publications, the seats of
//! players, the tables with free seats, the live nodes and their connections.
//!
//! The crate does not interpret lines and snapshots; they are bytes. A journal is a list, and a
//! move is a compare-and-append: one script call that appends only if the journal still ends with
//! the line that the caller decided on, and otherwise returns the lines that the caller has missed.
//!
//! Every key of a table carries the hash tag of its shard, and every key of a room that of the
//! room, so each call stays within one slot of a Redis Cluster. Bounds: a call is answered within
//! [`Options::response_timeout`] or counts as unavailable. It is then unknown whether the call took
//! effect, and the caller must read again before it decides.
//!
//! Deliberately absent: ownership. No key says that a process holds a table.

mod connection;
mod matching;
mod nodes;
mod players;
mod private;
mod rooms;
mod tables;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bahay_engine::table::{PlayerId, TableId};
use futures_util::future::try_join_all;
use redis::{Cmd, FromRedisValue, Pipeline, ScriptInvocation};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::connection::Connection;
use crate::tables::Subscriptions;

pub use bahay_base::states::{TicketState, WaitReason};
pub use bahay_shell::lobby::SeatClaim;
pub use bahay_shell::{
    AppendOutcome, JournalEntry, NoShow, NodeId, PlayerConnection, Point, StoredTable, Tail,
};
pub use connection::RedisSetupError;
pub use matching::{LEASE_MS, MatchingLease, StoredTicket, TicketUpdate};
pub use nodes::{GAP_MS, Heartbeat, ONLINE_MS, OnlinePublisher};
pub use players::{
    BOARDS_MAX, BoardPage, BoardRank, BoardSection, PlayerMessage, ReachedScore, rank_scores,
};
pub use private::{PrivateTable, StoredRematch};
pub use rooms::{
    JoinableTable, NoShowSubject, PlayingCount, ReservedSeat, SeatOrigin, SeatReservation,
    TableListing,
};
pub use tables::{NewLine, Publication};

/// A script, which is one call that is atomic within its slot. It is hashed on first use.
type Script = LazyLock<redis::Script>;

/// Returns the script in a file beside the caller's.
macro_rules! script {
    ($file:literal) => {
        std::sync::LazyLock::new(|| redis::Script::new(include_str!($file)))
    };
}
pub(crate) use script;

static RELEASE: Script = script!("release.lua");

/// The time to live of the key that a probe writes, in seconds.
const PROBE_S: u32 = 60;

/// The settings of the connection to Redis.
#[derive(Clone, Debug)]
pub struct Options {
    /// The URL: `redis://…`, `redis+unix://…`, or `redis+cluster://HOST:PORT,HOST:PORT`; over TLS
    /// `rediss://…` and `rediss+cluster://…`.
    pub url: String,
    /// The root certificate for TLS, in PEM; without it the roots that browsers trust.
    pub root_certificate: Option<PathBuf>,
    /// The prefix of every key, so that several houses can share a Redis.
    pub prefix: String,
    /// The number of shards, fixed at installation, because it determines the keys of a table.
    pub shards: u16,
    pub connect_timeout: Duration,
    pub response_timeout: Duration,
}

/// The error of a call that Redis did not answer in time. It is unknown whether the call took
/// effect.
#[derive(Clone, Debug, thiserror::Error)]
#[error("live state is unavailable: {0}")]
pub struct Unavailable(String);

impl Unavailable {
    /// Creates an error for live state that is unusable although Redis works.
    pub fn new(why: String) -> Self {
        Self(why)
    }

    /// Returns the reason as text.
    pub fn into_reason(self) -> String {
        self.0
    }
}

impl From<redis::RedisError> for Unavailable {
    fn from(error: redis::RedisError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Unavailable {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// A handle to live state. Clones share one connection for commands and one for publications.
#[derive(Clone)]
pub struct LiveStore {
    commands: Connection,
    subscriptions: Subscriptions,
    prefix: Arc<str>,
    shards: u16,
    response_timeout: Duration,
}

impl std::fmt::Debug for LiveStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveStore")
            .field("prefix", &self.prefix)
            .field("shards", &self.shards)
            .finish()
    }
}

impl LiveStore {
    /// Connects to Redis. Returns the handle and the receiver of the publications of watched
    /// tables.
    pub async fn connect(
        options: &Options,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Publication>), Unavailable> {
        let commands = Connection::open(options, None).await?;
        let (subscriptions, publications) =
            Subscriptions::connect(options, commands.clone()).await?;
        let live = Self {
            commands,
            subscriptions,
            prefix: options.prefix.as_str().into(),
            shards: options.shards.max(1),
            response_timeout: options.response_timeout,
        };
        live.ping().await?;
        Ok((live, publications))
    }

    /// Checks that Redis answers; in a cluster, that any master does.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        self.query(&redis::cmd("PING")).await
    }

    /// Checks that each server of live state accepts a write.
    pub async fn check_writable(&self) -> Result<(), Unavailable> {
        let writes = self.shards().map(async |shard| {
            let mut call = redis::cmd("SET");
            call.arg(format!("{}:{{s{shard}}}:probe", self.prefix)).arg("").arg("EX").arg(PROBE_S);
            self.query::<()>(&call).await
        });
        // A single server holds all shards.
        let servers = match &self.commands {
            Connection::Server(_) => 1,
            Connection::Cluster(_) => usize::from(self.shards),
        };
        try_join_all(writes.take(servers)).await.map(drop)
    }

    /// Returns the timeout of a call.
    pub fn response_timeout(&self) -> Duration {
        self.response_timeout
    }

    /// Returns the shards, each of which has its own set of deadlines.
    pub fn shards(&self) -> std::ops::Range<u16> {
        0..self.shards
    }

    /// Returns the shard of a table, whose keys share the slot of the shard.
    pub fn shard_of(&self, table: TableId) -> u16 {
        self.shard_of_id(table.0)
    }

    /// Returns the shard that stores whether a player has an open socket.
    pub fn shard_of_player(&self, player: PlayerId) -> u16 {
        self.shard_of_id(player.0)
    }

    fn shard_of_id(&self, id: Uuid) -> u16 {
        let number = id.as_u128() % u128::from(self.shards);
        u16::try_from(number).expect("a remainder is below its divisor, which is 16 bits")
    }

    /// Returns a key of a shard, such as `bahay:{s3}:beats`.
    fn shard_key(&self, shard: u16, part: &str) -> String {
        format!("{}:{{s{shard}}}:{part}", self.prefix)
    }

    /// Returns a key of a player.
    fn player_key(&self, player: PlayerId, part: &str) -> String {
        format!("{}:{{p{player}}}:{part}", self.prefix)
    }

    /// Returns a key of a table, such as `bahay:{s3}:table:<id>:journal`.
    fn table_key<'a>(&'a self, table: TableId, part: &'a str) -> Key<'a> {
        Key { prefix: &self.prefix, shard: self.shard_of(table), part: KeyPart::Table(table, part) }
    }

    fn due_key(&self, shard: u16, engine: u32) -> Key<'_> {
        Key { prefix: &self.prefix, shard, part: KeyPart::Due(engine) }
    }

    async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        Ok(command.query_async(&mut self.commands.clone()).await?)
    }

    async fn query_all<T: FromRedisValue>(&self, pipeline: &Pipeline) -> Result<T, Unavailable> {
        Ok(pipeline.query_async(&mut self.commands.clone()).await?)
    }

    async fn invoke<T: FromRedisValue>(
        &self,
        call: &ScriptInvocation<'_>,
    ) -> Result<T, Unavailable> {
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    /// Publishes a text to the subscribers of a channel.
    async fn publish(
        &self,
        channel: impl redis::ToRedisArgs,
        text: String,
    ) -> Result<(), Unavailable> {
        self.query(redis::cmd("SPUBLISH").arg(channel).arg(text)).await
    }

    /// Creates a key that expires after a time. Returns the rest of its time in milliseconds,
    /// negative if it has just expired, if the key exists already.
    async fn create_expiring(&self, key: &str, life_ms: u64) -> Result<Option<i64>, Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(key).arg(1).arg("NX").arg("PX").arg(life_ms);
        let created: Option<String> = self.query(&call).await?;
        if created.is_some() {
            return Ok(None);
        }
        self.query(redis::cmd("PTTL").arg(key)).await.map(Some)
    }

    /// Deletes a key if it still has this value.
    async fn release(&self, key: &str, value: &str) -> Result<(), Unavailable> {
        self.invoke(RELEASE.key(key).arg(value)).await
    }
}

/// Returns the text of a value as an argument of a script; empty without a value.
fn text_or_empty(value: Option<impl fmt::Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A key in a shard, formatted on use.
#[derive(Clone, Copy)]
struct Key<'a> {
    prefix: &'a str,
    shard: u16,
    part: KeyPart<'a>,
}

#[derive(Clone, Copy)]
enum KeyPart<'a> {
    Table(TableId, &'a str),
    /// The deadlines of the tables of one version of the engine.
    Due(u32),
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prefix, shard, part } = self;
        match part {
            KeyPart::Table(table, part) => write!(f, "{prefix}:{{s{shard}}}:table:{table}:{part}"),
            KeyPart::Due(engine) => write!(f, "{prefix}:{{s{shard}}}:due:{engine}"),
        }
    }
}

impl redis::ToRedisArgs for Key<'_> {
    fn write_redis_args<W: ?Sized + redis::RedisWrite>(&self, out: &mut W) {
        out.write_arg_fmt(self);
    }
}

impl redis::ToSingleRedisArg for Key<'_> {}
