//! Live state in Redis: the journals of tables, their deadlines and publications, who sits where,
//! and which tables have room.
//!
//! Nothing here knows what a line or a snapshot says: they are bytes. A journal is a list, and a
//! move is a compare-and-append: one script call that appends only if the journal still has the
//! length the caller decided on, and otherwise hands out what the caller has missed.
//!
//! Every key of a table carries the hash tag of its shard, every key of a room that of the room,
//! so that each call stays within one slot of a Redis Cluster. Bounds: a call is answered within
//! [`Options::response_timeout`] or counts as unavailable, and whether it took effect is then
//! unknown: the caller must read again before it decides.
//!
//! Deliberately absent: ownership. No key says that a process holds a table.

mod due;
mod journal;
mod listing;
mod seating;
mod ticket;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use bahay_engine::table::TableId;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use tokio::sync::mpsc;

pub use journal::{Append, Stored, Tail};
pub use seating::Bond;
pub use watch::Publication;

/// How live state is reached.
#[derive(Clone, Debug)]
pub struct Options {
    /// `redis://…` or `redis+unix://…`.
    pub url: String,
    /// Leads every key, so that several houses can share a Redis.
    pub prefix: String,
    /// Fixed at installation: a table's keys are found by it.
    pub shards: u16,
    pub connect_timeout: Duration,
    pub response_timeout: Duration,
}

/// Redis did not answer, or not in time. Whether the call took effect is unknown.
#[derive(Clone, Debug, thiserror::Error)]
#[error("live state is unavailable: {0}")]
pub struct Unavailable(String);

impl Unavailable {
    /// For what makes live state unusable without Redis being at fault.
    pub fn new(why: String) -> Self {
        Self(why)
    }
}

impl From<redis::RedisError> for Unavailable {
    fn from(error: redis::RedisError) -> Self {
        Self(error.to_string())
    }
}

/// A handle to live state; clones share one connection for commands and one for publications.
#[derive(Clone)]
pub struct Live {
    commands: ConnectionManager,
    subscriptions: ConnectionManager,
    scripts: Arc<Scripts>,
    prefix: Arc<str>,
    shards: u16,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("prefix", &self.prefix).field("shards", &self.shards).finish()
    }
}

/// The scripts, each one call that is atomic in its slot.
struct Scripts {
    append: redis::Script,
    load: redis::Script,
    found: redis::Script,
    compact: redis::Script,
    due: redis::Script,
    release: redis::Script,
    reserve: redis::Script,
    confirm: redis::Script,
}

impl Live {
    /// Connects, and gives the publications of watched tables.
    pub async fn connect(
        options: &Options,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Publication>), Unavailable> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout))
            .set_number_of_retries(1)
            .set_max_delay(Duration::from_millis(200));
        let client = redis::Client::open(options.url.as_str())?;
        let commands = client.get_connection_manager_with_config(config.clone()).await?;
        let (subscriptions, publications) = watch::connect(options, config).await?;
        let live = Self {
            commands,
            subscriptions,
            scripts: Arc::new(Scripts {
                append: redis::Script::new(include_str!("append.lua")),
                load: redis::Script::new(include_str!("load.lua")),
                found: redis::Script::new(include_str!("found.lua")),
                compact: redis::Script::new(include_str!("compact.lua")),
                due: redis::Script::new(include_str!("due.lua")),
                release: redis::Script::new(include_str!("release.lua")),
                reserve: redis::Script::new(include_str!("reserve.lua")),
                confirm: redis::Script::new(include_str!("confirm.lua")),
            }),
            prefix: options.prefix.as_str().into(),
            shards: options.shards.max(1),
        };
        live.ping().await?;
        Ok((live, publications))
    }

    /// Whether Redis answers.
    pub async fn ping(&self) -> Result<(), Unavailable> {
        redis::cmd("PING").query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    fn shard_of(&self, table: TableId) -> u16 {
        let number = table.0.as_u128() % u128::from(self.shards);
        u16::try_from(number).expect("a remainder is below its divisor, which is 16 bits")
    }

    /// `bahay:{s3}:table:<id>:journal` and the like.
    fn table_key(&self, table: TableId, part: &str) -> String {
        format!("{}:{{s{}}}:table:{table}:{part}", self.prefix, self.shard_of(table))
    }

    fn due_key(&self, shard: u16) -> String {
        format!("{}:{{s{shard}}}:due", self.prefix)
    }
}
