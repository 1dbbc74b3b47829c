//! What is stored of a table, as live state gives it: points of its history, lines with their
//! tags, and the answers to reading and appending.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::{Hex, ParseHexError};
use bahay_engine::table::Timestamp;
use serde::{Deserialize, Serialize};

/// What a line of a table's journal is known by: random. Two histories of a table that are of the
/// same length differ in it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Tag(pub Hex<6>);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Tag {
    type Err = ParseHexError;

    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        text.parse().map(Self)
    }
}

/// A point in the history of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// How many lines led to it.
    pub version: u64,
    /// Which ones: that of the last of them.
    pub tag: Tag,
}

/// A line of a journal, with its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    pub tag: Tag,
    pub line: String,
}

impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tag, self.line)
    }
}

/// A table as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTable {
    /// The point of the snapshot.
    pub base: Point,
    pub snapshot: String,
    /// The lines since, oldest first.
    pub lines: Vec<JournalEntry>,
    /// The version of the engine that its lines are for.
    pub engine: u32,
    /// Why it is halted, if it is.
    pub halted: Option<String>,
}

impl StoredTable {
    /// The version that its last line led to.
    pub fn version(&self) -> u64 {
        self.base.version + self.lines.len() as u64
    }

    /// Removes the lines after a point and returns them; `None` if this history does not lead
    /// through it.
    pub(crate) fn split_after(&mut self, point: Point) -> Option<Vec<JournalEntry>> {
        let skipped = usize::try_from(point.version.checked_sub(self.base.version)?).ok()?;
        let tag = match skipped.checked_sub(1) {
            None => self.base.tag,
            Some(last) => self.lines.get(last)?.tag,
        };
        (tag == point.tag).then(|| self.lines.split_off(skipped))
    }
}

/// A line to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLine {
    /// What it was decided on.
    pub after: Point,
    /// Fresh: no other line has it.
    pub tag: Tag,
    /// The table's version of the engine.
    pub engine: u32,
    pub line: String,
    /// When the table is due next.
    pub deadline: Option<Timestamp>,
    /// The table is forgotten after this time without a further line, unless it is due some time.
    pub idle_ms: Option<u64>,
}

/// What an append came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The line is stored, and published to others.
    Appended,
    /// Others have appended these since; decide again with them.
    Behind(Vec<JournalEntry>),
    /// The journal does not have the point, any more or at all: load the table again.
    Elsewhere,
    /// There is no such table.
    Missing,
    /// The table is halted.
    Halted,
}

/// The end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The lines from the point on; empty when it is the newest.
    Lines(Vec<JournalEntry>),
    /// The same of a table that is halted.
    Halted(Vec<JournalEntry>),
    /// The journal does not have the point, any more or at all: load the table again.
    Elsewhere,
    /// There is no such table.
    Missing,
}
