//! Encodes and decodes lines and tables. No other module of the shell knows their text.

use bahay_engine::table::{Line, Readable, Table};

use crate::failure::CodecError;

/// Decodes a line of a table's journal. The table's kind decides how its actions are read.
pub(crate) fn read_line<G: Readable>(
    of: &Table<G>,
    text: &str,
) -> Result<Line<G::Action>, CodecError> {
    G::read_line(of.kind(), text).map_err(|error| CodecError(error.to_string()))
}

/// Encodes a line for a table's journal.
pub(crate) fn write_line<G: Readable>(line: &Line<G::Action>) -> Result<String, CodecError> {
    serde_json::to_string(line).map_err(|error| CodecError(error.to_string()))
}

/// Decodes a snapshot.
pub(crate) fn read_table<G: Readable>(text: &str) -> Result<Table<G>, CodecError> {
    G::read_table(text).map_err(|error| CodecError(error.to_string()))
}

/// Encodes a snapshot.
///
/// # Errors
/// Fails only if a type of the game cannot be encoded as JSON.
pub fn write_table<G: Readable>(table: &Table<G>) -> Result<String, CodecError> {
    serde_json::to_string(table).map_err(|error| CodecError(error.to_string()))
}
