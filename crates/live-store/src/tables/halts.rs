//! Halted tables: a mark in the head that rejects every append until the table is resumed or ended.
//! The reason is bytes to this module. Each shard lists its halted tables, so that the rows for
//! operators can be written later if the database was unavailable.

use bahay_engine::table::{TableId, Timestamp};
use futures_util::future::{join_all, try_join_all};

use crate::{LiveStore, Script, Unavailable, script, text_or_empty};

static HALT: Script = script!("halt.lua");
static RESUME: Script = script!("resume.lua");
static END: Script = script!("end.lua");

impl LiveStore {
    /// Halts a table. Returns true if the table exists and was not halted before.
    pub async fn halt(&self, table: TableId, engine: u32, why: &str) -> Result<bool, Unavailable> {
        self.invoke(self.halt_call(&HALT, table, engine).arg(why)).await
    }

    /// Resumes a halted table and sets its deadline. Returns false if it was not halted.
    pub async fn resume(
        &self,
        table: TableId,
        engine: u32,
        deadline: Option<Timestamp>,
    ) -> Result<bool, Unavailable> {
        let deadline_ms = text_or_empty(deadline.map(Timestamp::ms));
        self.invoke(self.halt_call(&RESUME, table, engine).arg(deadline_ms)).await
    }

    /// Removes a table, and publishes its end to its watchers.
    pub async fn end(&self, table: TableId, engine: u32) -> Result<(), Unavailable> {
        let channel = self.table_key(table, "lines");
        self.invoke(self.halt_call(&END, table, engine).arg(channel)).await
    }

    /// Returns whether a table is halted.
    pub async fn is_halted(&self, table: TableId) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("SISMEMBER");
        call.arg(self.halted_key(self.shard_of(table))).arg(table.to_string());
        self.query(&call).await
    }

    /// Returns the halted tables of all shards.
    pub async fn halted_tables(&self) -> Result<Vec<TableId>, Unavailable> {
        let shards = (0..self.shards).map(async |shard| {
            self.query::<Vec<String>>(redis::cmd("SMEMBERS").arg(self.halted_key(shard))).await
        });
        let tables = try_join_all(shards).await?;
        Ok(tables.iter().flatten().filter_map(|table| table.parse().ok()).collect())
    }

    /// Returns whether each of these tables exists. Each is a call of its own, because each may be
    /// on another server.
    pub async fn tables_exist(&self, tables: &[TableId]) -> Vec<Result<bool, Unavailable>> {
        let each = tables.iter().map(async |table| {
            self.query(redis::cmd("EXISTS").arg(self.table_key(*table, "head"))).await
        });
        join_all(each).await
    }

    /// Returns a call of a script that halts a table or ends its halt.
    fn halt_call<'a>(
        &self,
        script: &'a redis::Script,
        table: TableId,
        engine: u32,
    ) -> redis::ScriptInvocation<'a> {
        let shard = self.shard_of(table);
        let mut call = self.journal_call(script, table);
        call.key(self.due_key(shard, engine)).key(self.halted_key(shard)).arg(table.to_string());
        call
    }

    fn halted_key(&self, shard: u16) -> String {
        self.shard_key(shard, "halted")
    }
}
