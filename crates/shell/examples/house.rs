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
    println!("games settled       {:>9}", totals.games);
    println!("games voided        {:>9}", totals.voided);
    println!("games a minute      {:>9}", totals.games.saturating_mul(60_000) / took_ms);
    println!("virtual hours       {:>9}", virtual_ms / 3_600_000);
    println!("journal lines       {:>9}", totals.lines);
    println!("snapshots taken     {:>9}", totals.compactions);
    println!("messages checked    {:>9}", totals.messages);
    println!("moves acknowledged  {:>9}", totals.acks);
    println!("commands refused    {:>9}", totals.refusals);
    println!();
    println!("faults");
    for (fault, times) in &totals.faults {
        println!("  {:<18}{times:>9}", format!("{fault:?}"));
    }
    println!("effects");
    println!("  clients resumed   {:>9}", totals.resumes);
    println!("  moves sent again  {:>9}", totals.sent_again);
    println!("  reaped            {:>9}", totals.reaped);
    println!("  slow watchers   {:>9}", totals.slow_watchers);
    println!("  tables halted     {:>9}", totals.tables_halted);
    println!("  tables released   {:>9}", totals.tables_released);
    println!("  tables voided     {:>9}", totals.tables_voided);
    println!("  tables closed   {:>9}", totals.tables_closed);
    println!("  terms updates     {:>9}", totals.terms_updates);
    println!("  written directly  {:>9}", totals.written_directly);
    println!("  from memory       {:>9}", totals.resumed_from_memory);
    println!("  requests dropped  {:>9}", totals.abandoned);
    std::process::ExitCode::SUCCESS
}
