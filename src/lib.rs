//! The service: it serves the games of `bahay_engine` over REST and sockets, with accounts, a lobby
//! and a desk for operators.
//!
//! Dependencies point downwards only: `http`, `ws` → `lobby` → `tables` → `archive` → the packages
//! of `crates`, which know nothing of the service. Leaf packages are modules here under
//! their short names, such as `live_store`. `tests/tidy/layers.rs` has the permitted imports.

// The unit tests omit the modules that start the service: with them, they would compile all of it
// again, because the compiler generates the code of every public async function.
pub mod accounts;
#[cfg(not(test))]
pub mod app;
pub mod archive;
#[cfg(not(test))]
pub mod cli;
pub mod config;
pub mod grant_limits;
pub mod http;
pub mod idempotency;
pub mod jobs;
pub mod lobby;
pub mod metrics;
pub mod months;
#[cfg(not(test))]
pub mod operate;
pub mod operators;
pub mod passes;
pub mod problem;
pub mod projections;
pub mod ratings;
pub mod replay;
pub mod reports;
pub mod retention;
pub mod rewards;
pub mod rooms;
pub mod social;
pub mod standings;
pub mod tables;
pub mod tournaments;
pub mod verify;
pub mod ws;

pub use bahay_base::{clock, entropy, ids, reason, zone};
pub use {
    bahay_auth as auth, bahay_db as db, bahay_ledger as ledger, bahay_live_store as live_store,
    bahay_notices as notices, bahay_openid as openid, bahay_rate_limit as rate_limit,
    bahay_records as records, bahay_telemetry as telemetry,
};
