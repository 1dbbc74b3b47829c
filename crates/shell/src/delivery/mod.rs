//! The delivery to watchers of a table: notices in bounded queues, direct writes, the session of
//! one connection, and the prompt that it shows.

pub(crate) mod direct;
pub(crate) mod notice;
pub(crate) mod notices;
pub(crate) mod presenter;
pub(crate) mod prompt;
pub(crate) mod session;
pub(crate) mod watchers;
