//! The one integration binary: each module tests a part of the house against real services.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod asyncapi;
mod fairness;
mod games;
mod http;
mod ledger;
mod ledger_chain;
mod ledger_faults;
mod ledger_races;
mod ledger_refusals;
mod live;
mod play;
mod process;
mod protocol_page;
mod schema;
mod services;
mod sockets;
mod support;
mod tables;
mod verify_ledger;
mod wire;
