//! Tests of the REST API over a real socket, with a real database.

mod core;
pub(crate) mod operator;
mod player;
mod responses;
pub(crate) mod server;
