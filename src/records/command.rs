//! `bahay archive`: moves records to the archive by hand, or says what would be moved, or holds the
//! archive against the database.

use std::io::Write;

use sqlx::PgPool;

use super::archiver::BATCH;
use super::{Archiver, ArchivingError, ArchiveSchedule, Records, ArchiveInspection};
use crate::clock::Clock;

/// What is done by hand.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct ArchiveOptions {
    /// Move nothing; say how many records are old enough.
    #[arg(long, conflicts_with_all = ["check", "new_dictionary", "limit"])]
    pub dry_run: bool,

    /// How many records are moved at most; all that are old enough without it.
    #[arg(long, value_name = "NUMBER", conflicts_with = "check",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    /// How many records one object holds at most.
    #[arg(long, value_name = "NUMBER", default_value_t = BATCH,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: u32,

    /// Learn another dictionary from the oldest records that are moved now: when games or records have
    /// changed, and objects have grown by it.
    #[arg(long, conflicts_with = "check")]
    pub new_dictionary: bool,

    /// Move nothing; read the whole archive, and say what is not as it was written, and what a crash
    /// has left there.
    #[arg(long)]
    pub check: bool,

    /// With --check, remove what a crash has left.
    #[arg(long, requires = "check")]
    pub remove_left_over: bool,
}

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Moving(#[from] ArchivingError),
    #[error("it cannot be printed: {0}")]
    Print(#[from] std::io::Error),
    #[error("the archive is not as it was written")]
    Faults,
}

/// Does it, and prints what it came to.
pub async fn run(
    what: ArchiveOptions,
    pool: PgPool,
    records: Records,
    schedule: ArchiveSchedule,
    out: &mut impl Write,
) -> Result<(), ArchiveError> {
    let schedule = ArchiveSchedule { batch: what.batch, ..schedule };
    let mover = Archiver::new(pool, Clock::system(), records, schedule);
    if what.dry_run {
        let (records, bytes) = mover.count_due().await?;
        writeln!(out, "{records} records of {bytes} bytes would be moved")?;
        return Ok(());
    }
    if what.check {
        let ArchiveInspection { objects, records, left_over, faults } =
            mover.inspect_archive(what.remove_left_over).await?;
        writeln!(out, "{objects} objects with {records} records were read")?;
        let done = if what.remove_left_over { "removed" } else { "left over" };
        for name in &left_over {
            writeln!(out, "{done}: {name}")?;
        }
        for fault in &faults {
            writeln!(out, "fault: {fault}")?;
        }
        return if faults.is_empty() { Ok(()) } else { Err(ArchiveError::Faults) };
    }
    let moved = mover.archive_all(what.limit.unwrap_or(u64::MAX), what.new_dictionary).await?;
    let each = moved.archived_bytes.checked_div(moved.records).unwrap_or_default();
    writeln!(
        out,
        "{} records of {} bytes were moved into {} objects of {} bytes, {each} a record",
        moved.records, moved.bytes, moved.objects, moved.archived_bytes
    )?;
    Ok(())
}
