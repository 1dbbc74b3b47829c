//! The game server around the games of `bahay_engine`.
//!
//! Dependencies point downwards only: `http`, `ws` → `lobby` → `tables` → `live_store`, `ledger`,
//! `archive` → the engine; `auth`, `accounts` and `rate_limit` beside them; `ids`, `clock`,
//! `entropy`, `db`, `metrics` and `telemetry` at the bottom. `tests/tidy.rs` enforces this.

pub mod accounts;
pub mod allowance;
pub mod app;
pub mod archive;
pub mod cli;
pub mod config;
pub mod grant_limits;
pub mod http;
pub mod idempotency;
pub mod jobs;
pub mod ledger;
pub mod lobby;
pub mod metrics;
pub mod months;
pub mod notices;
pub mod operate;
pub mod operators;
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
pub mod verify;
pub mod ws;

pub use bahay_base::{clock, entropy, ids, reason};
pub use {
    bahay_auth as auth, bahay_db as db, bahay_live_store as live_store, bahay_openid as openid,
    bahay_rate_limit as rate_limit, bahay_records as records, bahay_telemetry as telemetry,
};
