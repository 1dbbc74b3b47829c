//! Posting: turns a batch of requests into rows.
//!
//! Both ways of posting share one [`plan`]: read the books in one call (`snapshot`), decide every
//! operation in memory, and write everything in one call (`write`). `optimistic` reads without
//! locks and detects conflicts on writing; `locked` first takes the locks. `writer` collects
//! requests into batches.

pub(super) mod account_ids;
pub(super) mod locked;
mod optimistic;
mod plan;
mod snapshot;
mod write;
pub(super) mod writer;
