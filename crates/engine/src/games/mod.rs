//! The games of the catalogue, each in a module of its own.

pub mod tongits;
pub mod tongo_assets;
pub mod tongo_options;
