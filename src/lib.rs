//! The house: the server around the games of `bahay_engine`.
//!
//! Arrows go down only: `http`, `ws` → `lobby` → `tables` → `live`, `ledger`, `games` → the
//! engine; `auth` and `accounts` beside; `ids`, `clock`, `entropy`, `db` and `telemetry` at the
//! bottom. `tests/tidy.rs` holds us to it.

pub mod accounts;
pub mod auth;
pub mod clock;
pub mod db;
pub mod entropy;
pub mod games;
pub mod http;
pub mod ids;
pub mod ledger;
pub mod live;
pub mod telemetry;
