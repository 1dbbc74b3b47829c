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

mod boards;
mod cluster;
mod connection;
mod connection_factory;
mod due;
mod exports;
mod halts;
mod journal;
mod listing;
mod matching;
mod no_shows;
mod online;
mod player_messages;
mod presence;
mod private;
mod rematch;
mod seating;
mod server;
mod setup;
mod socket_ticket;
mod watch;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::table::TableId;
use futures_util::future::try_join_all;
use tokio::sync::mpsc;

use crate::connection::Connection;
use crate::watch::Subscriptions;

pub use bahay_base::states::{TicketState, WaitReason};
pub use bahay_shell::lobby::SeatClaim;
pub use bahay_shell::{
    AppendOutcome, JournalEntry, NoShow, NodeId, PlayerConnection, Point, StoredTable, Tail,
};
pub use boards::{BOARDS_MAX, BoardPage, BoardRank, BoardSection, ReachedScore, rank_scores};
pub use journal::NewLine;
pub use listing::{JoinableTable, PlayingCount, ReservedSeat, SeatReservation, TableListing};
pub use matching::{LEASE_MS, MatchingLease, StoredTicket, TicketUpdate};
pub use no_shows::{NoShowSubject, SeatOrigin};
pub use online::ONLINE_MS;
pub use player_messages::PlayerMessage;
pub use presence::{GAP_MS, Heartbeat};
pub use private::PrivateTable;
pub use rematch::StoredRematch;
pub use setup::RedisSetupError;
pub use watch::Publication;

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

/// A handle to live state. Clones share one connection for commands and one for publications.
#[derive(Clone)]
pub struct LiveStore {
    commands: Connection,
    subscriptions: Subscriptions,
    scripts: Arc<Scripts>,
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

/// The scripts, each of which is one call that is atomic within its slot.
struct Scripts {
    append: redis::Script,
    load: redis::Script,
    create: redis::Script,
    compact: redis::Script,
    due: redis::Script,
    host: redis::Script,
    release: redis::Script,
    reserve: redis::Script,
    unreserve: redis::Script,
    list: redis::Script,
    open: redis::Script,
    ticket_put: redis::Script,
    ticket_cancel: redis::Script,
    match_hold: redis::Script,
    match_place: redis::Script,
    match_finish: redis::Script,
    match_reason: redis::Script,
    online_set: redis::Script,
    online_refresh: redis::Script,
    online_read: redis::Script,
    confirm: redis::Script,
    beat: redis::Script,
    time: redis::Script,
    halt: redis::Script,
    resume: redis::Script,
    end: redis::Script,
    board_page: redis::Script,
    raise_scores: redis::Script,
    rematch_claim: redis::Script,
    rematch_created: redis::Script,
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
            scripts: Arc::new(Scripts {
                append: redis::Script::new(include_str!("append.lua")),
                load: redis::Script::new(include_str!("load.lua")),
                create: redis::Script::new(include_str!("create.lua")),
                compact: redis::Script::new(include_str!("compact.lua")),
                due: redis::Script::new(include_str!("due.lua")),
                host: redis::Script::new(include_str!("host.lua")),
                release: redis::Script::new(include_str!("release.lua")),
                reserve: redis::Script::new(include_str!("reserve.lua")),
                unreserve: redis::Script::new(include_str!("unreserve.lua")),
                list: redis::Script::new(include_str!("list.lua")),
                open: redis::Script::new(include_str!("open.lua")),
                ticket_put: redis::Script::new(include_str!("ticket_put.lua")),
                ticket_cancel: redis::Script::new(include_str!("ticket_cancel.lua")),
                match_hold: redis::Script::new(include_str!("match_hold.lua")),
                match_place: redis::Script::new(include_str!("match_place.lua")),
                match_finish: redis::Script::new(include_str!("match_finish.lua")),
                match_reason: redis::Script::new(include_str!("match_reason.lua")),
                online_set: redis::Script::new(include_str!("online_set.lua")),
                online_refresh: redis::Script::new(include_str!("online_refresh.lua")),
                online_read: redis::Script::new(include_str!("online_read.lua")),
                confirm: redis::Script::new(include_str!("confirm.lua")),
                beat: redis::Script::new(include_str!("beat.lua")),
                time: redis::Script::new(include_str!("time.lua")),
                halt: redis::Script::new(include_str!("halt.lua")),
                resume: redis::Script::new(include_str!("resume.lua")),
                end: redis::Script::new(include_str!("end.lua")),
                board_page: redis::Script::new(include_str!("board_page.lua")),
                raise_scores: redis::Script::new(include_str!("raise_scores.lua")),
                rematch_claim: redis::Script::new(include_str!("rematch_claim.lua")),
                rematch_created: redis::Script::new(include_str!("rematch_created.lua")),
            }),
            prefix: options.prefix.as_str().into(),
            shards: options.shards.max(1),
            response_timeout: options.response_timeout,
        };
        live.ping().await?;
        Ok((live, publications))
    }

    /// Checks that Redis answers; in a cluster, that any master does.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        redis::cmd("PING").query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Checks that each server of live state accepts a write.
    pub async fn check_writable(&self) -> Result<(), Unavailable> {
        let writes = self.shards().map(async |shard| {
            let mut call = redis::cmd("SET");
            call.arg(format!("{}:{{s{shard}}}:probe", self.prefix)).arg("").arg("EX").arg(PROBE_S);
            call.query_async::<()>(&mut self.commands.clone()).await
        });
        // A single server holds all shards.
        let servers = match &self.commands {
            Connection::Server(_) => 1,
            Connection::Cluster(_) => usize::from(self.shards),
        };
        try_join_all(writes.take(servers)).await?;
        Ok(())
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
        let number = table.0.as_u128() % u128::from(self.shards);
        u16::try_from(number).expect("a remainder is below its divisor, which is 16 bits")
    }

    /// Returns a key of a table, such as `bahay:{s3}:table:<id>:journal`.
    fn table_key<'a>(&'a self, table: TableId, part: &'a str) -> Key<'a> {
        Key { prefix: &self.prefix, shard: self.shard_of(table), part: KeyPart::Table(table, part) }
    }

    fn due_key(&self, shard: u16, engine: u32) -> Key<'_> {
        Key { prefix: &self.prefix, shard, part: KeyPart::Due(engine) }
    }
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
