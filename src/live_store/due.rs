//! Deadlines: one sorted set a shard and version of the engine, so that a node takes only what
//! it can play and leaves the rest to others.
//!
//! One call looks at all the sets that one server has. A cluster is asked for each shard by
//! itself: its shards may be on other masters tomorrow, and a script stays within one slot.

use bahay_engine::table::{ENGINES, TableId, Timestamp};

use crate::live_store::connection::Connection;
use crate::live_store::{LiveStore, Unavailable};

/// Tables taken from one set at once; the rest are due at the next look.
const LIMIT: u32 = 256;

impl LiveStore {
    /// The shards, by what one call of [`LiveStore::take_due`] may look at.
    pub fn shards_together(&self) -> Vec<Vec<u16>> {
        match self.commands {
            Connection::Server(_) => vec![self.shards().collect()],
            Connection::Cluster(_) => self.shards().map(|shard| vec![shard]).collect(),
        }
    }

    /// Takes the tables of shards that stand together whose deadline has passed by the time of
    /// their shard. They are due again after `claim_ms`, in case this process dies with them.
    pub async fn take_due(
        &self,
        shards: &[(u16, Timestamp)],
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let mut call = self.scripts.due.prepare_invoke();
        call.arg(claim_ms).arg(LIMIT);
        for (shard, now) in shards {
            for engine in ENGINES {
                call.key(self.due_key(*shard, engine)).arg(now.ms());
            }
        }
        let ids: Vec<String> = call.invoke_async(&mut self.commands.clone()).await?;
        // An id that does not parse was not written by us; it stays and is passed over.
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }
}
