//! A copy of one table: its state at a version of its journal.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{ENGINES, Event, Occupant, Readable, Table, Unreadable};

use crate::ids::Tag;
use crate::live_store::{Entry, Point, Stored, Unavailable};
use crate::tables::guard::guarded;

/// How many points a copy remembers, to know a publication that comes late from one that belongs
/// to another history. About older ones the journal is asked.
const REMEMBERED: usize = 32;

/// Of how many lines a copy still has what happened, for viewers who come back, while somebody is
/// away: some half a minute of play, with connections that go and come. What happened before, the
/// journal tells.
const KEPT: usize = 16;

/// The same while everybody is there: what may be on its way when a connection breaks.
const KEPT_ON_THE_WAY: usize = 2;

/// A table at a point of its history.
#[derive(Clone, Debug)]
pub(super) struct Copy<G: Readable> {
    pub(super) table: Arc<Table<G>>,
    pub(super) at: Point,
    /// Lines in the journal since its snapshot.
    pub(super) journal_lines: usize,
    /// The tags of the last lines, the newest last.
    recent: VecDeque<Tag>,
    /// What the last of these did, the newest last.
    kept: VecDeque<Missed<G>>,
}

/// A line that a viewer missed: the point it led to, and what happened.
#[derive(Clone, Debug)]
pub struct Missed<G: Readable> {
    pub at: Point,
    pub events: Arc<[Event<G::Event>]>,
}

/// A table rebuilt from its journal.
#[derive(Debug)]
pub(super) struct Replayed<G: Readable> {
    pub(super) copy: Copy<G>,
    /// What happened after the point that was asked for; `None` when none was, or when the
    /// journal does not have it.
    pub(super) missed: Option<Vec<Missed<G>>>,
}

/// Why a journal cannot be followed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Unfollowed {
    /// It was written for a version of the engine that this program does not have.
    #[error("the journal is for version {0} of the engine")]
    OtherVersion(u32),
    /// It does not replay, and will not anywhere.
    #[error("the journal does not replay: {0}")]
    Broken(String),
}

impl<G: Readable> Copy<G> {
    /// Rebuilds the table from its journal. With `from`, gives what happened after that point.
    pub(super) fn replay(stored: &Stored, from: Option<Point>) -> Result<Replayed<G>, Unfollowed> {
        if !ENGINES.contains(&stored.engine) {
            return Err(Unfollowed::OtherVersion(stored.engine));
        }
        let table = G::read_table(&stored.snapshot).map_err(unreadable)?;
        let mut copy = Self {
            table: Arc::new(table),
            at: stored.base,
            journal_lines: 0,
            recent: VecDeque::with_capacity(REMEMBERED),
            kept: VecDeque::new(),
        };
        let mut missed = None;
        for entry in &stored.lines {
            if from == Some(copy.at) {
                missed = Some(Vec::new());
            }
            let happened = copy.follow(entry)?;
            if let Some(missed) = &mut missed {
                missed.push(happened);
            }
        }
        if from == Some(copy.at) {
            missed = Some(Vec::new());
        }
        Ok(Replayed { copy, missed })
    }

    /// Follows one line of the journal.
    pub(super) fn follow(&mut self, entry: &Entry) -> Result<Missed<G>, Unfollowed> {
        let line = G::read_line(self.table.kind(), &entry.line).map_err(unreadable)?;
        let followed = guarded(|| self.table.follow(&line)).map_err(Unfollowed::Broken)?;
        let (table, events) =
            followed.map_err(|rejection| Unfollowed::Broken(rejection.to_string()))?;
        Ok(self.replace(table, events, entry.tag))
    }

    /// Takes the state after a stored line, which has this tag.
    pub(super) fn replace(
        &mut self,
        table: Table<G>,
        events: Vec<Event<G::Event>>,
        tag: Tag,
    ) -> Missed<G> {
        self.table = Arc::new(table);
        self.at = Point { version: self.at.version + 1, tag };
        self.journal_lines += 1;
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(tag);
        let happened = Missed { at: self.at, events: events.into() };
        let is_away = |who: &Occupant| who.connection.is_none() && !who.bot;
        let is_one_away = self.table.occupants().any(|(_, who)| is_away(who));
        let most = if is_one_away { KEPT } else { KEPT_ON_THE_WAY };
        while self.kept.len() >= most {
            self.kept.pop_front();
        }
        self.kept.shrink_to(most);
        self.kept.push_back(happened.clone());
        happened
    }

    /// What happened after a point of this history; `None` when it is not known to be one, or too
    /// long ago.
    pub(super) fn missed_since(&self, from: Point) -> Option<Vec<Missed<G>>> {
        if from == self.at {
            return Some(Vec::new());
        }
        let place = self.kept.iter().position(|kept| kept.at == from)?;
        Some(self.kept.range(place + 1..).cloned().collect())
    }

    /// Whether this history surely leads through a point.
    pub(super) fn leads_through(&self, point: Point) -> bool {
        let Some(ago) = self.at.version.checked_sub(point.version) else {
            return false;
        };
        let ago = usize::try_from(ago).unwrap_or(usize::MAX);
        self.recent.iter().rev().nth(ago).is_some_and(|tag| *tag == point.tag)
    }
}

fn unreadable(error: Unreadable) -> Unfollowed {
    Unfollowed::Broken(error.to_string())
}

pub(super) fn unwritable(error: serde_json::Error) -> Unavailable {
    Unavailable::new(format!("the journal cannot be written: {error}"))
}
