//! The parts of the service's tests that start a house.

#![expect(dead_code, reason = "the service's tests use the rest")]

#[path = "../../../../tests/it/support/db.rs"]
pub(crate) mod db;
#[path = "../../../../tests/it/support/house.rs"]
pub(crate) mod house;
#[path = "../../../../tests/it/support/live.rs"]
pub(crate) mod live;
#[path = "../../../../tests/it/support/waiting.rs"]
pub(crate) mod waiting;
