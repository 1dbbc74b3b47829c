//! The server at the level of sockets: accepting, limits per address, slow readers and bodies.

pub(crate) mod body_progress;
pub(crate) mod connection_limits;
pub(crate) mod server;
pub(crate) mod slow_reader;
