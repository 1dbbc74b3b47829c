//! REST over a real socket, on a real database.

mod around;
mod auth;
mod contract;
mod corrections;
mod entries;
mod games;
mod idempotency;
mod me;
mod operators;
mod refusals;
mod relief;
mod rewards;
mod rooms;
mod server;
mod sessions;
mod sign_in;
mod sort;
