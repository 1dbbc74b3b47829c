//! REST over a real socket, on a real database.

mod around;
mod auth;
mod contract;
mod games;
mod me;
mod notices;
mod refusals;
mod rooms;
mod server;
mod sessions;
mod sign_in;
mod sort;
