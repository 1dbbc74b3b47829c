//! Runs the house in virtual time for as many games as asked, seed after seed, and prints what
//! went wrong in it and what came of that. `./dev simulate-house` is this.

use std::time::Instant;

use bahay_shell::simulation::{Options, Tally, simulate};

struct Arguments {
    seed: u64,
    games: u64,
    runs: u64,
    tells: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments { seed: 1, games: 1_000, runs: u64::MAX, tells: false };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut number = || {
            let value = given.next().and_then(|value| value.parse().ok());
            value.ok_or_else(|| format!("{name} takes a whole number"))
        };
        match name.as_str() {
            "--seed" => arguments.seed = number()?,
            "--games" => arguments.games = number()?,
            "--runs" => arguments.runs = number()?,
            "--tell" => arguments.tells = true,
            _ => {
                return Err(format!(
                    "unknown argument {name}: --seed S, --games N, --runs N, --tell"
                ));
            }
        }
    }
    Ok(arguments)
}

fn main() -> std::process::ExitCode {
    let Arguments { seed, games, runs, tells } = match arguments() {
        Ok(arguments) => arguments,
        Err(what) => {
            eprintln!("{what}");
            return std::process::ExitCode::FAILURE;
        }
    };
    let begun = Instant::now();
    let (mut tally, mut virtual_ms, mut next) = (Tally::default(), 0, seed);
    while tally.games < games && next.wrapping_sub(seed) < runs {
        match simulate(Options { tells, ..Options::of(next) }) {
            Ok(report) => {
                tally.add(&report.tally);
                virtual_ms += report.virtual_ms;
            }
            Err(failure) => {
                println!("{failure}");
                return std::process::ExitCode::FAILURE;
            }
        }
        next = next.wrapping_add(1);
    }
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    println!("seeds {seed} to {}: everything held", next.wrapping_sub(1));
    println!("games settled       {:>9}", tally.games);
    println!("games voided        {:>9}", tally.voided);
    println!("games a minute      {:>9}", tally.games.saturating_mul(60_000) / took_ms);
    println!("virtual hours       {:>9}", virtual_ms / 3_600_000);
    println!("journal lines       {:>9}", tally.lines);
    println!("snapshots taken     {:>9}", tally.compactions);
    println!("messages checked    {:>9}", tally.messages);
    println!("moves acknowledged  {:>9}", tally.acks);
    println!("commands refused    {:>9}", tally.refusals);
    println!();
    println!("what went wrong");
    for (fault, times) in &tally.faults {
        println!("  {:<18}{times:>9}", format!("{fault:?}"));
    }
    println!("what came of it");
    println!("  clients resumed   {:>9}", tally.resumes);
    println!("  moves sent again  {:>9}", tally.sent_again);
    println!("  told for the dead {:>9}", tally.buried);
    println!("  dropped as slow   {:>9}", tally.slow_watchers);
    println!("  tables halted     {:>9}", tally.halted);
    println!("  tables released   {:>9}", tally.released);
    println!("  tables voided     {:>9}", tally.ended);
    println!("  told of the end   {:>9}", tally.closed);
    println!("  terms updates     {:>9}", tally.terms_updates);
    println!("  written directly  {:>9}", tally.written_directly);
    println!("  from memory       {:>9}", tally.resumed_from_memory);
    println!("  requests dropped  {:>9}", tally.abandoned);
    std::process::ExitCode::SUCCESS
}
