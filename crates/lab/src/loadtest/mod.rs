//! `bahay-lab loadtest`: measures how many tables a server holds, with clients that know only the
//! public protocol and play as the house's bots do.
//!
//! A run has phases. The players sign in as guests, ask a room for seats, connect, and play game
//! after game with think times; after an uncounted warm-up the measurement begins.
//!
//! - `plan` runs the phases of each mode; in `players`, `crowd_control` starts and stops the
//!   players, `crowd` is what they share, `player` simulates one, and `table_connection` its play.
//! - `frames`, `known_texts` and `audit` there check what each player receives; `board` measures
//!   when a move has reached every seat.
//! - `counters` counts; `nodes` samples the servers' metrics; `progress` reports a running test.
//! - `report` is the result, with its parts in a folder; `page` renders it as HTML.
//! - `reads` is separate: it sends REST requests and no moves; so is `tournament`, which plays one.
//!
//! A latency counts from the time at which the player meant to act, not from the time at which this
//! program sent the action, and a pause of the server also counts for the moves that were not made
//! meanwhile, so a stalled server cannot look fast (see `counters`).
//!
//! A fast but wrong server fails: no message may hold what its reader may not see, versions must be
//! contiguous, some games are compared with their records, and the ledger is verified at the end if
//! a database is given.
//!
//! Players run out of coins. A player that cannot pay for the room is replaced by a new guest, and
//! the report counts them: the only source of coins is the welcome grant.
//!
//! Bounds: at most [`Options::arrivals`] guests arrive at the same time; a table that stalls for a
//! minute shows in the counts and is not waited for.

mod counters;
mod nodes;
mod page;
mod plan;
mod players;
mod progress;
mod reads;
mod report;
mod tournament;

use std::path::{Path, PathBuf};

use bahay_client_tokio::{Client, ClientError};
use bahay_protocol::brief::Form;
use bahay_rate_limit::Rate;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::loadtest::report::Report;

pub use players::frames::FrameChecker;
pub use players::known_texts::KnownTexts;
pub use tournament::arena_terms;

/// The mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plays a fixed number of tables for a fixed time.
    Fixed,
    /// Searches the most tables at which 99 of 100 moves reach every seat within the limit.
    Ramp,
    /// Disconnects every player at once and waits until all have reconnected.
    Storm,
    /// Plays for hours to see whether memory and latency are stable.
    Soak,
    /// Plays without think times.
    Max,
    /// Measures the cost of idle connections and tables.
    Idle,
    /// Sends REST reads at a fixed rate and measures their latency.
    Reads,
    /// Plays one arena tournament from the registration to the prizes.
    Tournament,
}

/// The distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Always the mean.
    Steady,
    /// Uniform between half and one and a half of the mean.
    Even,
    /// Log-normal as of people: mostly shorter, occasionally more than twice the mean.
    People,
}

/// The assignment of a table's players to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seating {
    /// To different nodes, so that every stored line is sent to the other nodes.
    Apart,
    /// All to the same node.
    Together,
}

/// Play against a server with many bots at once, and measure it.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The mode of the run.
    #[arg(value_enum, default_value = "fixed")]
    pub mode: Mode,

    /// The server's address. Several addresses are nodes of one house, each given as its own --url,
    /// or separated by commas.
    #[arg(
        long = "url",
        env = "BAHAY_URL",
        default_value = "http://127.0.0.1:8080",
        value_delimiter = ',',
        value_name = "URL"
    )]
    pub urls: Vec<String>,

    /// The assignment of a table's players to several nodes.
    #[arg(long, value_enum, default_value = "apart")]
    pub seating: Seating,

    /// Number of full tables; in a ramp the number of the first step.
    #[arg(long, default_value_t = 100, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub tables: u32,

    /// Number of players of `tournament`.
    #[arg(long, default_value_t = 300, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(3..=20_000))]
    pub players: u32,

    /// The announced tournament that `tournament` plays. With a database it is announced: it lasts
    /// --seconds, and starts after --warm-up, in which the players register.
    #[arg(long = "tournament-id", value_name = "ID")]
    pub tournament: Option<Uuid>,

    /// Duration of a measurement, after the warm-up.
    #[arg(long, default_value_t = 30, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seconds: u64,

    /// Duration of the uncounted warm-up.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    pub warm_up: u64,

    /// Mean time to think before each move.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub think_ms: u64,

    /// Distribution of think times.
    #[arg(long, value_enum, default_value = "even")]
    pub spread: Spread,

    /// Seed of the think times, and of which players are slow, drop or are idle.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,

    /// Percentage of players that think four times as long and pause before reading.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub slow: u8,

    /// Percentage of players that lose their connection every ten seconds or so.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub dropping: u8,

    /// Percentage of players that never act and leave it to the clock and the AI.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub idle: u8,

    /// Form of the messages on the socket: compact (`bahay.v1.compact`, short arrays in
    /// MessagePack), which clients ask for first, brief (`bahay.v1.brief`, the same arrays in
    /// JSON) or full (`bahay.v1`, objects in JSON).
    #[arg(long, default_value = "compact", value_parser = parse_form)]
    pub form: Form,

    /// Room in which all players play.
    #[arg(long, default_value = "newbie", value_name = "ROOM")]
    pub room: String,

    /// Number of guests that arrive at the same time.
    #[arg(long, default_value_t = 32, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub arrivals: u16,

    /// Limit of the 99th percentile in a ramp.
    #[arg(long, default_value_t = 100, value_name = "MILLISECONDS")]
    pub limit_ms: u64,

    /// Requests per second of `reads`, sent whether or not earlier ones are answered.
    #[arg(long, default_value_t = 500, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub per_second: u32,

    /// The server's limit of the commands of a socket, for the report of `max`.
    #[arg(long, env = "BAHAY_COMMANDS_PER_SOCKET", value_name = "RATE")]
    pub commands_per_socket: Option<Rate>,

    /// Address of the server's metrics (BAHAY_PROBE_LISTEN), as in http://127.0.0.1:9180; one for
    /// each node, in the order of --url. Without it processor time and memory are measured by --pid
    /// only.
    #[arg(long = "probe-url", env = "BAHAY_PROBE_URL", value_delimiter = ',', value_name = "URL")]
    pub probe_urls: Vec<String>,

    /// The server's process on this machine, whose usage is read from the kernel; one for each
    /// node, in the order of --url.
    #[arg(long = "pid", value_delimiter = ',', value_name = "PID")]
    pub pids: Vec<u32>,

    /// File for the report as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// File for the report as a self-contained HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Merges the reports of several processes that played together, and plays nothing.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub merge: Vec<PathBuf>,

    /// Report to compare with. A figure that is worse by more than --worse fails the run.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,

    /// Tolerated worsening of a figure against the compared report.
    #[arg(long, default_value_t = 20, value_name = "PERCENT")]
    pub worse: u32,
}

impl Options {
    /// Returns the mean think time in ms; zero in modes whose moves have no expected interval.
    fn mean_think_ms(&self) -> u64 {
        match self.mode {
            Mode::Max | Mode::Idle => 0,
            Mode::Fixed
            | Mode::Ramp
            | Mode::Storm
            | Mode::Soak
            | Mode::Reads
            | Mode::Tournament => self.think_ms,
        }
    }
}

fn parse_form(name: &str) -> Result<Form, &'static str> {
    match name {
        "full" => Ok(Form::Full),
        "brief" => Ok(Form::Brief),
        "compact" => Ok(Form::Compact),
        _ => Err("the forms are full, brief, compact"),
    }
}

/// The failure of a run, or of its result.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("{path} cannot be written: {error}")]
    Unwritable { path: String, error: std::io::Error },
    /// Thousands of players share one address, which the default rate limits do not admit.
    #[error(
        "the server refuses further clients ({code}): start it with wider limits for one address, as \
         `./dev loadtest` does: BAHAY_SIGN_INS_PER_ADDRESS, BAHAY_REQUESTS_PER_ADDRESS, \
         BAHAY_CONNECTIONS_PER_ADDRESS, BAHAY_SOCKETS_PER_ADDRESS and \
         BAHAY_WELCOMES_PER_NETWORK"
    )]
    RateLimited { code: String },
    #[error("no server is named: give --url")]
    NoAddress,
    #[error("{pids} processes are named, but {urls} addresses: give --pid once for each --url")]
    Pids { pids: usize, urls: usize },
    #[error(
        "{probes} are named for figures, but {urls} addresses: give --probe-url once for each --url"
    )]
    Probes { probes: usize, urls: usize },
    #[error("the rooms could not be read: {0}")]
    Rooms(ClientError),
    #[error("the house has no room {0}")]
    NoRoom(String),
    #[error("nobody could sign in: {0}")]
    SignIn(ClientError),
    #[error("only {playing} of {wanted} players came to a table: {why}")]
    Unfilled { playing: u64, wanted: u64, why: String },
    #[error("no tournament is announced: give --database-url, or --tournament-id")]
    NoTournament,
    #[error("the tournament could not be read: {0}")]
    Tournament(ClientError),
    #[error("the server is at fault: {0}")]
    Wrong(String),
    #[error("worse than before: {0}")]
    Worse(String),
    #[error("there is nothing to merge in {0}: the reports are of different kinds")]
    MergeMismatch(String),
}

/// Runs or merges, writes the requested reports and compares them. `complaints` verifies the
/// ledger, if a database is given.
///
/// # Errors
///
/// Fails if the run cannot be completed, the server is at fault, or a compared figure got worse.
pub async fn run(
    options: Options,
    complaints: Option<impl AsyncFnOnce() -> Result<Vec<String>, String>>,
) -> Result<(), LoadError> {
    let pids = options.pids.len();
    let urls = options.urls.len();
    if pids > 0 && pids != urls {
        return Err(LoadError::Pids { pids, urls });
    }
    let probes = options.probe_urls.len();
    if probes > 0 && probes != urls {
        return Err(LoadError::Probes { probes, urls });
    }
    if options.mode == Mode::Reads {
        return run_reads(&options).await;
    }
    if options.mode == Mode::Tournament {
        return run_tournament(&options, complaints).await;
    }
    let mut report = if options.merge.is_empty() {
        plan::run_plan(&options).await?
    } else {
        let read = options.merge.iter().map(|path| read_report(path));
        Report::merge(read.collect::<Result<Vec<_>, _>>()?)?
    };
    if options.merge.is_empty()
        && let Some(complaints) = complaints
    {
        match complaints().await {
            Ok(complaints) => report.ledger_differences = Some(complaints.len()),
            Err(why) => report.faults.push(format!("the ledger could not be checked: {why}")),
        }
    }
    let old = options.compare.as_deref().map(read_report).transpose()?;
    println!("{}", report.summary());
    if let Some(path) = &options.json {
        progress::save_report(path, &report)?;
    }
    if let Some(path) = &options.html {
        write_file(path, &page::render_page(&report, old.as_ref()))?;
    }
    let compared = old.map(|old| report.compare_with(&old, options.worse));
    if let Some(compared) = &compared {
        println!("{compared}");
    }
    if let Some(fault) = report.fault() {
        return Err(LoadError::Wrong(fault));
    }
    match compared {
        Some(compared) if !compared.worse.is_empty() => {
            Err(LoadError::Worse(compared.worse.join(", ")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Reads the number of seats at a table of this room.
async fn read_seat_count(client: &Client, room: &str) -> Result<u8, LoadError> {
    let found = client.room(room).await.map_err(LoadError::Rooms)?;
    found.map(|room| room.seats).ok_or_else(|| LoadError::NoRoom(room.to_owned()))
}

/// Runs `reads`, which has a report of its own because there are no tables to compare.
async fn run_reads(options: &Options) -> Result<(), LoadError> {
    let reads = reads::run_reads(options).await?;
    println!("{reads}");
    if let Some(path) = &options.json {
        write_file(path, &serde_json::to_string(&reads).unwrap_or_default())?;
    }
    reads.fault().map_or(Ok(()), |fault| Err(LoadError::Wrong(fault)))
}

/// Runs `tournament`, which has a report of its own, and verifies the ledger.
async fn run_tournament(
    options: &Options,
    complaints: Option<impl AsyncFnOnce() -> Result<Vec<String>, String>>,
) -> Result<(), LoadError> {
    let report = tournament::run_tournament(options).await?;
    println!("{report}");
    if let Some(path) = &options.json {
        write_file(path, &serde_json::to_string(&report).unwrap_or_default())?;
    }
    if let Some(complaints) = complaints {
        let found = complaints().await.map_err(LoadError::Wrong)?;
        if let Some(first) = found.first() {
            return Err(LoadError::Wrong(format!("the books do not balance: {first}")));
        }
    }
    report.fault().map_or(Ok(()), |fault| Err(LoadError::Wrong(fault)))
}

fn read_report(path: &Path) -> Result<Report, LoadError> {
    let unreadable = |why: String| LoadError::Unreadable { path: path.display().to_string(), why };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

fn write_file(path: &Path, text: &str) -> Result<(), LoadError> {
    let unwritable = |error| LoadError::Unwritable { path: path.display().to_string(), error };
    std::fs::write(path, text).map_err(unwritable)
}
