//! How lines and tables are written and read. Nothing else in the shell knows their text.

use bahay_engine::table::{Line, Readable, Table, Unreadable};

use crate::failure::NotReadable;

/// Reads a line of a table's journal. The table says by which rules its actions are read.
pub(crate) fn read_line<G: Readable>(
    of: &Table<G>,
    text: &str,
) -> Result<Line<G::Action>, NotReadable> {
    G::read_line(of.kind(), text).map_err(unreadable)
}

/// Writes a line for a table's journal.
pub(crate) fn write_line<G: Readable>(line: &Line<G::Action>) -> Result<String, NotReadable> {
    serde_json::to_string(line).map_err(not_readable)
}

/// Reads a snapshot.
pub(crate) fn read_table<G: Readable>(text: &str) -> Result<Table<G>, NotReadable> {
    G::read_table(text).map_err(unreadable)
}

/// Writes a snapshot.
///
/// # Errors
/// Only where a type of the game cannot be written as JSON.
pub fn write_table<G: Readable>(table: &Table<G>) -> Result<String, NotReadable> {
    serde_json::to_string(table).map_err(not_readable)
}

fn unreadable(error: Unreadable) -> NotReadable {
    NotReadable(error.to_string())
}

fn not_readable(error: serde_json::Error) -> NotReadable {
    NotReadable(error.to_string())
}
