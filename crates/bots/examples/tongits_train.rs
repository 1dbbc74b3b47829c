//! Trains the weights of Tong-its' `quick` and prints the progress.
//!
//! `cargo run --release -p bahay-bots --example tongits_train -- [--seed 1] [--rounds 9,2]
//! [--games 40000,60000] [--wins 3,8] [--from greedy|FILE] [--against mixed|self|greedy|FILE]
//! [--trial 6000] [--out FILE]`. The same command line trains the same weights on one machine.
//!
//! Training has as many parts as numbers of rounds are given. Each part begins with the best
//! networks of the previous one and with the next seed; if fewer games or wins are given, the last
//! ones apply to the remaining parts.
//!
//! A round consists of games, an epoch and a trial. In the games, learners play each other and the
//! chosen opponents; a tenth of their actions is random, for exploration. Each position that a
//! learner chose is recorded with the result of the game: the counts won or lost, plus `--wins` for
//! a win, which accounts for the POT. The epoch fits the networks to the examples of the last
//! rounds (Adam, mean squared error). The trial plays duplicate games against two opponents, always
//! the same deals, without exploration.
//!
//! Training uses floating-point numbers; the resulting weights are integers, and no coins are
//! involved.
#![expect(clippy::float_arithmetic, reason = "weights are trained; no coins are involved")]

#[path = "training/mod.rs"]
mod training;

use std::cell::RefCell;
use std::fs;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bahay_bots::Ai;
use bahay_bots::arena::{Estimate, Sample, format_hundredths, play_game};
use bahay_bots::search::{Bot, BotPrompt};
use bahay_bots::tongits::{
    DecisionKind, DumpLimit, HIDDEN, INPUTS, Inputs, Judge as _, Networks, ONE, WEIGHT_ONE, WEIGHTS,
};
use bahay_engine::chance;
use bahay_engine::game::Outcome;
use bahay_engine::games::tongits::{Action, Rules, SEATS, Tongits};
use bahay_engine::seat::Seat;
use bahay_engine::testing::TestRng;
use clap::Parser;

use crate::training::{
    Adam, COUNTS_PER_ONE, draw_weight, ends_turn, keep_round, key, net_counts, shuffle,
};

/// The percentage of random actions in training games.
const AT_RANDOM: u32 = 10;

/// The number of examples per optimizer step.
const BATCH: usize = 128;

fn main() {
    let options = Options::parse();
    let mut networks = (options.from != "greedy")
        .then(|| read_weights(&options.from).expect("the weights can be read"));
    for part in 0..options.rounds.len() {
        networks = Some(train_part(&options, part, networks));
    }
}

/// Trains one part, from the given networks or from the greedy player, and returns the best
/// networks.
fn train_part(options: &Options, part: usize, from: Option<Arc<Networks>>) -> Arc<Networks> {
    let rules = Rules::kingdom();
    let mut dice = TestRng::new(options.seed(part));
    let mut trainer = Trainer::new(&mut dice);
    if let Some(networks) = &from {
        trainer = Trainer::from_networks(networks);
    }
    let mut player = from;
    let mut kept: Vec<Vec<TrainingExample>> = Vec::new();
    let mut best: Option<(i64, Arc<Networks>)> = None;
    println!("round    notes  error   share of wins, %       counts a game  seconds");
    for round in 0..options.rounds[part] {
        let begun = Instant::now();
        let examples = play_games(&rules, options, part, player.as_ref(), round, &mut dice);
        let count = examples.len();
        keep_round(&mut kept, examples);
        let error = trainer.train_epoch(&kept, round, &mut dice);
        let networks = Arc::new(trainer.networks());
        let Trial { share, counts, worth } = run_trial(&rules, options, &networks);
        println!(
            "{round:>5} {count:>8}  {error:.4}  {:>6} ± {:<6}  {:>8} ± {:<7}  {:>6}",
            format_hundredths(share.mean),
            format_hundredths(share.half_width),
            format_hundredths(counts.mean),
            format_hundredths(counts.half_width),
            begun.elapsed().as_secs()
        );
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, Arc::clone(&networks)));
            if let Some(path) = &options.out {
                fs::write(path, networks.to_text()).expect("the weights can be written");
            }
        }
        player = Some(networks);
    }
    best.expect("there is a round").1
}

/// The opponents in training games and trials.
#[derive(Clone)]
enum Opponents {
    /// Two greedy players, one, or none, in turns.
    Mixed,
    Itself,
    Greedy,
    Weights(Arc<Networks>),
}

impl Opponents {
    /// Returns a player that opposes the learners.
    fn player(&self) -> Player {
        match self {
            Self::Weights(networks) => Player::Networks(Arc::clone(networks)),
            Self::Mixed | Self::Greedy | Self::Itself => Player::Greedy,
        }
    }
}

#[derive(Parser)]
struct Options {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_delimiter = ',', default_value = "9,2")]
    rounds: Vec<u32>,
    #[arg(long, value_delimiter = ',', default_value = "40000,60000")]
    games: Vec<u64>,
    /// The value of a win beyond its counts.
    #[arg(long, value_delimiter = ',', default_value = "3,8")]
    wins: Vec<f32>,
    #[arg(long, default_value = "greedy")]
    from: String,
    #[arg(long, default_value = "mixed", value_parser = parse_opponents)]
    against: Opponents,
    /// The number of games per trial.
    #[arg(long, default_value_t = 6_000)]
    trial: u64,
    #[arg(long)]
    out: Option<String>,
}

impl Options {
    fn seed(&self, part: usize) -> u64 {
        self.seed + part as u64
    }
}

/// Returns the value of a part: the last value if there are fewer values than parts.
fn value_of_part<T: Copy>(values: &[T], part: usize) -> T {
    values[part.min(values.len() - 1)]
}

fn parse_opponents(text: &str) -> io::Result<Opponents> {
    Ok(match text {
        "mixed" => Opponents::Mixed,
        "self" => Opponents::Itself,
        "greedy" => Opponents::Greedy,
        path => Opponents::Weights(read_weights(path)?),
    })
}

fn read_weights(path: &str) -> io::Result<Arc<Networks>> {
    Ok(Arc::new(Networks::parse(&fs::read(path)?)))
}

/// A chosen position, and the result of the game.
struct TrainingExample {
    kind: DecisionKind,
    inputs: Inputs,
    worth: f32,
}

/// The player of a seat.
enum Player {
    /// The greedy player.
    Greedy,
    /// These networks, without exploration.
    Networks(Arc<Networks>),
    /// These networks, or the greedy player, with random actions; records the chosen positions.
    Learner { networks: Option<Arc<Networks>>, dice: TestRng, chosen: Chosen },
}

type Chosen = Rc<RefCell<Vec<(DecisionKind, Inputs)>>>;

impl Bot<Tongits> for Player {
    fn choose_action(&mut self, prompt: &BotPrompt<'_, Tongits>) -> Action {
        let greedy = || Tongits::choose_action(prompt.view).expect("the seat is to act");
        match self {
            Self::Greedy => greedy(),
            Self::Networks(networks) => networks
                .choose_action(prompt.view, DumpLimit::All, &mut ())
                .expect("the seat is to act"),
            Self::Learner { networks, dice, chosen } => {
                let judge = networks.as_deref().unwrap_or(&ZERO);
                let considered = judge
                    .consider_actions(prompt.view, DumpLimit::All, &mut ())
                    .expect("the seat is to act");
                let candidate = if dice.below(100) < AT_RANDOM {
                    dice.choose(&considered)
                } else if networks.is_some() {
                    considered.iter().max_by_key(|one| one.worth)
                } else {
                    let greedy = greedy();
                    considered.iter().find(|one| one.action == greedy)
                };
                let Some(candidate) = candidate else { return greedy() };
                let is_ended = ends_turn(&candidate.action);
                if let Some(noted) = candidate.position.filter(|_| is_ended) {
                    chosen.borrow_mut().push(noted);
                }
                candidate.action
            }
        }
    }
}

/// Networks whose outputs are zero.
static ZERO: Networks = Networks::parse(&[b'0'; 4 * WEIGHTS * DecisionKind::ALL.len()]);

/// Plays the games of a round and returns the recorded examples.
fn play_games(
    rules: &Rules,
    options: &Options,
    part: usize,
    networks: Option<&Arc<Networks>>,
    round: u32,
    dice: &mut TestRng,
) -> Vec<TrainingExample> {
    let mut examples = Vec::new();
    let wins = value_of_part(&options.wins, part);
    for number in 0..value_of_part(&options.games, part) {
        let learners = match options.against {
            Opponents::Mixed => 1 + number / 3 % 3,
            Opponents::Itself => 3,
            Opponents::Greedy | Opponents::Weights(_) => 1,
        };
        let mut bots: Vec<Box<dyn Bot<Tongits>>> = Vec::new();
        let mut learned: Vec<(Seat, Chosen)> = Vec::new();
        for seat in Seat::all(SEATS) {
            let is_learner = (u64::from(seat.number()) + number) % u64::from(SEATS) < learners;
            bots.push(Box::new(if is_learner {
                let chosen = Chosen::default();
                learned.push((seat, Rc::clone(&chosen)));
                let networks = networks.cloned();
                // Each learner of a game has its own random stream.
                Player::Learner { networks, dice: TestRng::new(dice.word()), chosen }
            } else {
                options.against.player()
            }));
        }
        let deal = key(options.seed(part), u64::from(round) << 32 | number);
        let outcome = play_game(rules, &mut bots, &mut chance::ChanceRng::new(deal)).outcome;
        for (seat, chosen) in learned {
            let worth = outcome_value(&outcome, seat, wins);
            let noted = chosen.take().into_iter();
            examples.extend(noted.map(|(kind, inputs)| TrainingExample { kind, inputs, worth }));
        }
    }
    examples
}

/// Returns the value of an outcome for a seat.
fn outcome_value(outcome: &Outcome, seat: Seat, wins: f32) -> f32 {
    let won = if outcome.winner == Some(seat) { wins } else { 0.0 };
    (f32::from(net_counts(outcome, seat)) + won) / COUNTS_PER_ONE
}

struct Trial {
    share: Estimate,
    counts: Estimate,
    /// Counts and wins combined.
    worth: i64,
}

/// Plays duplicate games with the same deals each time.
fn run_trial(rules: &Rules, options: &Options, networks: &Arc<Networks>) -> Trial {
    let mut wins = Sample::default();
    let mut counts = Sample::default();
    for deal in 0..options.trial / u64::from(SEATS) {
        let mut won = 0;
        let mut gained = 0;
        for own in Seat::all(SEATS) {
            let mut bots: Vec<Box<dyn Bot<Tongits>>> = Vec::new();
            for seat in Seat::all(SEATS) {
                bots.push(Box::new(if seat == own {
                    Player::Networks(Arc::clone(networks))
                } else {
                    options.against.player()
                }));
            }
            let mut chance = chance::ChanceRng::new(key(!0, deal));
            let outcome = play_game(rules, &mut bots, &mut chance).outcome;
            won += i64::from(outcome.winner == Some(own));
            gained += i64::from(net_counts(&outcome, own));
        }
        wins.record(won);
        counts.record(gained);
    }
    let seats = u32::from(SEATS);
    let share = wins.estimate(10_000, seats).expect("a trial has games");
    let counts = counts.estimate(100, seats).expect("a trial has games");
    Trial { share, counts, worth: 3 * share.mean + 100 * counts.mean }
}

/// Networks in training.
struct Trainer(Adam);

/// The end of a network's hidden rows.
const ROWS: usize = HIDDEN * (INPUTS + 1);

impl Trainer {
    fn new(dice: &mut TestRng) -> Self {
        let mut weights = vec![0.0; WEIGHTS * DecisionKind::ALL.len()];
        for network in weights.as_chunks_mut::<WEIGHTS>().0 {
            for (place, weight) in network.iter_mut().enumerate() {
                let is_added = place < ROWS && place % (INPUTS + 1) == INPUTS;
                let wide = if place < ROWS { 0.2 } else { 0.3 };
                let drawn = draw_weight(dice);
                if !is_added && place + 1 < WEIGHTS {
                    *weight = drawn * wide;
                }
            }
        }
        Self(Adam::new(weights))
    }

    fn from_networks(networks: &Networks) -> Self {
        let one = f32::from(WEIGHT_ONE);
        Self(Adam::new(networks.weights().iter().map(|weight| f32::from(*weight) / one).collect()))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the numbers are clamped")]
    fn networks(&self) -> Networks {
        let one = f32::from(WEIGHT_ONE);
        let integer = |weight: &f32| (weight * one).round().clamp(-32_767.0, 32_767.0) as i16;
        let weights: Vec<i16> = self.0.weights.iter().map(integer).collect();
        Networks::from_weights(&weights).expect("the number of weights matches the networks")
    }

    /// Fits the weights to the examples in one pass in random order, and returns the mean error.
    fn train_epoch(
        &mut self,
        kept: &[Vec<TrainingExample>],
        round: u32,
        dice: &mut TestRng,
    ) -> f32 {
        let mut examples: Vec<&TrainingExample> = kept.iter().flatten().collect();
        shuffle(&mut examples, dice);
        let rate = 0.001 / (1.0 + 0.25 * f32::from(u16::try_from(round).expect("few rounds")));
        let mut gradient = vec![0.0; self.0.weights.len()];
        let mut errors = 0.0;
        let mut batches = 0.0;
        for batch in examples.chunks(BATCH) {
            gradient.fill(0.0);
            let mut error = 0.0;
            for example in batch {
                error += self.add_gradient(example, &mut gradient);
            }
            let size = f32::from(u16::try_from(batch.len()).expect("a batch is small"));
            errors += error / size;
            batches += 1.0;
            self.0.step(&gradient, rate, size);
        }
        errors / batches
    }

    /// Adds the gradient of one example, and returns its squared error.
    fn add_gradient(&self, example: &TrainingExample, gradient: &mut [f32]) -> f32 {
        let from = example.kind.index() * WEIGHTS;
        let weights = &self.0.weights[from..from + WEIGHTS];
        let gradient = &mut gradient[from..from + WEIGHTS];
        let inputs = example.inputs.map(|input| f32::from(input) / f32::from(ONE));
        let mut hidden = [0.0; HIDDEN];
        let mut output = weights[WEIGHTS - 1];
        for (place, value) in hidden.iter_mut().enumerate() {
            let row = &weights[place * (INPUTS + 1)..][..INPUTS + 1];
            let mut sums = [0.0; 8];
            for (weights, inputs) in row.as_chunks::<8>().0.iter().zip(inputs.as_chunks::<8>().0) {
                for ((sum, weight), input) in sums.iter_mut().zip(weights).zip(inputs) {
                    *sum += weight * input;
                }
            }
            *value = (sums.iter().sum::<f32>() + row[INPUTS]).max(0.0);
            output += *value * weights[ROWS + place];
        }
        let error = output - example.worth;
        gradient[WEIGHTS - 1] += error;
        for (place, value) in hidden.iter().enumerate() {
            gradient[ROWS + place] += error * value;
            if *value > 0.0 {
                let back = error * weights[ROWS + place];
                let row = &mut gradient[place * (INPUTS + 1)..][..INPUTS + 1];
                for (sum, input) in row.iter_mut().zip(&inputs) {
                    *sum += back * input;
                }
                row[INPUTS] += back;
            }
        }
        error * error
    }
}
