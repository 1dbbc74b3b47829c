//! The options of a run.

use clap::Parser;

use crate::forge::Forgery;

/// Real nodes and clients, real faults, and checks of everything that the clients received.
#[derive(Parser, Clone, Debug)]
#[command(name = "chaos", bin_name = "./dev chaos")]
pub(crate) struct Options {
    /// Seed of the faults and of the clients' choices. A run prints its own.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// Duration of the faults.
    #[arg(long, default_value_t = 2, value_name = "MINUTES",
          value_parser = clap::value_parser!(u64).range(1..=1440))]
    pub(crate) minutes: u64,

    /// Number of server processes.
    #[arg(long, default_value_t = 3, value_name = "NUMBER",
          value_parser = clap::value_parser!(u64).range(1..=16))]
    pub(crate) nodes: u64,

    /// Number of tables, of the kinds in turn; each has three clients or more.
    #[arg(long, default_value_t = 8, value_name = "NUMBER",
          value_parser = clap::value_parser!(u64).range(1..=500))]
    pub(crate) tables: u64,

    /// Play tournaments of every kind with this number of players, instead of games in rooms.
    #[arg(long, value_name = "PLAYERS", num_args = 0..=1, default_missing_value = "300",
          conflicts_with_all = ["tables", "exchanges", "lose_redis"],
          value_parser = clap::value_parser!(u32).range(27..=10_000))]
    pub(crate) tournament: Option<u32>,

    /// Longest think time before a move; people take some seconds.
    #[arg(long, default_value_t = 40, value_name = "MILLISECONDS",
          value_parser = clap::value_parser!(u64).range(1..=5000))]
    pub(crate) thinks: u64,

    /// Inject every kind of fault once in quick succession, instead of for a number of minutes.
    #[arg(long, conflicts_with = "minutes")]
    pub(crate) short: bool,

    /// Inject no faults: exchange all nodes, one after the other, for those of another version and
    /// back again, this number of times.
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["minutes", "short", "lose_redis"],
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) exchanges: Option<u64>,

    /// Binary of the previous version, with which the run begins; this version's binary if omitted.
    #[arg(long, value_name = "FILE", requires = "exchanges")]
    pub(crate) from: Option<std::path::PathBuf>,

    /// Also lose all data of Redis. Games that were open are voided then.
    #[arg(long)]
    pub(crate) lose_redis: bool,

    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<std::path::PathBuf>,

    /// After a clean run forge its evidence in each way in turn: every check must detect its
    /// forgery.
    #[arg(long)]
    pub(crate) canaries: bool,

    /// Forge the evidence before it is checked, to see a run fail.
    #[arg(long = "break", value_enum, value_name = "WHAT")]
    pub(crate) forgery: Option<Forgery>,

    /// Print the plan and do nothing.
    #[arg(long)]
    pub(crate) plan_only: bool,

    /// Keep the folder of the run although nothing failed.
    #[arg(long)]
    pub(crate) keep: bool,
}

impl Options {
    /// Returns the command that repeats a run with this seed.
    pub(crate) fn command(&self, seed: u64) -> String {
        let extent = match (self.exchanges, &self.from) {
            (Some(times), None) => format!("--exchanges {times}"),
            (Some(times), Some(from)) => format!("--exchanges {times} --from {}", from.display()),
            (None, _) if self.short => "--short".to_owned(),
            (None, _) => format!("--minutes {}", self.minutes),
        };
        let lose = if self.lose_redis { " --lose-redis" } else { "" };
        let Self { nodes, tables, thinks, .. } = self;
        let tables = match self.tournament {
            Some(players) => format!("--tournament {players}"),
            None => format!("--tables {tables}"),
        };
        let thinks = if *thinks == 40 { String::new() } else { format!(" --thinks {thinks}") };
        format!("./dev chaos --seed {seed} {extent} --nodes {nodes} {tables}{thinks}{lose}")
    }
}
