//! The exporter of ledger events as a process, on ledgers of its own.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

mod nats;
mod nats_server;
mod stream;
mod support;
