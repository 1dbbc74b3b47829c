//! The one integration binary: each module tests a part of the house against real services.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod cluster;
mod desk;
mod history;
mod http;
mod ledger;
mod ledger_cache;
mod ledger_chain;
mod ledger_connections;
mod ledger_faults;
mod ledger_races;
mod ledger_refusals;
mod ledger_tournaments;
mod lobby;
mod operations;
mod sockets;
mod stores;
mod support;
mod tables;
mod tournaments;
mod verify_ledger;
