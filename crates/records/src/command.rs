//! `bahay archive`: archives records by hand, reports how many are due, or inspects the archive.

use std::io::Write;

use sqlx::PgPool;

use super::archiver::BATCH;
use super::{ArchiveInspection, ArchiveSchedule, Archiver, ArchivingError, Records};
use bahay_base::clock::Clock;

/// The options of a manual run.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct ArchiveOptions {
    /// Archive nothing; print the number of records that are due.
    #[arg(long, conflicts_with_all = ["check", "new_dictionary", "limit"])]
    pub dry_run: bool,

    /// The maximum number of records to archive; without it all that are due.
    #[arg(long, value_name = "NUMBER", conflicts_with = "check",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    /// The maximum number of records per object.
    #[arg(long, value_name = "NUMBER", default_value_t = BATCH,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: u32,

    /// Train a new dictionary from the oldest records of this run; use it when games or records
    /// have changed and objects have grown by it.
    #[arg(long, conflicts_with = "check")]
    pub new_dictionary: bool,

    /// Archive nothing; read the whole archive and print damaged objects and those that a crash has
    /// left.
    #[arg(long)]
    pub check: bool,

    /// With --check, remove the objects that a crash has left.
    #[arg(long, requires = "check")]
    pub remove_left_over: bool,
}

/// An error of a manual run.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Moving(#[from] ArchivingError),
    #[error("the result cannot be printed: {0}")]
    Print(#[from] std::io::Error),
    #[error("the archive has missing or damaged objects")]
    Faults,
}

/// Runs the command and prints its result.
pub async fn run(
    options: ArchiveOptions,
    pool: PgPool,
    records: Records,
    schedule: ArchiveSchedule,
    out: &mut impl Write,
) -> Result<(), ArchiveError> {
    let schedule = ArchiveSchedule { batch: options.batch, ..schedule };
    let mover = Archiver::new(pool, Clock::system(), records, schedule);
    if options.dry_run {
        let (records, bytes) = mover.count_due().await?;
        writeln!(out, "{records} records of {bytes} bytes would be archived")?;
        return Ok(());
    }
    if options.check {
        let ArchiveInspection { objects, records, left_over, faults } =
            mover.inspect_archive(options.remove_left_over).await?;
        writeln!(out, "{objects} objects with {records} records were read")?;
        let done = if options.remove_left_over { "removed" } else { "left over" };
        for name in &left_over {
            writeln!(out, "{done}: {name}")?;
        }
        for fault in &faults {
            writeln!(out, "fault: {fault}")?;
        }
        return if faults.is_empty() { Ok(()) } else { Err(ArchiveError::Faults) };
    }
    let moved =
        mover.archive_all(options.limit.unwrap_or(u64::MAX), options.new_dictionary).await?;
    let each = moved.archived_bytes.checked_div(moved.records).unwrap_or_default();
    writeln!(
        out,
        "{} records of {} bytes were archived in {} objects of {} bytes, {each} per record",
        moved.records, moved.bytes, moved.objects, moved.archived_bytes
    )?;
    Ok(())
}
