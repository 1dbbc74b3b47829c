//! Posting: turns a batch of requests into rows.
//!
//! Both ways of posting share one [`plan`]: read the books in one call (`snapshot`), decide every
//! operation in memory, and write everything in one call (`write`). `optimistic` reads without
//! locks, and only books that are not cached (`books_cache`), and detects conflicts on writing;
//! `locked` first takes the locks. `writer` collects requests into batches.

pub(super) mod account_ids;
mod books_cache;
pub(super) mod locked;
mod optimistic;
mod plan;
mod snapshot;
mod write;
pub(super) mod writer;

use account_ids::AccountIds;
use books_cache::BooksCache;

/// The caches of posting. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct PostingCache {
    pub(super) account_ids: AccountIds,
    books: BooksCache,
}
