//! Games and their replays.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod game_rows;
pub(crate) mod replay;
