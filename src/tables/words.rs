//! What rooms say to their tables. Whoever keeps the rooms is asked before each input that a table
//! decides on, so a table hears of a change before anything else happens there, on any node, and
//! nobody has to find a room's tables.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bahay_engine::table::Readable;
use bahay_engine::table::{Input, Standing, Table, Terms, TermsUpdate};

/// What a room's tables play by, from a revision on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<R> {
    /// Counts up with every change; zero for rooms that never change.
    pub revision: u32,
    pub is_open: bool,
    pub terms: Terms<R>,
}

/// Asked with the terms of a table, which name its room, and the newest revision that the table has
/// heard of. What is not newer need not be said.
type Source<R> = dyn Fn(&Terms<R>, u32) -> Option<Word<R>> + Send + Sync;

/// Where the words come from, once somebody has said so.
pub(super) struct Words<R>(OnceLock<Arc<Source<R>>>);

impl<R> Default for Words<R> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<R> fmt::Debug for Words<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}

impl<R: PartialEq> Words<R> {
    /// The first source stays.
    pub(super) fn come_from(&self, source: Arc<Source<R>>) {
        let _ = self.0.set(source);
    }

    /// What a table has yet to hear.
    pub(super) fn due<G: Readable<Rules = R>>(&self, table: &Table<G>) -> Option<Input<G::Action>> {
        let word = self.0.get()?(table.terms(), table.revision())?;
        if !table.would_hear(word.revision) {
            return None;
        }
        let standing = match (word.is_open, word.terms.rules == table.terms().rules) {
            (true, true) => Standing::Open,
            (true, false) => Standing::LastPot,
            (false, _) => Standing::Closed,
        };
        let Terms { price, hits, clocks, .. } = word.terms;
        let terms = TermsUpdate { revision: word.revision, standing, price, hits, clocks };
        Some(Input::UpdateTerms { terms })
    }
}
