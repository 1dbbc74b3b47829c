//! A copy of one table: its state at a version of its journal.

use std::sync::Arc;

use bahay_engine::game::Game;
use bahay_engine::table::{ENGINES, Event, Line, Table};

use crate::live::{Stored, Unavailable};
use crate::tables::guard::guarded;

/// A table at a version.
#[derive(Clone, Debug)]
pub(super) struct Copy<G: Game> {
    pub(super) table: Arc<Table<G>>,
    pub(super) version: u64,
    /// Lines in the journal since its snapshot.
    pub(super) journal_lines: usize,
}

/// A line that a viewer missed: the version it led to, and what happened.
#[derive(Clone, Debug)]
pub struct Missed<G: Game> {
    pub version: u64,
    pub events: Arc<[Event<G::Event>]>,
}

/// A table rebuilt from its journal.
#[derive(Debug)]
pub(super) struct Replayed<G: Game> {
    pub(super) copy: Copy<G>,
    /// What happened after the version that was asked for; `None` when none was, or when the
    /// journal no longer reaches that far back.
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

impl<G: Game> Copy<G> {
    /// Rebuilds the table from its journal. With `from`, gives what happened after that version.
    pub(super) fn replay(stored: &Stored, from: Option<u64>) -> Result<Replayed<G>, Unfollowed> {
        if !ENGINES.contains(&stored.engine) {
            return Err(Unfollowed::OtherVersion(stored.engine));
        }
        let table: Table<G> = serde_json::from_str(&stored.snapshot).map_err(unreadable)?;
        let mut copy = Self { table: Arc::new(table), version: stored.base, journal_lines: 0 };
        let last = stored.base + stored.lines.len() as u64;
        let from = from.filter(|from| (stored.base..=last).contains(from));
        let mut missed = from.map(|_| Vec::new());
        for line in &stored.lines {
            let happened = copy.follow(line)?;
            if let (Some(missed), Some(from)) = (&mut missed, from)
                && happened.version > from
            {
                missed.push(happened);
            }
        }
        Ok(Replayed { copy, missed })
    }

    /// Follows one line of the journal.
    pub(super) fn follow(&mut self, line: &str) -> Result<Missed<G>, Unfollowed> {
        let line: Line<G::Action> = serde_json::from_str(line).map_err(unreadable)?;
        let followed = guarded(|| self.table.follow(&line)).map_err(Unfollowed::Broken)?;
        let (table, events) =
            followed.map_err(|rejection| Unfollowed::Broken(rejection.to_string()))?;
        Ok(self.replace(table, events))
    }

    /// Takes the state after a stored line.
    pub(super) fn replace(&mut self, table: Table<G>, events: Vec<Event<G::Event>>) -> Missed<G> {
        self.table = Arc::new(table);
        self.version += 1;
        self.journal_lines += 1;
        Missed { version: self.version, events: events.into() }
    }
}

fn unreadable(error: serde_json::Error) -> Unfollowed {
    Unfollowed::Broken(error.to_string())
}

pub(super) fn unwritable(error: serde_json::Error) -> Unavailable {
    Unavailable::new(format!("the journal cannot be written: {error}"))
}
