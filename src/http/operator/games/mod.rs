//! Games and their replays.

pub(super) mod api;
mod deal_section;
pub(crate) mod desk;
mod game_clock;
pub(crate) mod game_rows;
mod query;
mod replay;
mod settlement_table;
