//! Deadlines: one sorted set a shard and version of the engine, so that a node takes only what
//! it can play and leaves the rest to others.

use bahay_engine::table::{ENGINES, TableId, Timestamp};

use crate::live::{Live, Unavailable};

/// Tables taken from one shard at once; the rest are due at the next look.
const LIMIT: u32 = 256;

impl Live {
    /// Takes the tables of a shard whose deadline has passed. They are due again after
    /// `claim_ms`, in case this process dies with them.
    pub async fn take_due(
        &self,
        shard: u16,
        now: Timestamp,
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let sets = ENGINES.map(|engine| self.take_due_in(shard, engine, now, claim_ms));
        let tables = futures_util::future::try_join_all(sets).await?;
        Ok(tables.into_iter().flatten().collect())
    }

    async fn take_due_in(
        &self,
        shard: u16,
        engine: u32,
        now: Timestamp,
        claim_ms: u32,
    ) -> Result<Vec<TableId>, Unavailable> {
        let mut call = self.scripts.due.prepare_invoke();
        call.key(self.due_key(shard, engine)).arg(now.ms()).arg(claim_ms).arg(LIMIT);
        let ids: Vec<String> = call.invoke_async(&mut self.commands.clone()).await?;
        // An id that does not parse was not written by us; it stays and is passed over.
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }
}
