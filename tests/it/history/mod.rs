//! Games after their end: archives, months, projections and reports.

mod archive;
mod archived;
mod gatherers;
mod months;
mod projections;
mod reports;
mod standings;
