//! Halted tables: a mark in the head that rejects every append until the table is resumed or ended.
//! The reason is bytes to this module. Each shard lists its halted tables, so that the rows for
//! operators can be written later if the database was unavailable.

use bahay_engine::table::{TableId, Timestamp};
use futures_util::future::{join_all, try_join_all};

use crate::{LiveStore, Unavailable};

impl LiveStore {
    /// Halts a table. Returns true if the table exists and was not halted before.
    pub async fn halt(&self, table: TableId, engine: u32, why: &str) -> Result<bool, Unavailable> {
        let mut call = self.scripts.halt.prepare_invoke();
        let shard = self.shard_of(table);
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.key(self.due_key(shard, engine)).key(self.halted_key(shard));
        call.arg(table.to_string()).arg(why);
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    /// Resumes a halted table and sets its deadline. Returns false if it was not halted.
    pub async fn resume(
        &self,
        table: TableId,
        engine: u32,
        deadline: Option<Timestamp>,
    ) -> Result<bool, Unavailable> {
        let mut call = self.scripts.resume.prepare_invoke();
        let shard = self.shard_of(table);
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.key(self.due_key(shard, engine)).key(self.halted_key(shard));
        call.arg(table.to_string());
        match deadline {
            Some(deadline) => call.arg(deadline.ms()),
            None => call.arg(""),
        };
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    /// Removes a table, and publishes its end to its watchers.
    pub async fn end(&self, table: TableId, engine: u32) -> Result<(), Unavailable> {
        let mut call = self.scripts.end.prepare_invoke();
        let shard = self.shard_of(table);
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.key(self.due_key(shard, engine)).key(self.halted_key(shard));
        call.arg(table.to_string()).arg(self.table_key(table, "lines"));
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Returns whether a table is halted.
    pub async fn is_halted(&self, table: TableId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SISMEMBER");
        call.arg(self.halted_key(self.shard_of(table))).arg(table.to_string());
        Ok(call.query_async::<bool>(&mut self.commands.clone()).await?)
    }

    /// Returns the halted tables of all shards.
    pub async fn halted_tables(&self) -> Result<Vec<TableId>, Unavailable> {
        let shards = (0..self.shards).map(async |shard| {
            let mut call = redis::cmd("SMEMBERS");
            call.arg(self.halted_key(shard));
            call.query_async::<Vec<String>>(&mut self.commands.clone()).await
        });
        let tables = try_join_all(shards).await?;
        Ok(tables.iter().flatten().filter_map(|table| table.parse().ok()).collect())
    }

    /// Returns whether each of these tables exists. Each is a call of its own, because each may be
    /// on another server.
    pub async fn tables_exist(&self, tables: &[TableId]) -> Vec<Result<bool, Unavailable>> {
        let each = tables.iter().map(async |table| {
            let mut call = redis::cmd("EXISTS");
            call.arg(self.table_key(*table, "head"));
            Ok(call.query_async::<bool>(&mut self.commands.clone()).await?)
        });
        join_all(each).await
    }

    fn halted_key(&self, shard: u16) -> String {
        format!("{}:{{s{shard}}}:halted", self.prefix)
    }
}
