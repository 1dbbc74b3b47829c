//! The commands of the one binary. Each that fails says why in one line, and exits with 1; with 2
//! when the command line itself is not understood.

use std::io::{IsTerminal, Read, stderr, stdin, stdout};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bahay_engine::table::Clocks;
use clap::{Parser, Subcommand};

use crate::accounts::{Sanction, SanctionKind, SanctionRecord};
use crate::arena::Arena;
use crate::collusion::Collusion;
use crate::config::{ArchiveSettings, Config, Database, OwnerSettings, StandingsSettings};
use crate::env::Env;
use crate::farm::Farm;
use crate::fixtures::{GenerateHistory, Written};
use crate::ids::PlayerId;
use crate::operate::TableCommand;
use crate::operators::audit::Actor;
use crate::operators::{Sanctions, OperatorSummary, OperatorName, Operators, Role};
use crate::ledger_events::command::EventsOptions;
use crate::reason::Reason;
use crate::records::command::ArchiveOptions;
use crate::records::{self, Records};
use crate::reports::Reports;
use crate::simulate::Simulate;
use crate::tapes::Tapes;
use crate::telemetry::Format;
use crate::{
    app, arena, clock, collusion, db, demo, env, farm, fixtures, http, loadtest, lobby, operate,
    outbox, simulate, standings, tapes, telemetry, verify, ws,
};

/// The house that runs the table: a server for table games played for coins.
#[derive(Parser, Debug)]
#[command(name = "bahay", version, disable_help_subcommand = false)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Serve players, until SIGTERM, SIGHUP or Ctrl-C.
    Serve(Box<Config>),
    /// Bring the database's schema up to date, and write what the service may remove.
    Migrate {
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: OwnerSettings,
    },
    /// Say whether a server is alive, for process supervisors.
    Healthcheck(Healthcheck),
    /// Watch guests play in a room until one takes the POT.
    Demo(Demo),
    /// Find out how many tables a server holds, and whether it is right under load.
    Loadtest(Box<LoadTest>),
    /// Check the record of a finished game, or the whole ledger.
    Verify(Verify),
    /// Move records of old games to the archive, or check it.
    Archive {
        #[command(flatten)]
        what: ArchiveOptions,
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: ArchiveSettings,
    },
    /// Write what was booked and played as one stream of numbered events, one JSON a line.
    EventsOptions {
        #[command(flatten)]
        what: EventsOptions,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Look after tables that were halted.
    #[command(subcommand)]
    Table(TableCommand),
    /// Play bots against each other in virtual time, and say how the games went.
    Simulate(Simulate),
    /// Play bots against each other, each deal with seats rotated, and say who wins how much.
    Arena(Arena),
    /// Deal games to a program that learns, in lines of JSON on the standard streams.
    Env(Env),
    /// Write what a client hears in simulated games, and what it must make of it.
    Tapes(Tapes),
    /// Plant bots that collude among others, and say how many the signs of collusion find.
    Collusion(Collusion),
    /// Say how many coins whoever makes many accounts brings to one wallet in a day.
    Farm(Farm),
    /// Fill an empty database with settled games, to see how reports do with many of them. Takes
    /// the database login that migrates.
    GenerateHistory {
        #[command(flatten)]
        what: GenerateHistory,
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: StandingsSettings,
    },
    /// Keep a player out, for a time or for good.
    Ban {
        #[command(subcommand)]
        what: SanctionCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Keep a player from saying anything at tables, for a time or for good.
    Mute {
        #[command(subcommand)]
        what: SanctionCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Say who may run the house. Takes the database login that migrates.
    Operator {
        #[command(subcommand)]
        what: OperatorCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Print the description of the REST API.
    Openapi,
    /// Print the description of the WebSocket.
    Asyncapi,
}

/// Plays with many bots at once against a running server.
#[derive(clap::Args, Debug)]
struct LoadTest {
    #[command(flatten)]
    options: loadtest::Options,
    /// The server's database, for checking the ledger at the end.
    #[arg(long = "database-url", env = "DATABASE_URL", hide_env_values = true, value_name = "URL",
          value_parser = parse_database)]
    database: Option<Database>,
}

fn parse_database(url: &str) -> Result<Database, String> {
    let read = url.parse().map(|database_url| Database { database_url });
    read.map_err(|error| to_one_line(&error))
}

/// Checks a record: its deal, every action, its settlement.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Verify {
    #[command(subcommand)]
    what: Option<VerifyTarget>,
    /// The record as JSON; - for standard input.
    #[arg(required = true)]
    file: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum VerifyTarget {
    /// Check that the ledger adds up and that every game was paid as its record says.
    Ledger {
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        archive: ArchiveSettings,
    },
    /// Count all statistics and leaderboards anew, and compare.
    Standings {
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: StandingsSettings,
        #[command(flatten)]
        archive: ArchiveSettings,
    },
}

#[derive(Subcommand, Debug)]
enum OperatorCommand {
    /// Make an operator, and print once the code with which it sets a password and a second factor
    /// at /desk/enrolment.
    Add {
        /// A lower-case letter, then letters, digits, dots and hyphens.
        name: OperatorName,
        /// viewer, support, finance or admin.
        #[arg(long)]
        role: Role,
    },
    /// List all operators.
    List,
    /// End what an operator may do, for good.
    Disable { name: OperatorName },
    /// Print a code with which an operator sets another password and another second factor at
    /// /desk/enrolment; those before and its API token stop working.
    Reset { name: OperatorName },
}

/// What is done about a ban or a mute.
#[derive(Subcommand, Debug)]
enum SanctionCommand {
    /// Begin one. A banned player's sessions end, and its sockets close within a second; a muted
    /// player plays on, and its next phrase is refused.
    Add {
        /// The player's id.
        player: PlayerId,
        /// Told to the player: 10 to 500 characters.
        #[arg(long, value_name = "TEXT")]
        reason: Reason,
        /// For so many days; without it for good.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
        days: Option<u16>,
    },
    /// End all that are in force.
    Lift { player: PlayerId },
    /// List all that a player has had, newest first.
    List { player: PlayerId },
}

/// Where a running server is.
#[derive(clap::Args, Debug)]
struct Server {
    /// The server's address.
    #[arg(long, env = "BAHAY_URL", default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
}

/// What a supervisor asks.
#[derive(clap::Args, Debug)]
struct Healthcheck {
    #[command(flatten)]
    server: Server,
    /// Ask as well whether it can work: whether PostgreSQL and Redis answer it.
    #[arg(long)]
    ready: bool,
    /// Where the server answers that (BAHAY_PROBE_LISTEN).
    #[arg(
        long,
        env = "BAHAY_PROBE_URL",
        default_value = "http://127.0.0.1:9180",
        value_name = "URL"
    )]
    probe_url: String,
}

/// Which room guests play in, and where.
#[derive(clap::Args, Debug)]
struct Demo {
    #[command(flatten)]
    server: Server,
    /// The room, by its id.
    #[arg(long, default_value = "newbie", value_name = "ROOM")]
    room: String,
}

/// What a command failed with, already in words.
type CommandError = Box<dyn std::error::Error>;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bahay: {}", to_one_line(&*error));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), CommandError> {
    match command {
        Command::Serve(config) => runtime()?.block_on(serve(*config)),
        Command::Migrate { database, settings } => {
            runtime()?.block_on(migrate(*database, settings))
        }
        Command::Healthcheck(what) => runtime()?.block_on(healthcheck(&what)),
        Command::Demo(Demo { server: Server { url }, room }) => {
            Ok(runtime()?.block_on(demo::run(&url, &room))?)
        }
        Command::Loadtest(test) => {
            let LoadTest { options, database } = *test;
            let complaints = database.map(|database| async move || collect_complaints(database).await);
            Ok(runtime()?.block_on(loadtest::run(options, complaints))?)
        }
        Command::Verify(Verify { what: Some(what), .. }) => runtime()?.block_on(run_verify(what)),
        Command::Verify(Verify { what: None, file }) => verify_file(&file.unwrap_or_default()),
        Command::Archive { what, database, settings } => {
            runtime()?.block_on(archive(what, *database, &settings))
        }
        Command::EventsOptions { what, database } => runtime()?.block_on(events(what, *database)),
        Command::Table(command) => {
            let said = runtime()?.block_on(operate::run_table_command(command))?;
            print!("{said}");
            Ok(())
        }
        Command::Simulate(what) => {
            let rooms = lobby::house_rooms(Clocks::default());
            Ok(simulate::run(&what, &rooms, &mut stdout().lock())?)
        }
        Command::Arena(what) => {
            let rooms = lobby::house_rooms(Clocks::default());
            let mut progress = arena::Progress::new(stderr().is_terminal().then(stderr));
            let report_progress = |done, all| progress.update(done, all);
            Ok(arena::run(&what, &rooms, &mut stdout().lock(), report_progress)?)
        }
        Command::Env(what) => Ok(env::run(&what, stdin().lock(), &mut stdout().lock())?),
        Command::Tapes(what) => {
            let rooms = lobby::house_rooms(Clocks::default());
            Ok(tapes::run(&what, &rooms)?)
        }
        Command::Collusion(what) => {
            collusion::run(what, &mut stdout().lock())?;
            Ok(())
        }
        Command::Farm(what) => {
            farm::run(&what, &mut stdout().lock())?;
            Ok(())
        }
        Command::GenerateHistory { what, database, settings } => {
            runtime()?.block_on(generate_history(what, *database, &settings))
        }
        Command::Operator { what, database } => runtime()?.block_on(operator(what, *database)),
        Command::Ban { what, database } => runtime()?.block_on(run_sanction(SanctionKind::Ban, what, *database)),
        Command::Mute { what, database } => runtime()?.block_on(run_sanction(SanctionKind::Mute, what, *database)),
        Command::Openapi => {
            print!("{}", http::openapi_yaml());
            Ok(())
        }
        Command::Asyncapi => {
            print!("{}", ws::asyncapi_yaml());
            Ok(())
        }
    }
}

/// Where there is one processor, one thread does everything: what it has woken waits in one queue,
/// so that much of it is done between two questions to the kernel.
fn runtime() -> Result<tokio::runtime::Runtime, std::io::Error> {
    let processors = std::thread::available_parallelism().map_or(2, NonZero::get);
    let mut runtime = match processors {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime.enable_all().build()
}

async fn serve(config: Config) -> Result<(), CommandError> {
    let format = if config.log_json { LogFormat::Json } else { LogFormat::Human };
    let Some(collector) = config.spans.collector() else {
        telemetry::start(&config.log, format)?;
        return Ok(app::serve(config).await?);
    };
    let spans = telemetry::start_with_spans(&config.log, format, &collector)?;
    let served = app::serve(config).await;
    spans.shut_down().await;
    Ok(served?)
}

async fn migrate(database: Database, settings: OwnerSettings) -> Result<(), CommandError> {
    let OwnerSettings { entries_kept_months, archive_grace_days } = settings;
    let pool = connect_owner(database).await?;
    db::migrate(&pool).await?;
    Ok(db::write_owner_settings(&pool, entries_kept_months.0, archive_grace_days.0).await?)
}

/// One connection with all that the login may do.
async fn connect_owner(database: Database) -> Result<db::PgPool, CommandError> {
    let options = db::PoolOptions { connections_max: 1, ..db::PoolOptions::default() };
    let pool = db::connect_as_login(database.database_url, options).await;
    Ok(pool.map_err(app::ServeError::Connect)?)
}

async fn operator(what: OperatorCommand, database: Database) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let operators = Operators::new(connect_owner(database).await?);
    let (by, now) = (Actor::COMMAND_LINE, clock::Clock::system().now());
    match what {
        OperatorCommand::Add { name, role } => {
            println!("{}", operators.add(&by, &name, role, now).await?.reveal());
        }
        OperatorCommand::List => {
            for operator in operators.list().await? {
                let OperatorSummary { name, role, created_at, disabled_at, is_enrolled, .. } = operator;
                let token = operator.token_expires_at.filter(|_| disabled_at.is_none());
                let token = token
                    .map_or(String::new(), |at| format!("  token until {:.0}", clock::to_jiff(at)));
                let since = clock::to_jiff(created_at);
                let enrolled = if is_enrolled { "  enrolled" } else { "" };
                let disabled = disabled_at
                    .map_or(String::new(), |at| format!("  disabled {:.0}", clock::to_jiff(at)));
                println!("{name:<32}  {role:<7}  since {since:.0}{enrolled}{token}{disabled}");
            }
        }
        OperatorCommand::Disable { name } => operators.disable(&by, &name, now).await?,
        OperatorCommand::Reset { name } => {
            println!("{}", operators.reset(&by, &name, now).await?.reveal());
        }
    }
    Ok(())
}

async fn run_sanction(kind: SanctionKind, what: SanctionCommand, database: Database) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let clock = clock::Clock::system();
    let sanctions = Sanctions::new(connect_owner(database).await?, clock.clone());
    let (by, now) = (Actor::COMMAND_LINE, clock.now());
    match what {
        SanctionCommand::Add { player, reason, days } => {
            let day = Duration::from_hours(24);
            let ends_at = days.map(|days| clock::after(now, day * u32::from(days)));
            sanctions.impose_as(&by, player, kind, &Sanction { reason, ends_at }).await?;
        }
        SanctionCommand::Lift { player } => sanctions.lift_as(&by, player, kind).await?,
        SanctionCommand::List { player } => {
            for SanctionRecord { sanction, imposed_at, lifted_at } in sanctions.list(player, kind).await? {
                let since = clock::to_jiff(imposed_at);
                let lifted = lifted_at
                    .map_or(String::new(), |at| format!("  lifted {:.0}", clock::to_jiff(at)));
                println!("since {since:.0}  {sanction}{lifted}");
            }
        }
    }
    Ok(())
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
        // On a machine with too much to do this may stand still for longer than a server may.
        idle_transaction_timeout_ms: 0,
        ..db::PoolOptions::default()
    };
    // What a crash takes is made again by making all of it again.
    let url = database.database_url.options([("synchronous_commit", "off")]);
    let pool = db::connect_as_login(url, options).await;
    let pool = pool.map_err(app::ServeError::Connect)?;
    let (now, calendar) = (clock::Clock::system().now(), settings.calendar());
    let report_progress = |games| eprintln!("{games} games");
    let Written { games, players, windows } =
        fixtures::generate(&pool, what, now, calendar, report_progress).await?;
    eprintln!("counting them for reports");
    let reports = Reports::with_own_pool(&pool);
    reports.catch_up().await?;
    reports.close().await;
    db::vacuum(&pool).await?;
    println!("{games} games of {players} players in {windows} windows");
    Ok(())
}

async fn healthcheck(what: &Healthcheck) -> Result<(), CommandError> {
    let Healthcheck { server: Server { url }, ready, probe_url } = what;
    let alive = format!("{}/healthz", url.trim_end_matches('/'));
    let is_ready = format!("{}/readyz", probe_url.trim_end_matches('/'));
    for question in std::iter::once(alive).chain(ready.then_some(is_ready)) {
        reqwest::get(question).await?.error_for_status()?;
    }
    Ok(())
}

/// Two connections in the role of the service.
async fn connect_service(database: Database) -> Result<db::PgPool, CommandError> {
    db::check_schema(&database.database_url).await?;
    let options = db::PoolOptions { connections_max: 2, ..db::PoolOptions::default() };
    let pool = db::connect(database.database_url, options).await;
    Ok(pool.map_err(app::ServeError::Connect)?)
}

async fn events(what: EventsOptions, database: Database) -> Result<(), CommandError> {
    let pool = connect_service(database).await?;
    let report_progress = |error: &ledger_events::NatsError| eprintln!("bahay: {}; trying again", to_one_line(error));
    Ok(ledger_events::command::run(what, pool, &mut stdout().lock(), report_progress).await?)
}

async fn archive(
    what: ArchiveOptions,
    database: Database,
    settings: &ArchiveSettings,
) -> Result<(), CommandError> {
    let pool = connect_service(database).await?;
    let (records, pace) = (settings.records()?, settings.schedule());
    Ok(records::command::run(what, pool, records, schedule, &mut stdout().lock()).await?)
}

async fn ledger_report(
    database: Database,
    records: &Records,
) -> Result<verify::ledger::Report, CommandError> {
    let pool = connect_service(database).await?;
    Ok(verify::ledger::check(&pool, records, verify::ledger::Extent::Everything).await?)
}

async fn run_verify(what: VerifyTarget) -> Result<(), CommandError> {
    match what {
        VerifyTarget::Ledger { database, archive } => {
            verify_ledger(*database, &archive.records()?).await
        }
        VerifyTarget::Standings { database, settings, archive } => {
            verify_standings(*database, &settings, &archive.records()?).await
        }
    }
}

/// What does not add up in the ledger, for the load tester.
async fn collect_complaints(database: Database) -> Result<Vec<String>, String> {
    let report = ledger_report(database, &Records::without_archive()).await;
    let report = report.map_err(|error| to_one_line(&*error))?;
    Ok(report.difference_texts().collect())
}

async fn verify_ledger(database: Database, records: &Records) -> Result<(), CommandError> {
    let report = ledger_report(database, records).await?;
    println!("{report}");
    if report.is_clean() { Ok(()) } else { Err("the ledger does not add up".into()) }
}

async fn verify_standings(
    database: Database,
    settings: &StandingsSettings,
    records: &Records,
) -> Result<(), CommandError> {
    let pool = connect_service(database).await?;
    let standings::StandingsCheck { seal, games, players, scores, differences } =
        standings::check(&pool, records, &settings.calendar()).await?;
    println!("{games} games up to seal {seal}, {players} players, {scores} scores");
    for difference in &differences {
        println!("{difference}");
    }
    if differences.is_empty() { Ok(()) } else { Err("the standings do not add up".into()) }
}

fn verify_file(file: &std::path::Path) -> Result<(), CommandError> {
    let mut document = String::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut document).map(|_| ())
    } else {
        std::fs::read_to_string(file).map(|text| document = text)
    };
    read.map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let verify::VerifiedRecord { record, verified } = verify::verify(&document)?;
    let verify::Report { winner, fee } = verify::report(&record);
    println!("verified: game {} of {}", record.game, record.kind);
    println!("  commitment and deal follow from the seeds");
    println!("  {} actions by the rules", verified.actions);
    println!("  settlement recomputed: {winner}, fee {fee}");
    Ok(())
}

/// An error and its causes, as one line.
fn to_one_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Many errors repeat their cause in their own words.
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line.replace('\n', " ")
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
