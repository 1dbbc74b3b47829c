//! The command line. A command that fails prints one line and exits with 1; an invalid command line
//! exits with 2.

use std::io::{read_to_string, stdin, stdout};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bahay_api::operator::operators::Operator;
use bahay_base::error_line::to_one_line;
use clap::{Parser, Subcommand};
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use crate::accounts::{Sanction, SanctionKind, SanctionRecord};
use crate::clock::Timestamp;
use crate::config::{ArchiveSettings, Config, Database, OwnerSettings, StandingsSettings};
use crate::ids::PlayerId;
use crate::operate::TableCommand;
use crate::operators::audit::Actor;
use crate::operators::{OperatorName, Operators, Role, Sanctions};
use crate::projections;
use crate::ratings::Ratings;
use crate::reason::Reason;
use crate::records::command::ArchiveOptions;
use crate::records::{self, Records};
use crate::reports::{Pairs, Reports};
use crate::standings::Standings;
use crate::telemetry::LogFormat;
use crate::{app, clock, db, operate, rooms, standings, telemetry, verify};

pub use crate::operate::CommandError;

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
    /// Migrate the database's schema, and write the bound within which the service removes data.
    Migrate {
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: OwnerSettings,
    },
    /// Check that a server is alive, for process supervisors.
    Healthcheck(Healthcheck),
    /// Verify the record of a finished game, or the whole ledger.
    Verify(Verify),
    /// Delete the rows of a projection, which servers then compute anew from the ledger. Needs the
    /// database login that migrates.
    Rebuild {
        projection: ProjectionName,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Move records of old games to the archive, or check the archive.
    Archive {
        #[command(flatten)]
        what: ArchiveOptions,
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        settings: ArchiveSettings,
    },
    /// Write booked operations and played games as one stream of numbered events, one JSON document
    /// a line.
    #[cfg(feature = "events")]
    Events {
        #[command(flatten)]
        what: bahay_events::EventsOptions,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Close or open the whole house: while it is closed, no game begins.
    House {
        #[command(subcommand)]
        what: HouseCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Handle halted and lost tables.
    #[command(subcommand)]
    Table(TableCommand),
    /// Ban a player, for a time or for good.
    Ban {
        #[command(subcommand)]
        what: SanctionCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Mute a player, for a time or for good.
    Mute {
        #[command(subcommand)]
        what: SanctionCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
    /// Manage operators. Needs the database login that migrates.
    Operator {
        #[command(subcommand)]
        what: OperatorCommand,
        #[command(flatten)]
        database: Box<Database>,
    },
}

/// A projection of the ledger.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProjectionName {
    Standings,
    Ratings,
    Figures,
    Pairs,
}

/// The options of verification. A record is verified with its deal, its actions and its settlement.
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
    /// Verify that the ledger balances, and that every game was paid as in its record.
    Ledger {
        #[command(flatten)]
        database: Box<Database>,
        #[command(flatten)]
        archive: ArchiveSettings,
    },
    /// Recompute all statistics and leaderboards, and compare.
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
    /// Add an operator, and print once the code with which the operator sets a password and a
    /// second factor at /desk/enrolment.
    Add {
        /// A lower-case letter, then letters, digits, dots and hyphens.
        name: OperatorName,
        /// viewer, support, finance or admin.
        #[arg(long)]
        role: Role,
    },
    /// List all operators.
    List,
    /// Change the role of an operator; its sessions and its API token end.
    ChangeRole {
        name: OperatorName,
        /// viewer, support, finance or admin.
        #[arg(long)]
        role: Role,
    },
    /// Disable an operator for good.
    Disable { name: OperatorName },
    /// Print a code with which an operator sets a new password and a new second factor at
    /// /desk/enrolment; the previous ones and the API token become invalid.
    Reset { name: OperatorName },
}

#[derive(Subcommand, Debug)]
enum HouseCommand {
    /// Print whether the house is open.
    Show,
    /// Close every room and all private tables; running games are finished.
    Close {
        /// The reason, for operators: 10 to 500 characters.
        #[arg(long, value_name = "TEXT")]
        reason: Reason,
    },
    /// Open the house.
    Open,
}

/// A command about bans or mutes.
#[derive(Subcommand, Debug)]
enum SanctionCommand {
    /// Impose a sanction. The sessions of a banned player end, and its sockets close within a
    /// second; a muted player plays on, and its next phrase is refused.
    Add {
        /// The player's id.
        player: PlayerId,
        /// The reason, which the player reads: 10 to 500 characters.
        #[arg(long, value_name = "TEXT")]
        reason: Reason,
        /// The duration in days; without it for good.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
        days: Option<u16>,
    },
    /// Lift all sanctions in force.
    Lift { player: PlayerId },
    /// List all sanctions that the player has had, newest first.
    List { player: PlayerId },
}

/// The options of a health check.
#[derive(clap::Args, Debug)]
struct Healthcheck {
    /// The server's address.
    #[arg(long, env = "BAHAY_URL", default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
    /// Check also that the server is ready: that PostgreSQL and Redis answer it.
    #[arg(long)]
    ready: bool,
    /// The server's address for probes (BAHAY_PROBE_LISTEN).
    #[arg(
        long,
        env = "BAHAY_PROBE_URL",
        default_value = "http://127.0.0.1:9180",
        value_name = "URL"
    )]
    probe_url: String,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    exit_code("bahay", run(Cli::parse().command))
}

/// Prints the error of a program's command, if it failed, and returns the program's status.
pub fn exit_code(program: &str, result: Result<(), CommandError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {}", to_one_line(&*error));
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
        Command::Verify(Verify { what: Some(what), .. }) => runtime()?.block_on(run_verify(what)),
        Command::Verify(Verify { what: None, file }) => verify_file(&file.unwrap_or_default()),
        Command::Rebuild { projection, database } => {
            runtime()?.block_on(rebuild(projection, *database))
        }
        Command::Archive { what, database, settings } => {
            runtime()?.block_on(archive(what, *database, &settings))
        }
        #[cfg(feature = "events")]
        Command::Events { what, database } => {
            Ok(runtime()?.block_on(bahay_events::export(what, database.database_url))?)
        }
        Command::Table(command) => {
            let said = runtime()?.block_on(operate::run_table_command(command))?;
            print!("{said}");
            Ok(())
        }
        Command::House { what, database } => runtime()?.block_on(run_house(what, *database)),
        Command::Operator { what, database } => runtime()?.block_on(operator(what, *database)),
        Command::Ban { what, database } => {
            runtime()?.block_on(run_sanction(SanctionKind::Ban, what, *database))
        }
        Command::Mute { what, database } => {
            runtime()?.block_on(run_sanction(SanctionKind::Mute, what, *database))
        }
    }
}

/// Builds the runtime. With one processor a single thread runs all tasks, whose wake-ups share one
/// queue, so that many of them run between two polls of the kernel.
pub fn runtime() -> Result<tokio::runtime::Runtime, std::io::Error> {
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
    let pool = connect_owner(database).await?;
    db::migrate(&pool).await?;
    Ok(db::write_owner_settings(&pool, settings.archive_grace_days.0).await?)
}

async fn rebuild(projection: ProjectionName, database: Database) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    // The duration grows with the number of rows.
    let options = db::PoolOptions {
        connections_max: 1,
        statement_timeout_ms: 0,
        ..db::PoolOptions::default()
    };
    let pool = db::connect_as_login(database.database_url, options).await?;
    match projection {
        ProjectionName::Standings => projections::rebuild::<Standings>(&pool).await?,
        ProjectionName::Ratings => projections::rebuild::<Ratings>(&pool).await?,
        ProjectionName::Figures => projections::rebuild::<Reports>(&pool).await?,
        ProjectionName::Pairs => projections::rebuild::<Pairs>(&pool).await?,
    }
    Ok(())
}

/// Opens one connection with all rights of the login.
async fn connect_owner(database: Database) -> Result<db::PgPool, CommandError> {
    let options = db::PoolOptions { connections_max: 1, ..db::PoolOptions::default() };
    Ok(db::connect_as_login(database.database_url, options).await?)
}

async fn operator(what: OperatorCommand, database: Database) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let operators = Operators::new(connect_owner(database).await?);
    let by = Actor::COMMAND_LINE;
    let now = clock::Clock::system().now();
    match what {
        OperatorCommand::Add { name, role } => {
            println!("{}", operators.add(&by, &name, role, now).await?.reveal());
        }
        OperatorCommand::List => {
            for operator in operators.list().await? {
                let Operator { name, role, created_at, disabled_at, is_enrolled, .. } = operator;
                let token = operator.token_expires_at.filter(|_| disabled_at.is_none());
                let token = suffix("token until", token.map(Into::into));
                let since = clock::to_jiff(created_at.into());
                let enrolled = if is_enrolled { "  enrolled" } else { "" };
                let disabled = suffix("disabled", disabled_at.map(Into::into));
                println!("{name:<32}  {role:<7}  since {since:.0}{enrolled}{token}{disabled}");
            }
        }
        OperatorCommand::ChangeRole { name, role } => {
            operators.change_role(&by, &name, role).await?;
        }
        OperatorCommand::Disable { name } => operators.disable(&by, &name, now).await?,
        OperatorCommand::Reset { name } => {
            println!("{}", operators.reset(&by, &name, now).await?.reveal());
        }
    }
    Ok(())
}

async fn run_house(what: HouseCommand, database: Database) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let pool = connect_owner(database).await?;
    let by = Actor::COMMAND_LINE;
    let state = match what {
        HouseCommand::Show => rooms::read_house_state(&pool).await?,
        HouseCommand::Close { reason } => rooms::switch_house(&pool, &by, Some(&reason)).await?,
        HouseCommand::Open => rooms::switch_house(&pool, &by, None).await?,
    };
    match state.reason {
        None => println!("open"),
        Some(reason) => println!("closed: {reason}"),
    }
    Ok(())
}

async fn run_sanction(
    kind: SanctionKind,
    what: SanctionCommand,
    database: Database,
) -> Result<(), CommandError> {
    db::check_schema(&database.database_url).await?;
    let clock = clock::Clock::system();
    let sanctions = Sanctions::new(connect_owner(database).await?, clock.clone());
    let by = Actor::COMMAND_LINE;
    let now = clock.now();
    match what {
        SanctionCommand::Add { player, reason, days } => {
            let day = Duration::from_hours(24);
            let ends_at = days.map(|days| clock::add(now, day * u32::from(days)));
            sanctions.impose_as(&by, player, kind, &Sanction { reason, ends_at }).await?;
        }
        SanctionCommand::Lift { player } => sanctions.lift_as(&by, player, kind).await?,
        SanctionCommand::List { player } => {
            for SanctionRecord { sanction, imposed_at, lifted_at, .. } in
                sanctions.list(player, kind).await?
            {
                let since = clock::to_jiff(imposed_at);
                let lifted = suffix("lifted", lifted_at);
                println!("since {since:.0}  {sanction}{lifted}");
            }
        }
    }
    Ok(())
}

/// Formats the time of an event, if it has occurred, as the end of a line.
fn suffix(event: &str, at: Option<Timestamp>) -> String {
    at.map_or(String::new(), |at| format!("  {event} {:.0}", clock::to_jiff(at)))
}

async fn healthcheck(what: &Healthcheck) -> Result<(), CommandError> {
    let Healthcheck { url, ready, probe_url } = what;
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
    let alive = format!("{}/healthz", url.trim_end_matches('/'));
    let is_ready = format!("{}/readyz", probe_url.trim_end_matches('/'));
    for question in std::iter::once(alive).chain(ready.then_some(is_ready)) {
        let status = client.get(question.parse()?).await?.status();
        if !status.is_success() {
            return Err(format!("{question} answers {status}").into());
        }
    }
    Ok(())
}

/// Opens two connections in the role of the service.
async fn connect_service(database: Database) -> Result<db::PgPool, CommandError> {
    db::check_schema(&database.database_url).await?;
    let options = db::PoolOptions { connections_max: 2, ..db::PoolOptions::default() };
    Ok(db::connect(database.database_url, options).await?)
}

async fn archive(
    what: ArchiveOptions,
    database: Database,
    settings: &ArchiveSettings,
) -> Result<(), CommandError> {
    let pool = connect_service(database).await?;
    let records = settings.records()?;
    let schedule = settings.schedule();
    Ok(records::command::run(what, pool, records, schedule, &mut stdout().lock()).await?)
}

/// Verifies the whole ledger of a database.
pub async fn ledger_report(
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

async fn verify_ledger(database: Database, records: &Records) -> Result<(), CommandError> {
    let report = ledger_report(database, records).await?;
    println!("{report}");
    if report.is_clean() { Ok(()) } else { Err("the ledger does not balance".into()) }
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
    if differences.is_empty() { Ok(()) } else { Err("the standings are inconsistent".into()) }
}

fn verify_file(file: &std::path::Path) -> Result<(), CommandError> {
    let is_stdin = file.as_os_str() == "-";
    let read = if is_stdin { read_to_string(stdin()) } else { std::fs::read_to_string(file) };
    let document = read.map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let verify::VerifiedRecord { record, verified } = verify::verify(&document)?;
    let verify::Report { winner, fee } = verify::report(&record);
    println!("verified: game {} of {}", record.game, record.kind);
    println!("  commitment and deal follow from the seeds");
    println!("  {} actions by the rules", verified.actions);
    println!("  settlement recomputed: {winner}, fee {fee}");
    Ok(())
}
