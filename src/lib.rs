//! The game server around the games of `bahay_engine`.
//!
//! Dependencies point downwards only: `http`, `ws` → `lobby` → `tables` → `live_store`, `ledger`,
//! `archive` → the engine; `auth`, `accounts` and `rate_limit` beside them; `ids`, `clock`,
//! `entropy`, `db`, `metrics` and `telemetry` at the bottom. `tests/tidy.rs` enforces this.

pub mod accounts;
pub mod allowance;
pub mod app;
pub mod archive;
pub mod arena;
pub mod auth;
pub mod cli;
pub mod client;
pub mod clock;
pub mod collusion;
pub mod config;
pub mod db;
pub mod demo;
pub mod entropy;
pub mod env;
pub mod farm;
pub mod fixtures;
pub mod grant_limits;
pub mod http;
pub mod idempotency;
pub mod ids;
pub mod ledger;
pub mod ledger_events;
pub mod live_store;
pub mod loadtest;
pub mod lobby;
pub mod metrics;
pub mod months;
pub mod notices;
pub mod openid;
pub mod operate;
pub mod operators;
pub mod rate_limit;
pub mod ratings;
pub mod reason;
pub mod records;
pub mod replay;
pub mod reports;
pub mod retention;
pub mod rewards;
pub mod rooms;
pub mod simulate;
pub mod social;
pub mod standings;
pub mod tables;
pub mod tapes;
pub mod telemetry;
pub mod verify;
pub mod ws;
