//! Where tables learn what their rooms say: whoever keeps the rooms is asked before each input that
//! a table decides on.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bahay_engine::table::Terms;
use bahay_shell::RoomTerms;

/// Asked with the terms of a table, which name its room, and the newest revision that the table
/// knows. What is not newer need not be said.
type Source<R> = dyn Fn(&Terms<R>, u32) -> Option<RoomTerms<R>> + Send + Sync;

/// Where the terms come from, once somebody has said so.
pub(super) struct TermsSource<R>(OnceLock<Arc<Source<R>>>);

impl<R> Default for TermsSource<R> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<R> fmt::Debug for TermsSource<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TermsSource")
    }
}

impl<R> TermsSource<R> {
    /// The first source stays.
    pub(super) fn set(&self, source: Arc<Source<R>>) {
        let _ = self.0.set(source);
    }

    pub(super) fn query(&self, terms: &Terms<R>, known: u32) -> Option<RoomTerms<R>> {
        self.0.get()?(terms, known)
    }
}
