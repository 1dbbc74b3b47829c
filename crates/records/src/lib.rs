//! The archive of records: records move from the database to object storage when their games are
//! long over, and are read from there.
//!
//! A record is first stored in `game_records`, whether its game was played for coins or for the points
//! of a tournament. The archiver packs it with others into one object
//! (`pack`), which it writes to a store (`archive_store`: a folder, or S3-compatible object
//! storage), reads back and compares; only then does it record the object, and after a grace period
//! it removes the text from the database (`archiver`). The record's hash remains, and an archived
//! record is compared with it on every read (`reader`). `command` is `bahay archive`.
//!
//! Bounds: by default a thousand records per object, a megabyte per record. Deliberately absent:
//! the final removal of records, and any knowledge of their content.

mod archive_store;
mod archiver;
pub mod command;
mod connector;
mod pack;
mod reader;

pub use archive_store::{AddressError, ArchiveStore};
pub use archiver::{
    ARCHIVING_PERIOD, ArchiveInspection, ArchiveSchedule, ArchiveTotals, Archiver, ArchivingError,
    Step,
};
pub use reader::{RecordError, Records};
