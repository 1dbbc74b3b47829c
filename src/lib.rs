//! The service: see `docs/ARCHITECTURE.md`.

pub mod db;
pub mod games;
pub mod ledger;
