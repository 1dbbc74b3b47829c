//! Simulates the house for a number of games, seed after seed, and prints the faults and their
//! effects. Run by `./dev simulate-house`.

use std::time::Instant;

use bahay_shell::simulation::{Options, RunTotals, simulate_game};
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value = "tongits")]
    game: String,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value_t = 1_000)]
    games: u64,
    #[arg(long, default_value_t = u64::MAX)]
    runs: u64,
    #[arg(long = "tell")]
    keeps_story: bool,
}

fn main() -> std::process::ExitCode {
    let Arguments { game, seed, games, runs, keeps_story } = Arguments::parse();
    let started_at = Instant::now();
    let (mut totals, mut virtual_ms, mut next) = (RunTotals::default(), 0, seed);
    while totals.games < games && next.wrapping_sub(seed) < runs {
        let options = |seats| Options { keeps_story, ..Options::from_seed(next, seats) };
        let Some(run) = simulate_game(&game, options) else {
            eprintln!("there is no game {game}");
            return std::process::ExitCode::FAILURE;
        };
        match run {
            Ok(report) => {
                totals.add(&report.totals);
                virtual_ms += report.virtual_ms;
            }
            Err(failure) => {
                println!("{failure}");
                return std::process::ExitCode::FAILURE;
            }
        }
        next = next.wrapping_add(1);
    }
    let took_ms = u64::try_from(started_at.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    println!("seeds {seed} to {}: every check held", next.wrapping_sub(1));
    println!("{:<20}{:>9}", "games a minute", totals.games.saturating_mul(60_000) / took_ms);
    println!("{:<20}{:>9}", "virtual hours", virtual_ms / 3_600_000);
    for (name, count) in totals.counters() {
        println!("{:<20}{count:>9}", name.replace('_', " "));
    }
    println!("faults");
    for (fault, times) in &totals.faults {
        println!("  {:<18}{times:>9}", format!("{fault:?}"));
    }
    std::process::ExitCode::SUCCESS
}
