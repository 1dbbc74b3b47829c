//! The history of a table: its stored lines, a replica at a point of it, and a client's position.

pub(crate) mod codec;
pub(crate) mod delivery_cursor;
pub(crate) mod journal;
pub(crate) mod replica;
