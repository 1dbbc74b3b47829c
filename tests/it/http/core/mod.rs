//! The parts that all operations share: tokens, middleware, idempotency, contract, access matrix.

pub(super) mod auth;
mod contract;
#[path = "../../../../crates/api/tests/api/example_bodies.rs"]
mod example_bodies;
mod examples;
mod idempotency;
pub(super) mod matrix;
mod middleware;
mod play_page;
mod refusals;
mod retention;
mod text_lengths;
mod time_bounds;
