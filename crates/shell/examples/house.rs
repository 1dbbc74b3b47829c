//! Simulates the house for a number of games, seed after seed, and prints the faults and their
//! effects. Run by `./dev simulate-house`.

use std::time::Instant;

use bahay_shell::simulation::{Options, RunTotals, simulate_game};

struct Arguments {
    game: String,
    seed: u64,
    games: u64,
    runs: u64,
    keeps_story: bool,
}

fn arguments() -> Result<Arguments, String> {
    let game = "tongits".to_owned();
    let mut arguments =
        Arguments { game, seed: 1, games: 1_000, runs: u64::MAX, keeps_story: false };
    let mut values = std::env::args().skip(1);
    while let Some(name) = values.next() {
        if name == "--game" {
            arguments.game = values.next().ok_or("--game takes the name of a game")?;
            continue;
        }
        let mut number = || {
            let value = values.next().and_then(|value| value.parse().ok());
            value.ok_or_else(|| format!("{name} takes a whole number"))
        };
        match name.as_str() {
            "--seed" => arguments.seed = number()?,
            "--games" => arguments.games = number()?,
            "--runs" => arguments.runs = number()?,
            "--tell" => arguments.keeps_story = true,
            _ => {
                return Err(format!(
                    "unknown argument {name}: --game NAME, --seed S, --games N, --runs N, \
                     --tell"
                ));
            }
        }
    }
    Ok(arguments)
}

fn main() -> std::process::ExitCode {
    let Arguments { game, seed, games, runs, keeps_story } = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return std::process::ExitCode::FAILURE;
        }
    };
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
