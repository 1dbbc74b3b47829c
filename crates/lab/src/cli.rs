//! The command line of the laboratory. A command that fails prints one line and exits with 1; an
//! invalid command line exits with 2.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use bahay::cli::{CommandError, exit_code, ledger_report, runtime};
use bahay::config::{Database, StandingsSettings};
use bahay::records::Records;
use bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use bahay::reports::{Pairs, Reports};
use bahay::tournaments::{TournamentDraft, announce_in_tx};
use bahay_base::clock::Clock;
use bahay_base::error_line::to_one_line;
use bahay_db as db;
use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

use crate::arena::{self, Arena};
use crate::certify::{self, Certify};
use crate::collusion::{self, Collusion};
use crate::env::{self, Env};
use crate::farm::{self, Farm};
use crate::fixtures::{self, GenerateHistory, HistorySummary};
use crate::loadtest::Mode;
use crate::play::PlayOptions;
use crate::simulate::{self, Simulate};
use crate::tapes::{self, Tapes};
use crate::{demo, loadtest, play};

/// The laboratory of the house: measures, exercises and studies it, and serves nobody.
#[derive(Parser, Debug)]
#[command(name = "bahay-lab", version, disable_help_subcommand = false)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Watch guests play in a room until one takes the POT.
    Demo {
        /// The server's address.
        #[arg(
            long,
            env = "BAHAY_URL",
            default_value = "http://127.0.0.1:8080",
            value_name = "URL"
        )]
        url: String,
        /// The room, by its id.
        #[arg(long, default_value = "newbie", value_name = "ROOM")]
        room: String,
    },
    /// Play games in a room as a guest, and print their settlements as JSON.
    Play(PlayOptions),
    /// Measure how many tables a server can run, and check its correctness under load.
    Loadtest(Box<LoadTest>),
    /// Simulate games of bots in virtual time, and print statistics.
    Simulate(Simulate),
    /// Play bots against each other, each deal with rotated seats, and print their winnings.
    Arena(Arena),
    /// Run games for a learning program, in lines of JSON on the standard streams.
    Env(Env),
    /// Write the messages of simulated games, and the state that a client must derive from them.
    Tapes(Tapes),
    /// Play the server to a client under test, with planted faults, and report which it survives.
    Certify(Certify),
    /// Plant colluding bots among others, and print how many of them the signs of collusion detect.
    Collusion(Collusion),
    /// Compute the coins that one person with many accounts can bring to one wallet in a day.
    Farm(Farm),
    /// Fill an empty database with settled games, to test reports on a large history. Needs the
    /// database login that migrates.
    GenerateHistory {
        #[command(flatten)]
        what: GenerateHistory,
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: StandingsSettings,
    },
}

/// The options of the load test.
#[derive(Args, Debug)]
struct LoadTest {
    #[command(flatten)]
    options: loadtest::Options,
    /// The server's database, to verify the ledger at the end.
    #[arg(long = "database-url", env = "DATABASE_URL", hide_env_values = true, value_name = "URL",
          value_parser = parse_database)]
    database: Option<Database>,
}

fn parse_database(url: &str) -> Result<Database, String> {
    let read = url.parse().map(|database_url| Database { database_url });
    read.map_err(|error| to_one_line(&error))
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    exit_code("bahay-lab", run(Cli::parse().command))
}

fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Demo { url, room } => runtime()?.block_on(demo::run(&url, &room))?,
        Command::Play(options) => runtime()?.block_on(play::run(&options, &mut stdout()))?,
        Command::Loadtest(test) => {
            let LoadTest { mut options, database } = *test;
            if let (Mode::Tournament, None, Some(database)) =
                (options.mode, options.tournament, &database)
            {
                options.tournament = runtime()?.block_on(announce_arena(&options, database))?;
            }
            let complaints =
                database.map(|database| async move || collect_complaints(database).await);
            runtime()?.block_on(loadtest::run(options, complaints))?;
        }
        Command::Simulate(what) => simulate::run(&what, &mut stdout().lock())?,
        Command::Arena(what) => {
            let mut progress = arena::Progress::new(stderr().is_terminal().then(stderr));
            let report_progress = |done, all| progress.update(done, all);
            arena::run(&what, &mut stdout().lock(), report_progress)?;
        }
        Command::Env(what) => env::run(&what, stdin().lock(), &mut stdout().lock())?,
        Command::Tapes(what) => tapes::run(&what)?,
        Command::Certify(what) => {
            runtime()?.block_on(certify::run(&what, &mut stdout().lock()))?;
        }
        Command::Collusion(what) => _ = collusion::run(what, &mut stdout().lock())?,
        Command::Farm(what) => _ = farm::run(&what, &mut stdout().lock())?,
        Command::GenerateHistory { what, database, settings } => {
            runtime()?.block_on(generate_history(what, *database, &settings))?;
        }
    }
    Ok(())
}

/// Returns the differences in the ledger, for the load tester.
async fn collect_complaints(database: Database) -> Result<Vec<String>, String> {
    let report = ledger_report(database, &Records::without_archive()).await;
    let report = report.map_err(|error| to_one_line(&*error))?;
    Ok(report.difference_texts().collect())
}

/// Announces the arena of a load test. Returns `None` if there is no such game.
async fn announce_arena(
    options: &loadtest::Options,
    database: &Database,
) -> Result<Option<Uuid>, CommandError> {
    let Some(terms) = loadtest::arena_terms(options, Clock::system().now()) else {
        return Ok(None);
    };
    let pool =
        db::connect_as_login(database.database_url.clone(), db::PoolOptions::default()).await?;
    let mut tx = db::begin(&pool).await?;
    let id = announce_in_tx(&mut tx, TournamentDraft { terms, code: None }).await?;
    tx.commit().await?;
    Ok(Some(id.0))
}

async fn generate_history(
    what: GenerateHistory,
    database: Database,
    settings: &StandingsSettings,
) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let options = db::PoolOptions {
        connections_max: 3,
        statement_timeout_ms: 0,
        // On a busy machine, a transaction of this command may be idle for longer than the server
        // allows.
        idle_transaction_timeout_ms: 0,
        ..db::PoolOptions::default()
    };
    // After a crash the whole history is generated anew.
    let url = database.database_url.options([("synchronous_commit", "off")]);
    let pool = db::connect_as_login(url, options).await?;
    let calendar = settings.calendar();
    let zone = settings.board_time_zone.clone();
    let report_progress = |games| eprintln!("{games} games");
    let HistorySummary { games, players, windows } =
        fixtures::generate(&pool, what, Clock::system().now(), calendar, report_progress).await?;
    // Without statistics, the statements that count for reports may exceed their time-out.
    db::vacuum(&pool).await?;
    eprintln!("counting them for reports");
    let reports = Reports::with_own_pool(&pool);
    reports.catch_up().await?;
    Pairs::new(&reports, zone.time_zone(), ALERT_SCORE_DEFAULT).catch_up().await?;
    reports.close().await;
    db::vacuum(&pool).await?;
    println!("{games} games of {players} players in {windows} windows");
    Ok(())
}

/// Parses the options of a command for its tests.
#[cfg(test)]
pub(crate) fn parse_options<T: Args>(line: &str) -> Result<T, clap::Error> {
    #[derive(Parser)]
    struct CommandLine<T: Args> {
        #[command(flatten)]
        options: T,
    }
    let words = std::iter::once("command").chain(line.split_whitespace());
    CommandLine::try_parse_from(words).map(|line| line.options)
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_defined() {
        Cli::command().debug_assert();
    }
}
