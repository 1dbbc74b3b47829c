//! Clients of a server: REST, sockets, and operators' sessions.

pub(crate) mod operators;
pub(crate) mod play;
pub(crate) mod raw;
pub(crate) mod rest;
