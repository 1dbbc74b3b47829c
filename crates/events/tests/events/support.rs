//! The parts of the service's tests that make a ledger and authorities for TLS.

#![expect(dead_code, reason = "the service's tests use the rest")]

#[path = "../../../../tests/it/support/bank.rs"]
pub(crate) mod bank;
#[path = "../../../../tests/it/support/db.rs"]
pub(crate) mod db;
#[path = "../../../../tests/it/support/ports.rs"]
pub(crate) mod ports;
#[path = "../../../../tests/it/support/programs.rs"]
pub(crate) mod programs;
#[path = "../../../../tests/it/support/tls.rs"]
pub(crate) mod tls;
#[path = "../../../../tests/it/support/waiting.rs"]
pub(crate) mod waiting;
