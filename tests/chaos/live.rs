//! Tables as stored in Redis, read without the service: replayed from their journals by the rules,
//! and looked up in the sets of deadlines.

use std::time::{Duration, Instant};

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{Phase, Readable as _, Table as EngineTable, TableId};
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::time::sleep;

use crate::evidence::Tables;

/// The key prefix of the nodes of a run.
const PREFIX: &str = "bahay";

/// The number of times that a suspicious table is read again, since its keys are not read
/// atomically.
const READS: usize = 5;

/// A table at one time.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) id: TableId,
    pub(crate) phase: &'static str,
    pub(crate) version: u64,
    /// True if the table's state has a deadline.
    pub(crate) needs_deadline: bool,
    /// True if a game is being prepared or played, so that the table changes soon whatever the
    /// players do.
    pub(crate) is_busy: bool,
    /// The deadline in the set of the table's shard.
    pub(crate) due: Option<i64>,
    /// The reason for which the journal cannot be replayed, or for which the house halted the
    /// table.
    pub(crate) broken: Option<String>,
}

impl Table {
    /// Returns true if the table is busy and has no other version later.
    pub(crate) fn stands_still(&self, later: &[Self]) -> bool {
        let now = later.iter().find(|other| other.id == self.id);
        self.is_busy && now.is_some_and(|now| now.version == self.version)
    }
}

/// Fields of the head, the lines, and a deadline in either set.
type TableFields = (Vec<Option<String>>, Vec<String>, Option<String>, Option<String>);

/// A reader of tables that does not use the service.
pub(crate) struct Reader {
    redis: MultiplexedConnection,
}

impl Reader {
    pub(crate) async fn connect(url: &str) -> Result<Self, redis::RedisError> {
        let client = redis::Client::open(url)?;
        Ok(Self { redis: client.get_multiplexed_async_connection().await? })
    }

    /// Reads all tables.
    pub(crate) async fn tables(&mut self) -> Result<Vec<Table>, redis::RedisError> {
        let heads: Vec<String> = self.redis.keys(format!("{PREFIX}:*:table:*:head")).await?;
        let mut tables = Vec::new();
        for head in heads {
            let Some(mut table) = self.table(&head).await? else {
                continue;
            };
            for _ in 0..READS {
                let seems_wrong =
                    table.broken.is_some() || table.needs_deadline && table.due.is_none();
                if !seems_wrong {
                    break;
                }
                sleep(Duration::from_millis(50)).await;
                match self.table(&head).await? {
                    Some(read) => table = read,
                    None => break,
                }
            }
            tables.push(table);
        }
        Ok(tables)
    }

    async fn table(&mut self, head: &str) -> Result<Option<Table>, redis::RedisError> {
        let Some(stem) = head.strip_suffix(":head") else {
            return Ok(None);
        };
        let mut parts = stem.split(':');
        let shard = parts.nth(1).unwrap_or_default();
        let Some(Ok(id)) = parts.nth(1).map(str::parse::<TableId>) else {
            return Ok(None);
        };
        // Each engine version has its own set of deadlines; the first had no number yet.
        let engine: Option<String> = self.redis.hget(head, "engine").await?;
        let engine = engine.unwrap_or_else(|| "1".to_owned());
        // One transaction reads the table atomically.
        let mut read = redis::pipe();
        read.atomic();
        read.cmd("HMGET").arg(head).arg(&["base", "state", "halted"]);
        read.lrange(format!("{stem}:journal"), 0, -1);
        read.zscore(format!("{PREFIX}:{shard}:due:{engine}"), id.to_string());
        read.zscore(format!("{PREFIX}:{shard}:due"), id.to_string());
        let (fields, lines, due, due_before): TableFields =
            read.query_async(&mut self.redis).await?;
        let [Some(base), Some(state), halted] = fields.as_slice() else {
            return Ok(None);
        };
        let base: u64 = base.parse().unwrap_or_default();
        let version = base + lines.len() as u64;
        let due = due.or(due_before).and_then(|score| score.split('.').next()?.parse().ok());
        let replayed = match halted {
            Some(why) => Err(format!("it is halted: {why}")),
            None => replayed(state, &lines),
        };
        let (phase, is_busy) = match replayed.as_ref().map(EngineTable::phase) {
            Ok(Phase::Waiting) => ("waiting", false),
            Ok(Phase::Preparing(_)) => ("preparing", true),
            Ok(Phase::Opening(_)) => ("opening", true),
            Ok(Phase::Revealing(_)) => ("revealing", true),
            Ok(Phase::Playing(_)) => ("playing", true),
            Ok(Phase::Settling(_)) => ("settling", true),
            Err(_) => ("broken", false),
        };
        let needs_deadline = replayed.as_ref().is_ok_and(|table| table.deadline().is_some());
        let broken = replayed.err();
        Ok(Some(Table { id, phase, version, needs_deadline, is_busy, due, broken }))
    }

    /// Waits until no table has a game, up to a timeout.
    pub(crate) async fn until_idle(&mut self, patience: Duration) -> Result<(), redis::RedisError> {
        let begun = Instant::now();
        while self.tables().await?.iter().any(|table| table.is_busy) && begun.elapsed() < patience {
            sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// Reads all tables, and again until every busy one has another version or the time is up.
    pub(crate) async fn watch(&mut self, patience: Duration) -> Result<Tables, redis::RedisError> {
        let then = self.tables().await?;
        let begun = Instant::now();
        loop {
            sleep(Duration::from_millis(100)).await;
            let later = self.tables().await?;
            if !then.iter().any(|table| table.stands_still(&later)) || begun.elapsed() > patience {
                let after_ms = begun.elapsed().as_millis();
                return Ok(Tables { then, later, after_ms });
            }
        }
    }
}

fn replayed(state: &str, lines: &[String]) -> Result<EngineTable<AnyGame>, String> {
    let mut table = AnyGame::read_table(state).map_err(|error| error.to_string())?;
    for entry in lines {
        // The entry begins with the tag.
        let line = entry.split_once(' ').map_or(entry.as_str(), |(_, line)| line);
        let line = AnyGame::read_line(table.kind(), line).map_err(|error| error.to_string())?;
        let (next, _) = table.apply_line(&line).map_err(|rejection| rejection.to_string())?;
        table = next;
    }
    Ok(table)
}
