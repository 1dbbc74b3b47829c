//! Deadlines: one sorted set a shard.

use bahay_engine::table::{TableId, Timestamp};

use crate::live::{Live, Unavailable};

/// Tables taken from one shard at once; the rest are due at the next look.
const LIMIT: u32 = 256;

impl Live {
    /// Takes the tables of every shard whose deadline has passed. They are due again after
    /// `claim_ms`, in case this process dies with them.
    pub async fn take_due(
        &self,
        now: Timestamp,
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let shards = (0..self.shards).map(|shard| self.take_due_in(shard, now, claim_ms));
        let tables = futures_util::future::try_join_all(shards).await?;
        Ok(tables.into_iter().flatten().collect())
    }

    async fn take_due_in(
        &self,
        shard: u16,
        now: Timestamp,
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let mut call = self.scripts.due.prepare_invoke();
        call.key(self.due_key(shard)).arg(now.ms()).arg(claim_ms).arg(LIMIT);
        let ids: Vec<String> = call.invoke_async(&mut self.commands.clone()).await?;
        // An id that does not parse was not written by us; it stays and is passed over.
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }
}
