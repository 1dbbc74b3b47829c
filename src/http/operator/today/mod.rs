//! The figures of the day, and their comparison with those of other days and weeks.

pub(super) mod api;
pub(crate) mod comparison_page;
pub(crate) mod desk;
mod figure_tables;
mod query;
