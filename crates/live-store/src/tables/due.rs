//! Deadlines: one sorted set for each shard and version of the engine, so that a node claims only
//! tables that it can run and leaves the others.
//!
//! One call covers all the sets of a server. A cluster gets one call for each shard, because shards
//! may move to other masters and a script stays within one slot.

use bahay_engine::table::{ENGINES, TableId, Timestamp};

use crate::connection::Connection;
use crate::{LiveStore, Script, Unavailable, script};

static DUE: Script = script!("due.lua");

/// The maximum number of tables claimed from one set in a call. The others remain due.
const LIMIT: u32 = 256;

impl LiveStore {
    /// Returns the shards in batches, each for one call of [`LiveStore::claim_due`].
    pub fn shard_batches(&self) -> Vec<Vec<u16>> {
        match self.commands {
            Connection::Server(_) => vec![self.shards().collect()],
            Connection::Cluster(_) => self.shards().map(|shard| vec![shard]).collect(),
        }
    }

    /// Claims the tables of a batch of shards whose deadline has passed by the time of their shard.
    /// They are due again after `claim_ms`, in case this process dies with them.
    pub async fn claim_due(
        &self,
        shards: &[(u16, Timestamp)],
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let mut call = DUE.prepare_invoke();
        call.arg(claim_ms).arg(LIMIT);
        for (shard, now) in shards {
            for engine in ENGINES {
                call.key(self.due_key(*shard, engine)).arg(now.ms());
            }
        }
        let ids: Vec<String> = self.invoke(&call).await?;
        // An id that does not parse was not written by this program. It stays in the set and is
        // skipped.
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }
}
