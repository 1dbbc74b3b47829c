//! The source of room terms, which is queried before each input of a table.

use std::fmt;
use std::sync::Arc;

use bahay_engine::table::Terms;
use bahay_shell::RoomTerms;

/// Takes the terms of a table, which name its room, and the newest revision that the table knows.
/// Returns newer terms, if there are any.
type Query<R> = dyn Fn(&Terms<R>, u32) -> Option<RoomTerms<R>> + Send + Sync;

/// The source of room terms.
pub struct TermsSource<R>(Arc<Query<R>>);

impl<R> TermsSource<R> {
    /// Returns the source for tables whose rooms never change.
    pub fn unchanging() -> Self {
        Self(Arc::new(|_, _| None))
    }

    pub fn new(
        query: impl Fn(&Terms<R>, u32) -> Option<RoomTerms<R>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(query))
    }

    pub(super) fn query(&self, terms: &Terms<R>, known: u32) -> Option<RoomTerms<R>> {
        (self.0)(terms, known)
    }
}

impl<R> fmt::Debug for TermsSource<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TermsSource")
    }
}
