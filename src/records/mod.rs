//! Records of games in the archive: moved there when their games are long over, and read back.
//!
//! A record is in the database at first, in `game_records`. Here it is packed with others into one
//! object (`pack`), which is written to a place (`place`: a folder, or object storage that speaks
//! S3), read back and compared; only then is the record taken out of the database, in the
//! transaction that notes where it is (`moving`). Its hash stays, and what is read is held against it
//! (`reading`). `command` is `bahay archive`.
//!
//! Bounds: a thousand records an object, a megabyte a record. Deliberately absent: removing a record
//! for good, and what is in one.

pub mod command;
mod connector;
mod archiver;
mod pack;
mod archive_store;
mod reader;

pub use archiver::{ArchiveTotals, Archiver, ArchivingError, ArchiveSchedule, Step, ArchiveInspection};
pub use archive_store::{AddressError, ArchiveStore};
pub use reader::{RecordError, Records};
