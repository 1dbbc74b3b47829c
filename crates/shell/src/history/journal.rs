//! The stored form of a table: points of its history, lines with their tags, and the results of
//! reads and appends.

use std::fmt;
use std::str::FromStr;

use bahay_engine::hex::{Hex, ParseHexError};
use bahay_engine::table::Timestamp;
use serde::{Deserialize, Serialize};

/// The random tag of a journal's line. It distinguishes two histories of a table that have the same
/// length.
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
    /// The number of lines up to this point.
    pub version: u64,
    /// The tag of the last of these lines.
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

/// A table as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTable {
    /// The point of the snapshot.
    pub base: Point,
    pub snapshot: String,
    /// The lines after the snapshot, oldest first.
    pub lines: Vec<JournalEntry>,
    /// The engine version of the lines.
    pub engine: u32,
    /// The reason of the halt, if the table is halted.
    pub halted: Option<String>,
}

impl StoredTable {
    /// Returns the version after the last line.
    pub fn version(&self) -> u64 {
        self.base.version + self.lines.len() as u64
    }

    /// Removes the lines after a point and returns them. Returns `None` if this history does not
    /// lead through the point.
    pub(crate) fn split_after(&mut self, point: Point) -> Option<Vec<JournalEntry>> {
        let skipped = usize::try_from(point.version.checked_sub(self.base.version)?).ok()?;
        let tag = match skipped.checked_sub(1) {
            None => self.base.tag,
            Some(last) => self.lines.get(last)?.tag,
        };
        (tag == point.tag).then(|| self.lines.split_off(skipped))
    }
}

/// A line to append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLine<L = String> {
    /// The point that the line was decided on.
    pub after: Point,
    /// A fresh tag, which no other line has.
    pub tag: Tag,
    /// The table's engine version.
    pub engine: u32,
    pub line: L,
    /// The table's next deadline.
    pub deadline: Option<Timestamp>,
    /// The time in ms after which the table is deleted unless a further line comes. Ignored while
    /// the table has a deadline.
    pub idle_ms: Option<u64>,
}

/// The outcome of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The line is stored and published.
    Appended,
    /// Other processes have appended these lines since; the input must be decided again.
    Behind(Vec<JournalEntry>),
    /// The journal does not have the point: the table must be loaded again.
    Elsewhere,
    /// The table does not exist.
    Missing,
    /// The table is halted.
    Halted,
}

/// The end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The lines after the point; empty if it is the newest point.
    Lines(Vec<JournalEntry>),
    /// The lines after the point, of a halted table.
    Halted(Vec<JournalEntry>),
    /// The journal does not have the point: the table must be loaded again.
    Elsewhere,
    /// The table does not exist.
    Missing,
}
