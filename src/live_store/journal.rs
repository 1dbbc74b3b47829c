//! Journals: found, load, append, compact.
//!
//! Each line is kept with a tag that its writer drew, in one entry of the list: the tag, a space,
//! the line. A version says how many lines there were, its tag which ones. So a journal that has
//! lost its last lines and grown again is never taken for a continuation of what it was: whoever
//! knows a point that is not in it is told to load the table again.

use bahay_engine::table::{TableId, Timestamp};
use bahay_shell::{Append, Entry, Point, Stored, Tail};
use redis::{ErrorKind, RedisWrite as _, ServerErrorKind, Value};

use crate::ids::Tag;
use crate::live_store::{LiveStore, Unavailable};

/// What a server says that has been started anew since a script was loaded.
const NO_SCRIPT: ErrorKind = ErrorKind::Server(ServerErrorKind::NoScript);

/// A line to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewLine<'a> {
    /// What it was decided on.
    pub after: Point,
    /// Fresh: no other line has it.
    pub tag: Tag,
    /// The table's version of the engine.
    pub engine: u32,
    pub line: &'a str,
    /// When the table is due next.
    pub deadline: Option<Timestamp>,
    /// The table is forgotten after this time without a further line, unless it is due some time.
    pub idle_ms: Option<u64>,
}

/// What has no tag is no line of a journal of ours.
pub(super) fn entry_of(mut text: String) -> Entry {
    match text.split_once(' ').and_then(|(tag, _)| Some((tag.len(), tag.parse().ok()?))) {
        Some((length, tag)) => Entry { tag, line: text.split_off(length + 1) },
        None => Entry { tag: Tag::default(), line: text },
    }
}

impl LiveStore {
    /// Creates a table with nothing in its journal, unless it exists. It is forgotten after
    /// `idle_ms` without a line. Its lines are for this version of the engine, for ever. The tag
    /// is fresh: a table that was lost and is created again has another history.
    pub async fn create(
        &self,
        table: TableId,
        tag: Tag,
        snapshot: &str,
        idle_ms: u64,
        engine: u32,
    ) -> Result<(), Unavailable> {
        let mut call = self.scripts.found.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.arg(snapshot).arg(idle_ms).arg(engine).arg(tag.to_string());
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// The snapshot and the journal since; `None` when there is no such table.
    pub async fn load(&self, table: TableId) -> Result<Option<Stored>, Unavailable> {
        match self.read(table, None).await?.as_slice() {
            [kind, version, tag, snapshot, lines, engine, halted] if is(kind, "whole") => {
                let halted: String = redis::from_redis_value_ref(halted).map_err(unreadable)?;
                let tag: String = redis::from_redis_value_ref(tag).map_err(unreadable)?;
                let version = redis::from_redis_value_ref(version).map_err(unreadable)?;
                Ok(Some(Stored {
                    base: Point { version, tag: tag.parse().unwrap_or_default() },
                    snapshot: redis::from_redis_value_ref(snapshot).map_err(unreadable)?,
                    lines: entries(lines)?,
                    engine: redis::from_redis_value_ref(engine).map_err(unreadable)?,
                    halted: Some(halted).filter(|why| !why.is_empty()),
                }))
            }
            [kind] if is(kind, "missing") => Ok(None),
            other => Err(unexpected("load", other)),
        }
    }

    /// The journal from a point on.
    pub async fn tail(&self, table: TableId, from: Point) -> Result<Tail, Unavailable> {
        match self.read(table, Some(from)).await?.as_slice() {
            [kind, lines, halted] if is(kind, "tail") => Ok(match is(halted, "") {
                true => Tail::Lines(entries(lines)?),
                false => Tail::Halted(entries(lines)?),
            }),
            [kind] if is(kind, "elsewhere") => Ok(Tail::Elsewhere),
            [kind] if is(kind, "missing") => Ok(Tail::Missing),
            other => Err(unexpected("tail", other)),
        }
    }

    /// Appends a line that was decided at a point, sets the next deadline and publishes it to all
    /// who listen but this process.
    #[tracing::instrument(level = "debug", skip_all, fields(%table))]
    pub async fn append(&self, table: TableId, new: NewLine<'_>) -> Result<Append, Unavailable> {
        let NewLine { after, tag, engine, line, deadline, idle_ms } = new;
        // Written where it is sent from: this is the call of every move.
        let script = &self.scripts.append;
        let mut call = redis::Cmd::with_capacity(11, line.len() + 384);
        call.arg("EVALSHA").arg(script.get_hash()).arg(3);
        call.arg(self.table_key(table, "head")).arg(self.table_key(table, "journal"));
        call.arg(self.due_key(self.shard_of(table), engine));
        call.write_arg_fmt(format_args!("{} {}", after.version, after.tag));
        call.write_arg_fmt(format_args!("{tag} {line}"));
        call.arg(&*self.subscriptions.listener);
        match (deadline, idle_ms) {
            (Some(deadline), _) => call.arg(deadline.ms()),
            (None, Some(idle_ms)) => call.arg("").arg(idle_ms),
            (None, None) => call.arg(""),
        };
        let mut commands = self.commands.clone();
        let mut answer = call.query_async(&mut commands).await;
        if matches!(&answer, Err(error) if error.kind() == NO_SCRIPT) {
            script.prepare_invoke().load_async(&mut commands).await?;
            answer = call.query_async(&mut commands).await;
        }
        let answer = match answer? {
            Value::Int(1) => return Ok(Append::Appended),
            other => redis::from_redis_value::<Vec<Value>>(other).map_err(unreadable)?,
        };
        match answer.as_slice() {
            [kind, lines] if is(kind, "behind") => Ok(Append::Behind(entries(lines)?)),
            [kind] if is(kind, "elsewhere") => Ok(Append::Elsewhere),
            [kind] if is(kind, "missing") => Ok(Append::Missing),
            [kind] if is(kind, "halted") => Ok(Append::Halted),
            other => Err(unexpected("append", other)),
        }
    }

    /// Replaces the lines up to a point by a snapshot of it. False when others have appended
    /// since: then nothing has changed.
    pub async fn compact(
        &self,
        table: TableId,
        at: Point,
        snapshot: &str,
    ) -> Result<bool, Unavailable> {
        let mut call = self.scripts.compact.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        call.arg(at.version).arg(at.tag.to_string()).arg(snapshot);
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }

    async fn read(&self, table: TableId, from: Option<Point>) -> Result<Vec<Value>, Unavailable> {
        let mut call = self.scripts.load.prepare_invoke();
        call.key(self.table_key(table, "head")).key(self.table_key(table, "journal"));
        match from {
            Some(from) => call.arg(from.version).arg(from.tag.to_string()),
            None => call.arg(""),
        };
        Ok(call.invoke_async(&mut self.commands.clone()).await?)
    }
}

fn entries(lines: &Value) -> Result<Vec<Entry>, Unavailable> {
    let lines: Vec<String> = redis::from_redis_value_ref(lines).map_err(unreadable)?;
    Ok(lines.into_iter().map(entry_of).collect())
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

#[cfg(test)]
mod tests {
    use super::entry_of;
    use crate::ids::Tag;
    use bahay_shell::Entry;

    #[test]
    fn an_entry_is_a_tag_and_a_line() {
        let tag: Tag = "0123456789ab".parse().unwrap();
        let entry = Entry { tag, line: r#"{"at":1, "x":"a b"}"#.to_owned() };
        assert_eq!(entry_of(entry.to_string()), entry);
        for untagged in [r#"{"at":0}"#, "not even JSON", "", "0123456789a {}"] {
            let entry = entry_of(untagged.to_owned());
            assert_eq!((entry.tag, entry.line.as_str()), (Tag::default(), untagged));
        }
    }
}
