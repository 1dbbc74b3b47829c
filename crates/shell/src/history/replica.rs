//! A replica of one table: its state at a point of its journal.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{ENGINES, Event, Occupant, PlayerId, Readable, Table};

use crate::failure::CodecError;
use crate::guard::catch_panic;
use crate::history::codec::{read_line, read_table};
use crate::history::delivery_cursor::LastVisible;
use crate::history::journal::{JournalEntry, Point, StoredTable, Tag};
use crate::limits::Limits;

/// A table at a point of its history.
#[derive(Clone, Debug)]
pub struct Replica<G: Readable> {
    table: Arc<Table<G>>,
    at: Point,
    last_visible: LastVisible,
    /// The number of lines in the journal since its snapshot.
    journal_lines: usize,
    /// The tags of the last lines, newest last.
    recent: VecDeque<Tag>,
    /// The events of the last of these lines, newest last.
    applied: VecDeque<AppliedLine<G>>,
}

/// An applied line: the point after it, and its events.
#[derive(Clone, Debug)]
pub struct AppliedLine<G: Readable> {
    pub at: Point,
    pub events: Arc<[Event<G::Event>]>,
}

/// A table rebuilt from its journal.
#[derive(Debug)]
pub struct ReplayedTable<G: Readable> {
    pub replica: Replica<G>,
    /// The lines after the requested point; `None` if no point was requested or the journal does
    /// not have it.
    pub missed: Option<Vec<AppliedLine<G>>>,
}

/// The prefix of the message of [`ReplayError::Broken`].
pub(crate) const JOURNAL_FAULT: &str = "the journal does not replay: ";

/// The reason why a journal cannot be followed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReplayError {
    /// The journal is for a version of the engine that this program does not have.
    #[error("the journal is for version {0} of the engine")]
    OtherVersion(u32),
    /// The journal does not replay on any node.
    #[error("{prefix}{0}", prefix = JOURNAL_FAULT)]
    Broken(String),
}

impl From<CodecError> for ReplayError {
    fn from(error: CodecError) -> Self {
        Self::Broken(error.0)
    }
}

impl<G: Readable> Replica<G> {
    /// Rebuilds a table from its journal. With `from`, also returns the lines after the line with
    /// that tag.
    ///
    /// # Errors
    /// Fails if the journal is for another version of the engine, or does not replay.
    pub fn replay(
        stored: &StoredTable,
        from: Option<Tag>,
        limits: &Limits,
    ) -> Result<ReplayedTable<G>, ReplayError> {
        if !ENGINES.contains(&stored.engine) {
            return Err(ReplayError::OtherVersion(stored.engine));
        }
        let mut replica = Self {
            table: Arc::new(read_table(&stored.snapshot)?),
            at: stored.base,
            last_visible: LastVisible::new(stored.base),
            journal_lines: 0,
            recent: VecDeque::with_capacity(limits.remembered_points),
            applied: VecDeque::new(),
        };
        let mut missed = None;
        for entry in &stored.lines {
            if from == Some(replica.at.tag) {
                missed = Some(Vec::new());
            }
            let applied = replica.follow(entry, limits)?;
            if let Some(missed) = &mut missed {
                missed.push(applied);
            }
        }
        if from == Some(replica.at.tag) {
            missed = Some(Vec::new());
        }
        Ok(ReplayedTable { replica, missed })
    }

    pub fn table(&self) -> &Arc<Table<G>> {
        &self.table
    }

    pub fn point(&self) -> Point {
        self.at
    }

    pub fn last_visible(&self) -> &LastVisible {
        &self.last_visible
    }

    pub(crate) fn journal_lines(&self) -> usize {
        self.journal_lines
    }

    /// Returns true if the journal that this replica was read from begins at the point's version or
    /// before it.
    pub(crate) fn reaches_back_to(&self, point: Point) -> bool {
        self.at.version.saturating_sub(self.journal_lines as u64) <= point.version
    }

    /// Records that the journal now begins with a snapshot of this point.
    pub(crate) fn mark_compacted(&mut self, at: Point) {
        let since = self.at.version.saturating_sub(at.version);
        self.journal_lines = usize::try_from(since).unwrap_or(usize::MAX);
    }

    /// Applies one line of the journal.
    pub(crate) fn follow(
        &mut self,
        entry: &JournalEntry,
        limits: &Limits,
    ) -> Result<AppliedLine<G>, ReplayError> {
        let line = read_line(&self.table, &entry.line)?;
        let followed = catch_panic(|| self.table.apply_line(&line)).map_err(ReplayError::Broken)?;
        let (table, events) =
            followed.map_err(|rejection| ReplayError::Broken(rejection.to_string()))?;
        Ok(self.advance(Arc::new(table), events, entry.tag, limits))
    }

    /// Advances to the state after a stored line with this tag.
    pub(crate) fn advance(
        &mut self,
        table: Arc<Table<G>>,
        events: Vec<Event<G::Event>>,
        tag: Tag,
        limits: &Limits,
    ) -> AppliedLine<G> {
        self.table = table;
        self.at = Point { version: self.at.version + 1, tag };
        self.journal_lines += 1;
        self.last_visible.record_line(&self.table, self.at, &events);
        if self.recent.len() >= limits.remembered_points {
            self.recent.pop_front();
        }
        self.recent.push_back(tag);
        let applied = AppliedLine { at: self.at, events: events.into() };
        let is_away = |occupant: &Occupant| occupant.connection.is_none() && !occupant.bot;
        let is_anyone_away = self.table.occupants().any(|(_, occupant)| is_away(occupant));
        let capacity = if is_anyone_away {
            limits.remembered_lines
        } else {
            limits.remembered_lines_when_all_present
        };
        while self.applied.len() >= capacity {
            self.applied.pop_front();
        }
        self.applied.shrink_to(capacity);
        self.applied.push_back(applied.clone());
        applied
    }

    /// Returns the lines after a line of this history. `None` if that line is not remembered.
    pub(crate) fn lines_since(&self, from: Tag) -> Option<Vec<AppliedLine<G>>> {
        if from == self.at.tag {
            return Some(Vec::new());
        }
        let index = self.applied.iter().position(|applied| applied.at.tag == from)?;
        Some(self.applied.range(index + 1..).cloned().collect())
    }

    /// Returns how many of these lines, the first of which follows `after`, are applied already.
    /// `None` if they belong to another history, or to a later part of this one.
    pub(crate) fn count_known(&self, after: Point, lines: &[JournalEntry]) -> Option<usize> {
        if after == self.at {
            return Some(0);
        }
        let known = usize::try_from(self.at.version.checked_sub(after.version)?).ok()?;
        if known == 0 {
            return None;
        }
        match lines.get(known - 1) {
            Some(line) => (line.tag == self.at.tag).then_some(known),
            None => {
                let version = after.version + lines.len() as u64;
                let last = Point { version, tag: lines.last()?.tag };
                self.contains_point(last).then_some(lines.len())
            }
        }
    }

    /// Returns true if this history is known to lead through a point.
    pub(crate) fn contains_point(&self, point: Point) -> bool {
        let Some(ago) = self.at.version.checked_sub(point.version) else {
            return false;
        };
        let ago = usize::try_from(ago).unwrap_or(usize::MAX);
        self.recent.iter().rev().nth(ago).is_some_and(|tag| *tag == point.tag)
    }
}

/// Returns true if the player kept one seat through all of these lines, which lead to the table, so
/// that one viewer may see all of them.
pub(crate) fn has_steady_seat<G: Readable>(
    missed: &[AppliedLine<G>],
    table: &Table<G>,
    player: PlayerId,
) -> bool {
    let seat = table.seat_of(player);
    missed.iter().flat_map(|missed| missed.events.iter()).all(|event| match event {
        Event::Sat { player: sat, .. } | Event::Left { player: sat, .. } => *sat != player,
        Event::Moved { to, .. } => Some(*to) != seat,
        _ => true,
    })
}
