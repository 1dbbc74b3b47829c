//! Journals: found, load, append, compact.

use bahay_engine::table::{TableId, Timestamp};
use redis::Value;

use crate::live::{Live, Unavailable};

/// A table as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The version of the snapshot: how many lines came before it.
    pub base: u64,
    pub snapshot: String,
    /// The lines since, oldest first.
    pub lines: Vec<String>,
    /// The version of the engine that its lines are for.
    pub engine: u32,
    /// Why it is halted, if it is.
    pub halted: Option<String>,
}

/// A line to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewLine<'a> {
    /// The version that it was decided on.
    pub version: u64,
    /// The table's version of the engine.
    pub engine: u32,
    pub line: &'a str,
    /// When the table is due next.
    pub deadline: Option<Timestamp>,
    /// The table is forgotten after this time without a further line.
    pub idle_ms: Option<u64>,
}

/// What an append came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Append {
    /// The lines are stored and published.
    Appended,
    /// Others have appended these since; decide again with them.
    Behind(Vec<String>),
    /// The version is before the snapshot or beyond the journal: load the table again.
    Elsewhere,
    /// There is no such table.
    Missing,
    /// The table is halted.
    Halted,
}

/// The end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The lines from the version on; empty when it is the newest.
    Lines(Vec<String>),
    /// The version is before the snapshot or beyond the journal: load the table again.
    Elsewhere,
    /// There is no such table.
    Missing,
}

impl Live {
    /// Founds a table with nothing in its journal, unless it exists. It is forgotten after
    /// `idle_ms` without a line. Its lines are for this version of the engine, for ever.
    pub async fn found(
        &self,
        table: TableId,
        snapshot: &str,
        idle_ms: u64,
        engine: u32,
    ) -> Result<(), Unavailable> {
        let mut call = self.scripts.found.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.arg(snapshot).arg(idle_ms).arg(engine);
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// The snapshot and the journal since; `None` when there is no such table.
    pub async fn load(&self, table: TableId) -> Result<Option<Stored>, Unavailable> {
        match self.read(table, None).await?.as_slice() {
            [kind, base, snapshot, lines, engine, halted] if is(kind, "whole") => {
                let halted: String = redis::from_redis_value_ref(halted).map_err(unreadable)?;
                Ok(Some(Stored {
                    base: redis::from_redis_value_ref(base).map_err(unreadable)?,
                    snapshot: redis::from_redis_value_ref(snapshot).map_err(unreadable)?,
                    lines: redis::from_redis_value_ref(lines).map_err(unreadable)?,
                    engine: redis::from_redis_value_ref(engine).map_err(unreadable)?,
                    halted: Some(halted).filter(|why| !why.is_empty()),
                }))
            }
            [kind] if is(kind, "missing") => Ok(None),
            other => Err(unexpected("load", other)),
        }
    }

    /// The journal from a version on.
    pub async fn tail(&self, table: TableId, from: u64) -> Result<Tail, Unavailable> {
        match self.read(table, Some(from)).await?.as_slice() {
            [kind, lines] if is(kind, "tail") => {
                Ok(Tail::Lines(redis::from_redis_value_ref(lines).map_err(unreadable)?))
            }
            [kind] if is(kind, "elsewhere") => Ok(Tail::Elsewhere),
            [kind] if is(kind, "missing") => Ok(Tail::Missing),
            other => Err(unexpected("tail", other)),
        }
    }

    /// Appends a line that was decided at a version, sets the next deadline and publishes.
    pub async fn append(&self, table: TableId, new: NewLine<'_>) -> Result<Append, Unavailable> {
        let NewLine { version, engine, line, deadline, idle_ms } = new;
        let mut call = self.scripts.append.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.key(self.due_key(self.shard_of(table), engine));
        call.arg(version);
        match deadline {
            Some(deadline) => call.arg(deadline.ms()),
            None => call.arg(""),
        };
        call.arg(table.to_string()).arg(self.table_key(table, "lines"));
        call.arg(idle_ms.unwrap_or(0)).arg(line);
        let answer: Vec<Value> = call.invoke_async(&mut self.commands.clone()).await?;
        match answer.as_slice() {
            [kind] if is(kind, "appended") => Ok(Append::Appended),
            [kind, lines] if is(kind, "behind") => {
                Ok(Append::Behind(redis::from_redis_value_ref(lines).map_err(unreadable)?))
            }
            [kind] if is(kind, "elsewhere") => Ok(Append::Elsewhere),
            [kind] if is(kind, "missing") => Ok(Append::Missing),
            [kind] if is(kind, "halted") => Ok(Append::Halted),
            other => Err(unexpected("append", other)),
        }
    }

    /// Replaces the lines up to a version by a snapshot of it. False when others have appended
    /// since: then nothing has changed.
    pub async fn compact(
        &self,
        table: TableId,
        version: u64,
        snapshot: &str,
    ) -> Result<bool, Unavailable> {
        let mut call = self.scripts.compact.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.arg(version).arg(snapshot);
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    async fn read(&self, table: TableId, from: Option<u64>) -> Result<Vec<Value>, Unavailable> {
        let mut call = self.scripts.load.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        match from {
            Some(from) => call.arg(from),
            None => call.arg(""),
        };
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }
}

fn is(value: &Value, word: &str) -> bool {
    matches!(value, Value::BulkString(bytes) if bytes == word.as_bytes())
        || matches!(value, Value::SimpleString(text) if text == word)
}

fn unreadable(error: redis::ParsingError) -> Unavailable {
    Unavailable(error.to_string())
}

fn unexpected(call: &str, answer: &[Value]) -> Unavailable {
    Unavailable(format!("{call} was answered with {} unexpected values", answer.len()))
}
