//! Pages for browsers apart from the desk: the documentation, and the client of the games.

pub(crate) mod accept_encoding;
pub(crate) mod docs;
pub(crate) mod link_preview;
pub(crate) mod play;
