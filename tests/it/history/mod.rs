//! Games after their end: archives, months, projections and reports.

mod archive;
mod archived;
mod archived_tournaments;
mod gatherers;
pub(crate) mod generated;
mod months;
mod pairs;
mod periods;
mod projections;
mod reports;
mod settlements;
mod standings;
