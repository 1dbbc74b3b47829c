//! `bahay events` as a program of its own, which needs nothing of the server.

use std::process::ExitCode;

use bahay_base::error_line::to_one_line;
use bahay_events::{EventsOptions, export};
use clap::Parser;
use sqlx::postgres::PgConnectOptions;

/// Write booked operations and played games as one stream of numbered events, one JSON document a
/// line.
#[derive(Parser, Debug)]
#[command(name = "bahay-events", version)]
struct Cli {
    #[command(flatten)]
    what: EventsOptions,
    /// PostgreSQL, as in postgres://bahay:PASSWORD@127.0.0.1:5432/bahay
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: PgConnectOptions,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Cli { what, database_url } = Cli::parse();
    match export(what, database_url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bahay-events: {}", to_one_line(&error));
            ExitCode::FAILURE
        }
    }
}
