//! Learns the weights of the large networks of Tong-its' `strong` and prints how it gets on.
//!
//! `cargo run --release -p bahay-engine --example tongits_train_large -- [--seed 1] [--rounds 20,10]
//! [--games 200000] [--trial 30000] [--rate 1500] [--from FILE,…] [--out FILE,…]`. As many networks
//! are learned, one after another, as numbers of rounds are given, each by itself from a seed of its
//! own. The same line learns the same weights on one machine, on two threads. `--rate` is how fast is
//! learned in the first round, in millionths; `--from` goes on with weights that were learned before.
//!
//! A round is games, a lesson and a trial. In the games (`learner`) a learner plays two others:
//! greedy ones, quick ones, one of each, or learners; a twentieth of what it does is chosen at
//! random, so that everything is tried. Each place that a learner chose is noted with what came of the
//! game. In most of its decisions all that is worth trying is also played on (`ahead`) from the game
//! as it truly stands, with the same hidden cards for every action, until the network judges the
//! learner's next turn but one: what one action is worth beside another is told by far fewer games
//! so, because the hidden cards, which make most of the difference between games, are the same.
//!
//! The lesson (`lesson`) fits the network to the notes of the last rounds. The trials are duplicate
//! games against two greedy and against two quick players, always the same deals, without chance in
//! what is chosen. In the first round of a network that knows nothing `quick` plays for the learner.
//!
//! Learning is with floating-point numbers; what is learned is integers, and no coin is anywhere.
#![expect(clippy::float_arithmetic, reason = "weights are learned, and no coins")]

mod rollout;
mod learner;
mod trainer;
mod players;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::thread;
use std::time::Instant;

use bahay_engine::games::tongits::LargeNetwork;
use bahay_engine::testing::TestRng;

use crate::learner::{TrainingExample, play_games};
use crate::trainer::Trainer;
use crate::players::{PlayerKind, run_trial};

/// Rounds whose notes are learned from.
const ROUNDS_KEPT: usize = 3;

/// How fast is learned in the last round.
const LAST_RATE: f32 = 0.000_03;

const THREADS: usize = 2;

fn main() {
    let options = Options::read();
    let begun = Instant::now();
    let mut networks = Vec::new();
    for place in 0..options.rounds.len() {
        println!(
            "network {}, round    notes  errors: win, counts, deadwoods, chow     wins, %: greedy  \
             quick  seconds",
            place + 1
        );
        networks.push(learn(&options, place, begun));
    }
    if networks.len() > 1 {
        println!("all networks: {}  {:>6}", wins(&networks, options.trial).1, seconds(begun));
    }
}

/// Learns one of the networks, which is written as it is after its best round, and gives that.
fn learn(options: &Options, place: usize, begun: Instant) -> LargeNetwork {
    let seed = options.seed + place as u64;
    let mut player: Vec<LargeNetwork> = options.from.get(place).into_iter().map(read).collect();
    let mut learned = player.first().map_or_else(|| Trainer::new(seed), Trainer::from_network);
    let mut kept: Vec<Vec<TrainingExample>> = Vec::new();
    let mut dice = TestRng::new(seed);
    let mut best: Option<(i64, LargeNetwork)> = None;
    for round in 0..options.rounds[place] {
        kept.push(play_games(seed, options.games, &player, round));
        if kept.len() > ROUNDS_KEPT {
            kept.remove(0);
        }
        let mut notes: Vec<&[TrainingExample]> = kept.iter().flat_map(|part| groups(part)).collect();
        for last in (1..notes.len()).rev() {
            let other = dice.below(u32::try_from(last + 1).expect("few notes"));
            notes.swap(last, other as usize);
        }
        let errors = learned.train_epoch(&notes, options.rate(round, options.rounds[place]));
        player = vec![learned.large()];
        let (sum, shares) = wins(&player, options.trial);
        let errors = errors.map(|error| format!("{error:.4}")).join(" ");
        println!("{round:>5} {:>8}  {errors}  {shares}  {:>6}", notes.len(), seconds(begun));
        if best.as_ref().is_none_or(|(most, _)| sum > *most) {
            if let Some(path) = options.out.get(place) {
                fs::write(path, player[0].to_text()).expect("the weights can be written");
            }
            best = Some((sum, player[0].clone()));
        }
    }
    best.expect("there is a round").1
}

/// The shares of wins against two greedy and against two quick players, by their sum and written.
fn wins(networks: &[LargeNetwork], games: usize) -> (i64, String) {
    let trials = [PlayerKind::Greedy, PlayerKind::Quick].map(|other| run_trial(networks, other, games));
    let shares = trials.map(|share| {
        let [mean, half_width] = [share.mean, share.half_width]
            .map(|number| format!("{}.{:02}", number / 100, number % 100));
        format!("{mean} ± {half_width}")
    });
    (trials.iter().map(|share| share.mean).sum(), shares.join("  "))
}

fn seconds(begun: Instant) -> u64 {
    begun.elapsed().as_secs()
}

fn read(path: &String) -> LargeNetwork {
    LargeNetwork::parse(&fs::read(path).expect("the weights can be read"))
}

/// Notes that belong together.
fn groups(notes: &[TrainingExample]) -> impl Iterator<Item = &[TrainingExample]> {
    notes.chunk_by(|_, next| !next.is_first)
}

struct Options {
    /// Of the first network; each other has one more than the one before.
    seed: u64,
    /// Of each network.
    rounds: Vec<u32>,
    games: usize,
    /// Games of a trial.
    trial: usize,
    /// How fast is learned in the first round.
    first_rate: f32,
    /// By network.
    from: Vec<String>,
    out: Vec<String>,
}

impl Options {
    fn read() -> Self {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let (pairs, []) = arguments.as_chunks::<2>() else { panic!("each option has a value") };
        let given: BTreeMap<&str, &str> =
            pairs.iter().map(|[name, value]| (name.as_str(), value.as_str())).collect();
        let known = ["--seed", "--rounds", "--games", "--trial", "--rate", "--from", "--out"];
        assert!(given.keys().all(|name| known.contains(name)), "the options are {known:?}");
        let number = |name: &str, otherwise: usize| {
            given.get(name).map_or(otherwise, |text| text.parse().expect("a number"))
        };
        let list = |name: &str| -> Vec<String> {
            given
                .get(name)
                .map_or_else(Vec::new, |text| text.split(',').map(str::to_owned).collect())
        };
        let rounds = given.get("--rounds").unwrap_or(&"20,10").split(',');
        let rate = u16::try_from(number("--rate", 1_500)).expect("a small rate");
        Self {
            seed: number("--seed", 1) as u64,
            rounds: rounds.map(|text| text.parse().expect("a number of rounds")).collect(),
            games: number("--games", 200_000),
            trial: number("--trial", 30_000),
            first_rate: f32::from(rate) / 1e6,
            from: list("--from"),
            out: list("--out"),
        }
    }

    /// From the first rate to the last one by the same factor each round.
    fn rate(&self, round: u32, rounds: u32) -> f32 {
        let small = |number: u32| f32::from(u16::try_from(number).expect("few rounds"));
        let part = small(round) / small(rounds.max(2) - 1);
        self.first_rate * (LAST_RATE / self.first_rate).powf(part)
    }
}

/// Does the same for a part of these numbers on each thread, and gives what came of it in order.
fn on_threads<T: Send>(count: usize, part: impl Fn(core::ops::Range<usize>) -> T + Sync) -> Vec<T> {
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
