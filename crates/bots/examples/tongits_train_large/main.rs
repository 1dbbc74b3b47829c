//! Trains the weights of the large networks of Tong-its' `strong` and prints the progress.
//!
//! `cargo run --release -p bahay-bots --example tongits_train_large -- [--seed 1] [--rounds
//! 20,10] [--games 200000] [--trial 30000] [--rate 1500] [--from FILE,…] [--out FILE,…]`. One
//! network is trained for each given number of rounds, independently and with its own seed. The
//! same command line trains the same weights on one machine, on two threads. `--rate` is the
//! learning rate of the first round, in millionths; `--from` continues with trained weights.
//!
//! A round consists of games, an epoch and a trial. In the games (`learner`) a learner plays two
//! opponents: greedy ones, quick ones, one of each, or learners; a twentieth of its actions is
//! random, for exploration. Each position that a learner chose is recorded with the result of the
//! game. In most of its decisions all promising actions are also evaluated by rollouts (`rollout`)
//! from the true state of the game, with the same hidden cards for every action, until the network
//! evaluates the learner's second next turn. Such comparisons need far fewer games, because the
//! hidden cards, which cause most of the variance, are the same.
//!
//! The epoch (`trainer`) fits the network to the examples of the last rounds. The trials are
//! duplicate games against two greedy and against two quick players, always the same deals, without
//! exploration. In the first round of an untrained network, `quick` plays for the learner.
//!
//! Training uses floating-point numbers; the resulting weights are integers, and no coins are
//! involved.
#![expect(clippy::float_arithmetic, reason = "weights are trained; no coins are involved")]

mod learner;
mod players;
mod rollout;
mod trainer;
#[path = "../training/mod.rs"]
mod training;

use std::fs;
use std::thread;
use std::time::Instant;

use bahay_bots::arena::format_hundredths;
use bahay_bots::tongits::LargeNetwork;
use bahay_engine::testing::TestRng;
use clap::Parser;

use crate::learner::{TrainingExample, play_games};
use crate::players::{PlayerKind, run_trial};
use crate::trainer::Trainer;
use crate::training::{keep_round, shuffle};

/// The learning rate of the last round.
const LAST_RATE: f32 = 0.000_03;

const THREADS: usize = 2;

fn main() {
    let options = Options::parse();
    let begun = Instant::now();
    let mut networks = Vec::new();
    for place in 0..options.rounds.len() {
        println!(
            "network {}, round    notes  errors: win, counts, deadwoods, chow     wins, %: greedy  \
             quick  seconds",
            place + 1
        );
        networks.push(train_network(&options, place, begun));
    }
    if networks.len() > 1 {
        println!(
            "all networks: {}  {:>6}",
            measure_wins(&networks, options.trial).1,
            elapsed_seconds(begun)
        );
    }
}

/// Trains one of the networks, writes it to its file after each best round, and returns the best.
fn train_network(options: &Options, place: usize, begun: Instant) -> LargeNetwork {
    let seed = options.seed + place as u64;
    let mut player: Vec<LargeNetwork> =
        options.from.get(place).into_iter().map(read_weights).collect();
    let mut trainer = player.first().map_or_else(|| Trainer::new(seed), Trainer::from_network);
    let mut kept: Vec<Vec<TrainingExample>> = Vec::new();
    let mut dice = TestRng::new(seed);
    let mut best: Option<(i64, LargeNetwork)> = None;
    for round in 0..options.rounds[place] {
        keep_round(&mut kept, play_games(seed, options.games, &player, round));
        let mut examples: Vec<&[TrainingExample]> =
            kept.iter().flat_map(|part| group_by_decision(part)).collect();
        shuffle(&mut examples, &mut dice);
        let rate = options.learning_rate(round, options.rounds[place]);
        let errors = trainer.train_epoch(&examples, rate);
        player = vec![trainer.large()];
        let (sum, shares) = measure_wins(&player, options.trial);
        let errors = errors.map(|error| format!("{error:.4}")).join(" ");
        println!(
            "{round:>5} {:>8}  {errors}  {shares}  {:>6}",
            examples.len(),
            elapsed_seconds(begun)
        );
        if best.as_ref().is_none_or(|(most, _)| sum > *most) {
            if let Some(path) = options.out.get(place) {
                fs::write(path, player[0].to_text()).expect("the weights can be written");
            }
            best = Some((sum, player[0].clone()));
        }
    }
    best.expect("there is a round").1
}

/// Returns the shares of wins against two greedy and against two quick players: their sum, and as
/// text.
fn measure_wins(networks: &[LargeNetwork], games: usize) -> (i64, String) {
    let trials =
        [PlayerKind::Greedy, PlayerKind::Quick].map(|other| run_trial(networks, other, games));
    let shares = trials.map(|share| {
        let [mean, half_width] = [share.mean, share.half_width].map(format_hundredths);
        format!("{mean} ± {half_width}")
    });
    (trials.iter().map(|share| share.mean).sum(), shares.join("  "))
}

fn elapsed_seconds(begun: Instant) -> u64 {
    begun.elapsed().as_secs()
}

fn read_weights(path: &String) -> LargeNetwork {
    LargeNetwork::parse(&fs::read(path).expect("the weights can be read"))
}

/// Groups the examples by decision.
fn group_by_decision(examples: &[TrainingExample]) -> impl Iterator<Item = &[TrainingExample]> {
    examples.chunk_by(|_, next| !next.is_first)
}

#[derive(Parser)]
struct Options {
    /// The seed of the first network; each further one has the next seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// By network.
    #[arg(long, value_delimiter = ',', default_value = "20,10")]
    rounds: Vec<u32>,
    #[arg(long, default_value_t = 200_000)]
    games: usize,
    /// The number of games per trial.
    #[arg(long, default_value_t = 30_000)]
    trial: usize,
    /// The learning rate of the first round, in millionths.
    #[arg(long, default_value_t = 1_500)]
    rate: u16,
    /// By network.
    #[arg(long, value_delimiter = ',')]
    from: Vec<String>,
    #[arg(long, value_delimiter = ',')]
    out: Vec<String>,
}

impl Options {
    /// Returns the learning rate of a round, which decays exponentially from the first rate to the
    /// last.
    fn learning_rate(&self, round: u32, rounds: u32) -> f32 {
        let small = |number: u32| f32::from(u16::try_from(number).expect("few rounds"));
        let part = small(round) / small(rounds.max(2) - 1);
        let first_rate = f32::from(self.rate) / 1e6;
        first_rate * (LAST_RATE / first_rate).powf(part)
    }
}

/// Runs `part` on equal ranges of the numbers below `count`, one per thread, and returns the
/// results in order.
fn run_on_threads<T: Send>(
    count: usize,
    part: impl Fn(core::ops::Range<usize>) -> T + Sync,
) -> Vec<T> {
    let part = &part;
    thread::scope(|scope| {
        let spawn = |place: usize| {
            let from = count * place / THREADS;
            scope.spawn(move || part(from..count * (place + 1) / THREADS))
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}
