//! The games of the catalogue, each in a module of its own, and what they share.

mod conditions;
mod description;
mod list;
pub mod tongits;
pub mod tongo_assets;
pub mod tongo_options;
