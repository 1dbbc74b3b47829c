//! The program as its operator runs it: migrations, jobs, signals and figures.

mod figures;
mod jobs;
mod migrations;
pub(crate) mod process;
mod schema;
mod security_log;
mod spans;
