//! `bahay loadtest`: how many tables a server holds, found out by clients that know only the public
//! protocol and play as the house's bots do.
//!
//! A run has phases. The players sign in as guests, ask a room for seats, connect, and play game
//! after game with time to think; after a warm-up that counts for nothing the measurement begins.
//! `plan` says what is measured when, `crowd` holds the players, `player` is the life of one,
//! `frames` and `audit` check what each of them is shown, `board` finds out when a move has reached every seat,
//! `tally` counts, `nodes` knows the servers and looks at their own figures, `progress` is what is
//! seen meanwhile, `report` is what came of it (with `summary`, `idle`, `slope` and `compare`) and
//! `page` shows that as a document. `reads` is apart: requests, and no moves.
//!
//! A latency counts from the moment at which the player meant to act, not from when this program
//! came to it, and a pause of the server counts for the moves that were not made meanwhile: so a
//! server that stands still cannot look fast (see `tally`).
//!
//! A server that is fast and wrong fails: no message may hold what its reader may not see, versions
//! must follow one another, some games are held against their records, and the books are checked at
//! the end where a database is named.
//!
//! Players go broke. Who cannot pay for the room comes back as a new guest, and the report says how
//! many did: no coins come from anywhere but the house's welcome.
//!
//! Bounds: guests arrive [`Options::arrivals`] at a time; a table that does nothing for a minute is
//! seen in the counts, not waited for.

mod asked;
mod audit;
mod board;
mod compare;
mod crowd;
mod dice;
mod frames;
mod idle;
mod nodes;
mod page;
mod plan;
mod player;
mod progress;
mod reads;
mod report;
mod room;
mod slope;
mod summary;
mod tally;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::client::ClientError;
use crate::loadtest::report::Report;
use crate::ws::protocol::brief::Form;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// So many tables for so many seconds.
    Fixed,
    /// The most tables at which a move reaches every seat within the limit, 99 times of 100.
    Ramp,
    /// Everybody loses the connection at once and comes back.
    Storm,
    /// Hours: whether memory and latency stay where they are.
    Soak,
    /// No time to think.
    Max,
    /// What a connection and a table cost that only stand there.
    Idle,
    /// How fast clients read what is beside the table, by so many requests a second.
    Reads,
}

/// The subprotocol that players ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wanted {
    /// `bahay.v1`: objects in JSON.
    Full,
    /// `bahay.v1.brief`: short arrays in JSON.
    Brief,
    /// `bahay.v1.compact`: the same in MessagePack.
    Compact,
}

impl From<Wanted> for Form {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Full => Self::Full,
            Wanted::Brief => Self::Brief,
            Wanted::Compact => Self::Compact,
        }
    }
}

/// How times to think are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Always the same.
    Steady,
    /// Between half of it and one and a half.
    Even,
    /// Mostly shorter, now and then three times as long, as people do.
    People,
}

/// Where the players of one table connect when there are several nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seating {
    /// To different nodes: each line that one of them stores is told to the others.
    Apart,
    /// All to the same.
    Together,
}

/// Play against a server with many bots at once, and measure it.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// What is asked.
    #[arg(value_enum, default_value = "fixed")]
    pub mode: Mode,

    /// The server's address. Several are nodes of one house, each given as its own --url, or with
    /// commas between them.
    #[arg(
        long = "url",
        env = "BAHAY_URL",
        default_value = "http://127.0.0.1:8080",
        value_delimiter = ',',
        value_name = "URL"
    )]
    pub urls: Vec<String>,

    /// Where the players of one table connect when there are several nodes.
    #[arg(long, value_enum, default_value = "apart")]
    pub seating: Seating,

    /// Tables, all of them full; where a ramp begins.
    #[arg(long, default_value_t = 100, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub tables: u32,

    /// How long a measurement takes, after the warm-up.
    #[arg(long, default_value_t = 30, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seconds: u64,

    /// How long players play before anything counts.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    pub warm_up: u64,

    /// How long a player thinks before each move, on average.
    #[arg(long, default_value_t = 500, value_name = "MILLISECONDS")]
    pub think_ms: u64,

    /// How these times are spread.
    #[arg(long, value_enum, default_value = "even")]
    pub spread: Spread,

    /// Decides times to think, and who is slow, drops or is idle.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub seed: u64,

    /// Players of a hundred who think four times as long and read with pauses.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub slow: u8,

    /// Players of a hundred who lose their connection every ten seconds or so.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub dropping: u8,

    /// Players of a hundred who sit there and leave it to the clock and the AI.
    #[arg(long, default_value_t = 0, value_name = "PERCENT",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    pub idle: u8,

    /// How the players want messages on the socket.
    #[arg(long, value_enum, default_value = "full")]
    pub form: Wanted,

    /// The room that all play in.
    #[arg(long, default_value = "newbie", value_name = "ROOM")]
    pub room: String,

    /// Guests that arrive at the same time.
    #[arg(long, default_value_t = 32, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub arrivals: u16,

    /// What a ramp holds the 99th percentile against.
    #[arg(long, default_value_t = 100, value_name = "MILLISECONDS")]
    pub limit_ms: u64,

    /// Requests a second of `reads`, whether or not the ones before are answered.
    #[arg(long, default_value_t = 500, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub per_second: u32,

    /// Where the server shows its figures (BAHAY_PROBE_LISTEN), as in http://127.0.0.1:9180; of each
    /// node, in the order of --url. Without it processor time and memory are known by --pid alone.
    #[arg(long = "probe-url", env = "BAHAY_PROBE_URL", value_delimiter = ',', value_name = "URL")]
    pub probe_urls: Vec<String>,

    /// The server's process, if it runs on this machine, to ask the kernel; of each node, in the
    /// order of --url.
    #[arg(long = "pid", value_delimiter = ',', value_name = "PID")]
    pub pids: Vec<u32>,

    /// Where the report goes as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Where the report goes as a page that opens from disk.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Plays nothing: makes one report of those of several processes that played together.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub merge: Vec<PathBuf>,

    /// A report to compare with. What is worse by more than --worse fails.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,

    /// By how much a figure may be worse than in the report that it is compared with.
    #[arg(long, default_value_t = 20, value_name = "PERCENT")]
    pub worse: u32,
}

impl Options {
    /// How long players think on average; zero where there is no rhythm to hold a move against.
    fn mean_think_ms(&self) -> u64 {
        match self.mode {
            Mode::Max | Mode::Idle => 0,
            Mode::Fixed | Mode::Ramp | Mode::Storm | Mode::Soak | Mode::Reads => self.think_ms,
        }
    }
}

/// Why there is no report, or why it is not one to be content with.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("{path} cannot be written: {error}")]
    Unwritable { path: String, error: std::io::Error },
    /// Thousands come from this one address, which a house on the internet does not let in.
    #[error(
        "the server turns us away ({code}): start it with wider limits for one address, as \
         `./dev loadtest` does: BAHAY_SIGN_INS_PER_ADDRESS, BAHAY_REQUESTS_PER_ADDRESS, \
         BAHAY_CONNECTIONS_PER_ADDRESS, BAHAY_SOCKETS_PER_ADDRESS and \
         BAHAY_WELCOMES_PER_NETWORK"
    )]
    TurnedAway { code: String },
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
    #[error("the server is wrong: {0}")]
    Wrong(String),
    #[error("worse than before: {0}")]
    Worse(String),
    #[error("there is nothing to merge in {0}: the reports are of different kinds")]
    Unlike(String),
}

/// Plays, or merges; writes the report where it is wanted; says whether all is well. `complaints`
/// asks the books what does not add up, where that is possible.
pub async fn run(
    options: Options,
    complaints: Option<impl AsyncFnOnce() -> Result<Vec<String>, String>>,
) -> Result<(), LoadError> {
    let (pids, urls) = (options.pids.len(), options.urls.len());
    if pids > 0 && pids != urls {
        return Err(LoadError::Pids { pids, urls });
    }
    let probes = options.probe_urls.len();
    if probes > 0 && probes != urls {
        return Err(LoadError::Probes { probes, urls });
    }
    if options.mode == Mode::Reads {
        return read_only(&options).await;
    }
    let mut report = if options.merge.is_empty() {
        plan::carry_out(&options).await?
    } else {
        let read = options.merge.iter().map(|path| read(path));
        Report::merged(read.collect::<Result<Vec<_>, _>>()?)?
    };
    if options.merge.is_empty()
        && let Some(complaints) = complaints
    {
        match complaints().await {
            Ok(complaints) => report.ledger_differences = Some(complaints.len()),
            Err(why) => report.faults.push(format!("the ledger could not be checked: {why}")),
        }
    }
    let old = options.compare.as_deref().map(read).transpose()?;
    println!("{}", report.summary());
    if let Some(path) = &options.json {
        progress::save(path, &report)?;
    }
    if let Some(path) = &options.html {
        write(path, &page::page(&report, old.as_ref()))?;
    }
    let compared = old.map(|old| report.compared(&old, options.worse));
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

/// Has a report of its own: there are no tables to compare.
async fn read_only(options: &Options) -> Result<(), LoadError> {
    let reads = reads::carry_out(options).await?;
    println!("{reads}");
    if let Some(path) = &options.json {
        write(path, &serde_json::to_string(&reads).unwrap_or_default())?;
    }
    reads.fault().map_or(Ok(()), |fault| Err(LoadError::Wrong(fault)))
}

fn read(path: &Path) -> Result<Report, LoadError> {
    let unreadable = |why: String| LoadError::Unreadable { path: path.display().to_string(), why };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), LoadError> {
    let unwritable = |error| LoadError::Unwritable { path: path.display().to_string(), error };
    std::fs::write(path, text).map_err(unwritable)
}
