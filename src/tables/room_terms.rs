//! The source of room terms, which is queried before each input of a table.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bahay_engine::table::Terms;
use bahay_shell::RoomTerms;

/// Takes the terms of a table, which name its room, and the newest revision that the table knows.
/// Returns newer terms, if there are any.
type Source<R> = dyn Fn(&Terms<R>, u32) -> Option<RoomTerms<R>> + Send + Sync;

/// The source of room terms, once it is set.
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
    /// Sets the source. Only the first call has an effect.
    pub(super) fn set(&self, source: Arc<Source<R>>) {
        let _ = self.0.set(source);
    }

    pub(super) fn query(&self, terms: &Terms<R>, known: u32) -> Option<RoomTerms<R>> {
        self.0.get()?(terms, known)
    }
}
