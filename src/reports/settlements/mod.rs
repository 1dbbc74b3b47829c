//! Settled games by a filter: `list` shows them in an `order`, `totals` sums them, `export` writes
//! them as CSV.

mod export;
mod filter;
mod list;
mod order;
mod ranks;
mod totals;
