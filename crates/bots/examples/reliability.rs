//! Prints the split-half correlation of ranks of a duplicate and of an arena tournament of the same
//! length, among the same bots of known strength, and the ratio of their means:
//!
//! `cargo run --release -p bahay-bots --example reliability -- --errors 60 --seeds 100`

use bahay_bots::arena::{Reliability, SplitHalf};
use bahay_engine::catalog::AnyRules;
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value = "tongits")]
    game: String,
    #[arg(long, default_value = "kingdom")]
    rules: String,
    #[arg(long, default_value_t = 3)]
    seats: u8,
    #[arg(long, default_value_t = 300)]
    players: u32,
    #[arg(long, default_value_t = 30)]
    rounds: u32,
    /// The percentage of random moves of the weakest bot.
    #[arg(long, default_value_t = 60)]
    errors: u32,
    #[arg(long, default_value_t = 10)]
    seeds: u32,
}

fn main() {
    let arguments = Arguments::parse();
    let set = AnyRules::find_rule_set(&arguments.game, &arguments.rules);
    let rules = set.expect("the catalogue has the rule set").rules;
    let study = |seed: u32| SplitHalf {
        rules: rules.clone(),
        seats: arguments.seats,
        players: arguments.players,
        rounds: arguments.rounds,
        errors_percent: arguments.errors,
        seed: seed.into(),
    };
    println!("{:<8}{:>22}{:>22}", "seed", "duplicate", "arena");
    println!("{:<8}{:>11}{:>11}{:>11}{:>11}", "", "halves", "strength", "halves", "strength");
    let mut sums = [0; 4];
    for seed in 1..=arguments.seeds {
        let duplicate = study(seed).measure_duplicate();
        let arena = study(seed).measure_arena();
        let row = [duplicate, arena];
        let row: Vec<i64> =
            row.iter().flat_map(|one: &Reliability| [one.split_half, one.with_strength]).collect();
        print_row(&seed.to_string(), &row);
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let count = i64::from(arguments.seeds.max(1));
    print_row("mean", &sums.map(|sum| sum / count));
    let [duplicate, _, arena, _] = sums;
    let ratio = (100 * duplicate).checked_div(arena).unwrap_or(0);
    println!("ratio of the halves: {}.{:02}", ratio / 100, ratio.abs() % 100);
}

fn print_row(name: &str, values: &[i64]) {
    print!("{name:<8}");
    for value in values {
        let sign = if *value < 0 { "-" } else { "" };
        print!("{:>11}", format!("{sign}{}.{:03}", value.abs() / 1_000, value.abs() % 1_000));
    }
    println!();
}
