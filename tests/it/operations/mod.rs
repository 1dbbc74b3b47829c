//! The program as its operator runs it: migrations, jobs, signals and monitoring.

mod jobs;
mod migrations;
mod monitoring;
pub(crate) mod process;
mod schema;
mod security_log;
mod spans;
