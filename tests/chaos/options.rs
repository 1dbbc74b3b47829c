//! What a run can be told.

use clap::Parser;

use crate::forge::Forgery;

/// Real nodes and clients, real faults, and checks of all that the clients were told.
#[derive(Parser, Clone, Debug)]
#[command(name = "chaos", bin_name = "./dev chaos")]
pub(crate) struct Options {
    /// Chooses the faults and what clients do. A run prints its own.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// How long faults go on.
    #[arg(long, default_value_t = 2, value_name = "MINUTES",
          value_parser = clap::value_parser!(u64).range(1..=1440))]
    pub(crate) minutes: u64,

    /// Server processes.
    #[arg(long, default_value_t = 3, value_name = "NUMBER",
          value_parser = clap::value_parser!(u64).range(1..=16))]
    pub(crate) nodes: u64,

    /// Tables, of the games in turn; each has three clients or more.
    #[arg(long, default_value_t = 8, value_name = "NUMBER",
          value_parser = clap::value_parser!(u64).range(1..=500))]
    pub(crate) tables: u64,

    /// A client thinks for so long before a move, at most; people do for some seconds.
    #[arg(long, default_value_t = 40, value_name = "MILLISECONDS",
          value_parser = clap::value_parser!(u64).range(1..=5000))]
    pub(crate) thinks: u64,

    /// Every kind of fault once, one soon after the other, instead of so many minutes.
    #[arg(long, conflicts_with = "minutes")]
    pub(crate) short: bool,

    /// No faults: so often all nodes are exchanged, one after the other, for those of another version,
    /// and back again.
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["minutes", "short", "lose_redis"],
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) exchanges: Option<u64>,

    /// The binary of the version before, by which the run begins; without it that of this one.
    #[arg(long, value_name = "FILE", requires = "exchanges")]
    pub(crate) from: Option<std::path::PathBuf>,

    /// Also lose all that Redis holds. Games that were open are voided then.
    #[arg(long)]
    pub(crate) lose_redis: bool,

    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<std::path::PathBuf>,

    /// After a clean run forge its evidence in each way in turn: every check must find its own.
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
    /// The command that repeats a run of this seed.
    pub(crate) fn command(&self, seed: u64) -> String {
        let extent = match (self.exchanges, &self.from) {
            (Some(times), None) => format!("--exchanges {times}"),
            (Some(times), Some(from)) => format!("--exchanges {times} --from {}", from.display()),
            (None, _) if self.short => "--short".to_owned(),
            (None, _) => format!("--minutes {}", self.minutes),
        };
        let lose = if self.lose_redis { " --lose-redis" } else { "" };
        let Self { nodes, tables, thinks, .. } = self;
        let thinks = if *thinks == 40 { String::new() } else { format!(" --thinks {thinks}") };
        format!(
            "./dev chaos --seed {seed} {extent} --nodes {nodes} --tables {tables}{thinks}{lose}"
        )
    }
}
