//! Journals: create, load, append, compact.
//!
//! Each line is stored with a tag that its writer drew, in one entry of the list: the tag, a space,
//! the line. A version counts the lines, and its tag identifies them. A journal that has lost its
//! last lines and grown again is therefore never mistaken for a continuation: a caller with a point
//! that is not in the journal has to load the table again.

use bahay_engine::table::TableId;
use bahay_shell::{AppendOutcome, JournalEntry, Point, StoredTable, Tail};
use redis::{ErrorKind, RedisWrite as _, ServerErrorKind, Value};

use crate::{LiveStore, Script, Unavailable, script};
use bahay_base::ids::Tag;

static APPEND: Script = script!("append.lua");
static LOAD: Script = script!("load.lua");
static CREATE: Script = script!("create.lua");
static COMPACT: Script = script!("compact.lua");

/// The error of a server that was restarted after a script was loaded.
const NO_SCRIPT: ErrorKind = ErrorKind::Server(ServerErrorKind::NoScript);

/// A line to be appended.
pub type NewLine<'a> = bahay_shell::NewLine<&'a str>;

/// Parses an entry. A line without a tag was not written by this program and gets the default tag.
pub(super) fn parse_entry(mut text: String) -> JournalEntry {
    match text.split_once(' ').and_then(|(tag, _)| Some((tag.len(), tag.parse().ok()?))) {
        Some((length, tag)) => JournalEntry { tag, line: text.split_off(length + 1) },
        None => JournalEntry { tag: Tag::default(), line: text },
    }
}

impl LiveStore {
    /// Creates a table with an empty journal, unless it exists. The table expires after `idle_ms`
    /// milliseconds without a line. `engine` is fixed for all its lines. The tag is fresh, so that
    /// a table that was lost and is created again has a different history.
    pub async fn create(
        &self,
        table: TableId,
        tag: Tag,
        snapshot: &str,
        idle_ms: u64,
        engine: u32,
    ) -> Result<(), Unavailable> {
        let mut call = self.journal_call(&CREATE, table);
        call.arg(snapshot).arg(idle_ms).arg(engine).arg(tag.to_string());
        self.invoke(&call).await
    }

    /// Loads the snapshot and the lines after it; `None` if the table does not exist.
    pub async fn load(&self, table: TableId) -> Result<Option<StoredTable>, Unavailable> {
        match self.call_load(table, None).await?.as_slice() {
            [kind, version, tag, snapshot, lines, engine, halted] if is_word(kind, "whole") => {
                let halted: String = redis::from_redis_value_ref(halted).map_err(unreadable)?;
                let tag: String = redis::from_redis_value_ref(tag).map_err(unreadable)?;
                let version = redis::from_redis_value_ref(version).map_err(unreadable)?;
                Ok(Some(StoredTable {
                    base: Point { version, tag: tag.parse().unwrap_or_default() },
                    snapshot: redis::from_redis_value_ref(snapshot).map_err(unreadable)?,
                    lines: parse_entries(lines)?,
                    engine: redis::from_redis_value_ref(engine).map_err(unreadable)?,
                    halted: Some(halted).filter(|why| !why.is_empty()),
                }))
            }
            [kind] if is_word(kind, "missing") => Ok(None),
            other => Err(unexpected("load", other)),
        }
    }

    /// Returns the lines after a point.
    pub async fn tail(&self, table: TableId, from: Point) -> Result<Tail, Unavailable> {
        match self.call_load(table, Some(from)).await?.as_slice() {
            [kind, lines, halted] if is_word(kind, "tail") => Ok(match is_word(halted, "") {
                true => Tail::Lines(parse_entries(lines)?),
                false => Tail::Halted(parse_entries(lines)?),
            }),
            [kind] if is_word(kind, "elsewhere") => Ok(Tail::Elsewhere),
            [kind] if is_word(kind, "missing") => Ok(Tail::Missing),
            other => Err(unexpected("tail", other)),
        }
    }

    /// Appends a line that was decided at a point, sets the next deadline, and publishes the line
    /// to all listeners except this process.
    #[tracing::instrument(level = "debug", skip_all, fields(%table))]
    pub async fn append(
        &self,
        table: TableId,
        new: NewLine<'_>,
    ) -> Result<AppendOutcome, Unavailable> {
        let NewLine { after, tag, engine, line, deadline, idle_ms } = new;
        // The command is built in place, because this is the call of every move.
        let mut call = redis::Cmd::with_capacity(11, line.len() + 384);
        call.arg("EVALSHA").arg(APPEND.get_hash()).arg(3);
        call.arg(self.table_key(table, "head")).arg(self.table_key(table, "journal"));
        call.arg(self.due_key(self.shard_of(table), engine));
        call.write_arg_fmt(format_args!("{} {}", after.version, after.tag));
        call.write_arg_fmt(format_args!("{tag} {line}"));
        call.arg(&*self.subscriptions.subscriber.listener);
        match (deadline, idle_ms) {
            (Some(deadline), _) => call.arg(deadline.ms()),
            (None, Some(idle_ms)) => call.arg("").arg(idle_ms),
            (None, None) => call.arg(""),
        };
        let mut commands = self.commands.clone();
        let mut answer = call.query_async(&mut commands).await;
        if matches!(&answer, Err(error) if error.kind() == NO_SCRIPT) {
            APPEND.prepare_invoke().load_async(&mut commands).await?;
            answer = call.query_async(&mut commands).await;
        }
        let answer = match answer? {
            Value::Int(1) => return Ok(AppendOutcome::Appended),
            other => redis::from_redis_value::<Vec<Value>>(other).map_err(unreadable)?,
        };
        match answer.as_slice() {
            [kind, lines] if is_word(kind, "behind") => {
                Ok(AppendOutcome::Behind(parse_entries(lines)?))
            }
            [kind] if is_word(kind, "elsewhere") => Ok(AppendOutcome::Elsewhere),
            [kind] if is_word(kind, "missing") => Ok(AppendOutcome::Missing),
            [kind] if is_word(kind, "halted") => Ok(AppendOutcome::Halted),
            other => Err(unexpected("append", other)),
        }
    }

    /// Replaces the lines up to a point by a snapshot of it. Returns false, without a change, if
    /// the journal has grown since.
    pub async fn compact(
        &self,
        table: TableId,
        at: Point,
        snapshot: &str,
    ) -> Result<bool, Unavailable> {
        let mut call = self.journal_call(&COMPACT, table);
        call.arg(at.version).arg(at.tag.to_string()).arg(snapshot);
        self.invoke(&call).await
    }

    async fn call_load(
        &self,
        table: TableId,
        from: Option<Point>,
    ) -> Result<Vec<Value>, Unavailable> {
        let mut call = self.journal_call(&LOAD, table);
        match from {
            Some(from) => call.arg(from.version).arg(from.tag.to_string()),
            None => call.arg(""),
        };
        self.invoke(&call).await
    }
}

fn parse_entries(lines: &Value) -> Result<Vec<JournalEntry>, Unavailable> {
    let lines: Vec<String> = redis::from_redis_value_ref(lines).map_err(unreadable)?;
    Ok(lines.into_iter().map(parse_entry).collect())
}

fn is_word(value: &Value, word: &str) -> bool {
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
    use super::parse_entry;
    use bahay_base::ids::Tag;
    use bahay_shell::JournalEntry;

    #[test]
    fn an_entry_is_a_tag_and_a_line() {
        let tag: Tag = "0123456789ab".parse().unwrap();
        let entry = JournalEntry { tag, line: r#"{"at":1, "x":"a b"}"#.to_owned() };
        assert_eq!(parse_entry(entry.to_string()), entry);
        for untagged in [r#"{"at":0}"#, "not even JSON", "", "0123456789a {}"] {
            let entry = parse_entry(untagged.to_owned());
            assert_eq!((entry.tag, entry.line.as_str()), (Tag::default(), untagged));
        }
    }
}
