//! The games of the house, each in a folder of its own.

pub mod tongits;
pub mod tongo_assets;
pub mod tongo_options;
