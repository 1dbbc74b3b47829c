//! The tests of the AI, as one program: the generic code of a table is compiled once for all of
//! them.

mod analysis;
mod bot_grades;
mod gym;
mod support;
mod takeover;
mod tongits_strength;
mod tongo_assets_strength;
mod tongo_options_strength;
