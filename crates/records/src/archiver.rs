//! The archiver moves records to the archive in batches: it selects them by age, packs them into an
//! object, writes it, reads it back, compares it, and records it in the database. After the grace
//! period that the owner of the schema has set, it reads and compares each object again, and then
//! removes the texts of its records from the database.
//!
//! An archiver holds an advisory lock on a connection of its own, which a crash releases, so one
//! process archives at a time. A crash before the last step leaves an object without a row, and
//! every record in the database. An object is named by the hash of its content, so a repeated run
//! writes the same records to the same name; [`Archiver::inspect_archive`] finds and removes
//! leftover objects.

use std::time::Duration;

use bahay_engine::hex::Hex;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx as _};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::archive_store::ArchiveStore;
use super::pack::{self, Hash, PackedObject, RECORD_BYTES_MAX, RecordFrame};
use super::reader::Records;
use bahay_base::clock::{self, Clock};
use bahay_db as db;

/// The interval between two runs of servers.
pub const ARCHIVING_PERIOD: Duration = Duration::from_hours(1);

/// The pause between two batches, which keeps the load of the database low.
const PAUSE: Duration = Duration::from_millis(200);

/// The default number of records per object.
pub(super) const BATCH: u32 = 1_000;

/// The additional age at which an incomplete batch is archived.
const REST_WAITS: Duration = Duration::from_hours(24);

/// The key of the advisory lock: the bytes of `bahayarc`.
const LOCK: i64 = 0x62_61_68_61_79_61_72_63;

/// The age and the batch size of archived records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveSchedule {
    /// The minimum age of a record that is archived, from the end of its game or the close of its
    /// tournament: a day or more.
    pub after: Duration,
    /// The maximum number of records per object.
    pub batch: u32,
}

impl ArchiveSchedule {
    pub fn new(after: Duration) -> Self {
        Self { after, batch: BATCH }
    }
}

/// A completed step of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A dictionary was written but not recorded yet.
    Learnt,
    Packed,
    Written,
    ReadBack,
    /// The object was recorded; the records are still in the database as well.
    Noted,
    /// The texts of records whose grace period is over were removed from the database.
    TextsRemoved,
}

impl Step {
    pub const ALL: [Self; 6] = [
        Self::Learnt,
        Self::Packed,
        Self::Written,
        Self::ReadBack,
        Self::Noted,
        Self::TextsRemoved,
    ];
}

/// An error that ends a run. Completed batches remain archived.
#[derive(Debug, thiserror::Error)]
pub enum ArchivingError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("the archive cannot be reached: {0}")]
    Unreachable(String),
    #[error("object {name} differs from what was written")]
    ReadMismatch { name: String },
    #[error("records could not be packed: {0}")]
    Unpacked(String),
    #[error("another process is archiving")]
    Busy,
    #[error("there is no archive: set BAHAY_ARCHIVE")]
    NoArchive,
    /// For tests, which simulate a crash.
    #[error("stopped after {0:?}")]
    Stopped(Step),
}

/// Totals of archived batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveTotals {
    pub records: u64,
    pub objects: u64,
    /// The sizes in bytes before and after compression.
    pub bytes: u64,
    pub archived_bytes: u64,
}

/// The result of an inspection of the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveInspection {
    pub objects: u64,
    pub records: u64,
    /// Objects without a row, left by a crash.
    pub left_over: Vec<String>,
    /// Descriptions of missing or damaged objects.
    pub faults: Vec<String>,
}

/// Moves records to the archive.
#[derive(Clone, Debug)]
pub struct Archiver {
    pool: PgPool,
    clock: Clock,
    records: Records,
    schedule: ArchiveSchedule,
    stop_after: Option<Step>,
}

/// A record that is due for archiving.
#[derive(Debug)]
struct DueRecord {
    game: Uuid,
    record: String,
    /// The end of the game, or the close of its tournament.
    finished_at: SqlTimestamp,
}

/// The advisory lock, held until this is dropped.
#[derive(Debug)]
struct ArchiveLock(PgConnection);

#[derive(Clone, Debug)]
struct Dictionary {
    number: Option<i32>,
    bytes: Vec<u8>,
}

impl Archiver {
    pub fn new(pool: PgPool, clock: Clock, records: Records, schedule: ArchiveSchedule) -> Self {
        Self { pool, clock, records, schedule, stop_after: None }
    }

    /// Ends with an error after this step, as a crash would; for tests.
    #[must_use]
    pub fn with_stop_after(self, step: Step) -> Self {
        Self { stop_after: Some(step), ..self }
    }

    /// Archives due records, unless another process archives.
    pub async fn archive_due(&self) -> Result<(), ArchivingError> {
        match self.archive_whole_batches().await {
            Ok(ArchiveTotals { records: 0, .. }) => {}
            Ok(ArchiveTotals { records, objects, .. }) => {
                tracing::info!(records, objects, "old records were archived");
            }
            Err(ArchivingError::Busy) => tracing::debug!("another process archives"),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Archives whole batches from about where the last run ended, and an incomplete batch after a
    /// delay of a day.
    async fn archive_whole_batches(&self) -> Result<ArchiveTotals, ArchivingError> {
        let mut lock = self.lock().await?;
        self.remove_archived_texts(&mut lock.0).await?;
        let mut from = read_resume_point(&mut lock.0).await?;
        let mut moved = ArchiveTotals::default();
        loop {
            let due_records = self.due_records(&mut lock.0, from, self.schedule.batch).await?;
            let is_whole = due_records.len() >= self.schedule.batch as usize;
            let rest = clock::to_jiff(self.cutoff(REST_WAITS));
            let has_waited =
                due_records.first().is_some_and(|oldest| oldest.finished_at.to_jiff() < rest);
            let (Some(last), true) = (due_records.last(), is_whole || has_waited) else {
                lock.release().await?;
                return Ok(moved);
            };
            from = Some(last.finished_at);
            moved = moved.plus(self.archive_batch(&mut lock, due_records, false).await?);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Archives up to `limit` due records, the oldest first. If `learn` is set, a new dictionary is
    /// trained from the first of them.
    pub async fn archive_all(
        &self,
        limit: u64,
        learn: bool,
    ) -> Result<ArchiveTotals, ArchivingError> {
        let mut lock = self.lock().await?;
        self.remove_archived_texts(&mut lock.0).await?;
        let mut moved = ArchiveTotals::default();
        let mut from = None;
        let mut learn = learn;
        while moved.records < limit {
            let left = u32::try_from(limit - moved.records).unwrap_or(u32::MAX);
            let due_records =
                self.due_records(&mut lock.0, from, left.min(self.schedule.batch)).await?;
            let Some(last) = due_records.last() else { break };
            from = Some(last.finished_at);
            moved = moved.plus(self.archive_batch(&mut lock, due_records, learn).await?);
            learn = false;
        }
        lock.release().await?;
        Ok(moved)
    }

    /// Returns the number of due records and their size in bytes.
    pub async fn count_due(&self) -> Result<(u64, u64), ArchivingError> {
        let before = clock::to_jiff(self.cutoff(Duration::ZERO)).to_sqlx();
        let row = sqlx::query!(
            r#"
            select count(*) as "records!",
                coalesce(sum(octet_length(r.record)), 0)::bigint as "bytes!"
            from archivable_games e
            join game_records r on r.game = e.game
            where e.finished_at < $1 and r.record is not null and r.archived_in is null
                and octet_length(r.record) <= $2
            "#,
            before as _,
            record_bytes_max()
        )
        .fetch_one(&self.pool)
        .await?;
        let number = |number| u64::try_from(number).unwrap_or_default();
        Ok((number(row.records), number(row.bytes)))
    }

    /// Compares every object with its row, and finds objects without a row, which are removed if
    /// `remove` is set. Nothing is archived meanwhile.
    pub async fn inspect_archive(&self, remove: bool) -> Result<ArchiveInspection, ArchivingError> {
        let mut lock = self.lock().await?;
        let store = self.store()?;
        let mut stored = store.list().await.map_err(ArchivingError::Unreachable)?;
        stored.sort_unstable();
        let recorded = sqlx::query!(
            r#"
            select o.name as "name!", o.hash as "hash!", o.records as "records!"
            from archive_objects o
            union all
            select d.name, d.hash, 0 from archive_dictionaries d
            order by 1
            "#
        )
        .fetch_all(&mut lock.0)
        .await?;
        let mut inspection = ArchiveInspection::default();
        for object in &recorded {
            inspection.objects += 1;
            inspection.records += u64::try_from(object.records).unwrap_or_default();
            if stored.binary_search(&object.name).is_err() {
                inspection.faults.push(format!("{} is missing", object.name));
                continue;
            }
            let read = store.get(&object.name).await.map_err(ArchivingError::Unreachable)?;
            if pack::hash(&read).as_slice() != object.hash {
                inspection.faults.push(format!("{} differs from what was written", object.name));
            }
        }
        for name in stored {
            if recorded.binary_search_by(|object| object.name.cmp(&name)).is_err() {
                if remove {
                    store.remove(&name).await.map_err(ArchivingError::Unreachable)?;
                }
                inspection.left_over.push(name);
            }
        }
        lock.release().await?;
        Ok(inspection)
    }

    async fn archive_batch(
        &self,
        lock: &mut ArchiveLock,
        due_records: Vec<DueRecord>,
        learn: bool,
    ) -> Result<ArchiveTotals, ArchivingError> {
        let store = self.store()?;
        let dictionary = self.dictionary(&mut lock.0, &due_records, learn).await?;
        let games: Vec<Uuid> = due_records.iter().map(|due| due.game).collect();
        let bytes: usize = due_records.iter().map(|due| due.record.len()).sum();
        let dictionary_bytes = dictionary.bytes.clone();
        let packed = run_blocking(move || {
            let records: Vec<&str> = due_records.iter().map(|one| one.record.as_str()).collect();
            pack::pack(&records, &dictionary_bytes).map_err(|error| error.to_string())
        })
        .await?;
        self.finish_step(Step::Packed)?;

        let PackedObject { bytes: object, frames } = packed;
        let hash = pack::hash(&object);
        let name = object_name("records", &hash, "zst");
        let archived_bytes = object.len();
        store.put(&name, object).await.map_err(ArchivingError::Unreachable)?;
        self.finish_step(Step::Written)?;

        let read = store.get(&name).await.map_err(ArchivingError::Unreachable)?;
        let mismatch = || ArchivingError::ReadMismatch { name: name.clone() };
        if pack::hash(&read) != hash {
            return Err(mismatch());
        }
        let columns = FrameColumns::from_frames(&frames).ok_or_else(mismatch)?;
        let dictionary_bytes = dictionary.bytes;
        let same =
            run_blocking(move || Ok(pack::frames_match(&read, &frames, &dictionary_bytes))).await?;
        if !same {
            return Err(mismatch());
        }
        self.finish_step(Step::ReadBack)?;

        sqlx::query!(
            r#"select archive_records($1, $2, $3, $4, $5, $6, $7, $8) as "nothing?: ()""#,
            name,
            &hash[..],
            i32::try_from(archived_bytes).map_err(|_| mismatch())?,
            dictionary.number,
            &games,
            &columns.offsets,
            &columns.lengths,
            &columns.hashes
        )
        .fetch_one(&mut lock.0)
        .await?;
        self.finish_step(Step::Noted)?;
        self.remove_archived_texts(&mut lock.0).await?;
        self.finish_step(Step::TextsRemoved)?;
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Ok(ArchiveTotals {
            records: number(games.len()),
            objects: 1,
            bytes: number(bytes),
            archived_bytes: number(archived_bytes),
        })
    }

    /// Removes the texts of records whose object was recorded longer ago than the grace period, if
    /// the object still matches its row. Continues after a mismatch, and fails at the end.
    async fn remove_archived_texts(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), ArchivingError> {
        let due = sqlx::query!(
            "
            select o.number, o.name, o.hash
            from archive_objects o
            cross join owner_settings s
            where o.made_at <= now() - s.archive_grace
                and exists (
                    select from game_records r
                    where r.archived_in = o.number and r.record is not null
                )
            order by o.number
            "
        )
        .fetch_all(&mut *connection)
        .await?;
        let mut failed = None;
        for object in due {
            let read = self.store()?.get(&object.name).await;
            match read {
                Ok(read) if pack::hash(&read).as_slice() == object.hash => {
                    sqlx::query_scalar!(
                        r#"select remove_archived_records($1) as "removed!""#,
                        object.number
                    )
                    .fetch_one(&mut *connection)
                    .await?;
                }
                Ok(_) => failed = Some(ArchivingError::ReadMismatch { name: object.name }),
                Err(why) => failed = Some(ArchivingError::Unreachable(why)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Returns the newest dictionary from the archive, or trains one from these records if there is
    /// none or `learn` is set.
    async fn dictionary(
        &self,
        connection: &mut PgConnection,
        due_records: &[DueRecord],
        learn: bool,
    ) -> Result<Dictionary, ArchivingError> {
        let store = self.store()?;
        let newest = sqlx::query!(
            "
            select d.number, d.name, d.hash
            from archive_dictionaries d
            order by d.number desc
            limit 1
            "
        )
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(newest) = newest.filter(|_| !learn) {
            let bytes = store.get(&newest.name).await.map_err(ArchivingError::Unreachable)?;
            if pack::hash(&bytes).as_slice() != newest.hash {
                return Err(ArchivingError::ReadMismatch { name: newest.name });
            }
            return Ok(Dictionary { number: Some(newest.number), bytes });
        }
        let samples: Vec<String> = due_records.iter().map(|one| one.record.clone()).collect();
        let learnt = run_blocking(move || {
            let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
            Ok(pack::train_dictionary(&samples))
        });
        let Some(bytes) = learnt.await? else {
            return Ok(Dictionary { number: None, bytes: Vec::new() });
        };
        let hash = pack::hash(&bytes);
        let name = object_name("dictionaries", &hash, "zdict");
        store.put(&name, bytes.clone()).await.map_err(ArchivingError::Unreachable)?;
        if store.get(&name).await.map_err(ArchivingError::Unreachable)? != bytes {
            return Err(ArchivingError::ReadMismatch { name });
        }
        self.finish_step(Step::Learnt)?;
        sqlx::query!(
            "
            insert into archive_dictionaries (name, hash, bytes)
            values ($1, $2, $3)
            on conflict (name) do nothing
            ",
            name,
            &hash[..],
            i32::try_from(bytes.len()).unwrap_or(i32::MAX)
        )
        .execute(&mut *connection)
        .await?;
        let number = sqlx::query_scalar!(
            "select d.number from archive_dictionaries d where d.name = $1",
            name
        )
        .fetch_one(connection)
        .await?;
        Ok(Dictionary { number: Some(number), bytes })
    }

    /// Returns due records whose age counts from `from` or later, the oldest first.
    async fn due_records(
        &self,
        connection: &mut PgConnection,
        from: Option<SqlTimestamp>,
        limit: u32,
    ) -> Result<Vec<DueRecord>, sqlx::Error> {
        let before = clock::to_jiff(self.cutoff(Duration::ZERO)).to_sqlx();
        sqlx::query_as!(
            DueRecord,
            r#"
            select e.game as "game!", r.record as "record!",
                e.finished_at as "finished_at!: SqlTimestamp"
            from archivable_games e
            join game_records r on r.game = e.game
            where e.finished_at < $1 and r.record is not null and r.archived_in is null
                and octet_length(r.record) <= $2
                and (
                    $3::timestamptz is null
                    or e.finished_at >= $3 and e.day >= ($3 at time zone 'UTC')::date
                )
            order by e.day, e.finished_at, e.game
            limit $4
            "#,
            before as _,
            record_bytes_max(),
            from as _,
            i64::from(limit)
        )
        .fetch_all(connection)
        .await
    }

    fn cutoff(&self, longer: Duration) -> clock::Timestamp {
        clock::subtract(self.clock.now(), self.schedule.after.saturating_add(longer))
    }

    fn store(&self) -> Result<&ArchiveStore, ArchivingError> {
        self.records.store().ok_or(ArchivingError::NoArchive)
    }

    fn finish_step(&self, step: Step) -> Result<(), ArchivingError> {
        match self.stop_after {
            Some(stop) if stop == step => Err(ArchivingError::Stopped(step)),
            _ => Ok(()),
        }
    }

    async fn lock(&self) -> Result<ArchiveLock, ArchivingError> {
        self.store()?;
        let mut connection = db::open_in_role(&self.pool.connect_options()).await?;
        let taken = sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "taken!""#, LOCK)
            .fetch_one(&mut connection)
            .await?;
        if taken { Ok(ArchiveLock(connection)) } else { Err(ArchivingError::Busy) }
    }
}

impl ArchiveLock {
    /// Releases the lock at once, before PostgreSQL notices the closed connection.
    async fn release(mut self) -> Result<(), sqlx::Error> {
        sqlx::query_scalar!(r#"select pg_advisory_unlock($1) as "was_held!""#, LOCK)
            .fetch_one(&mut self.0)
            .await?;
        Ok(())
    }
}

impl ArchiveTotals {
    fn plus(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            objects: self.objects + other.objects,
            bytes: self.bytes + other.bytes,
            archived_bytes: self.archived_bytes + other.archived_bytes,
        }
    }
}

/// The frames of an object as columns.
struct FrameColumns {
    offsets: Vec<i32>,
    lengths: Vec<i32>,
    hashes: Vec<Vec<u8>>,
}

impl FrameColumns {
    /// Returns `None` if the object is too large.
    fn from_frames(parts: &[RecordFrame]) -> Option<Self> {
        let number = |number: usize| i32::try_from(number).ok();
        Some(Self {
            offsets: parts.iter().map(|part| number(part.offset)).collect::<Option<_>>()?,
            lengths: parts.iter().map(|part| number(part.length)).collect::<Option<_>>()?,
            hashes: parts.iter().map(|part| part.hash.to_vec()).collect(),
        })
    }
}

/// Returns the time at which the search continues: a day before the newest game of the last
/// objects. So a game that was booked up to a day late is still found, and a tournament that was
/// closed meanwhile; a manual run searches everything.
async fn read_resume_point(
    connection: &mut PgConnection,
) -> Result<Option<SqlTimestamp>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        select max(o.last_finished_at) - interval '1 day' as "last: SqlTimestamp"
        from (
            select a.last_finished_at
            from archive_objects a
            order by a.number desc
            limit 100
        ) o
        "#
    )
    .fetch_one(connection)
    .await
}

/// Runs CPU-bound work outside of the async threads.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, ArchivingError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(error.to_string())).map_err(ArchivingError::Unpacked)
}

/// Returns the name of an object: the hash of its content.
fn object_name(folder: &str, hash: &Hash, kind: &str) -> String {
    format!("{folder}/{}.{kind}", Hex(*hash))
}

fn record_bytes_max() -> i32 {
    i32::try_from(RECORD_BYTES_MAX).unwrap_or(i32::MAX)
}
