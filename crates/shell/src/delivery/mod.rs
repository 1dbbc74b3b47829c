//! The delivery to watchers of a table: notices in bounded queues, direct writes, and the session
//! of one connection.

pub(crate) mod direct;
pub(crate) mod notice;
pub(crate) mod notices;
pub(crate) mod presenter;
pub(crate) mod session;
pub(crate) mod watchers;
