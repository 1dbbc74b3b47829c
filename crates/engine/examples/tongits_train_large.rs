//! Learns the weights of the large network of Tong-its' `strong` and prints how it gets on.
//!
//! `cargo run --release -p bahay-engine --example tongits_train_large -- [--seed 1] [--rounds 16]
//! [--games 250000] [--trial 6000] [--out FILE]`. The same line learns the same weights on one
//! machine, on two threads.
//!
//! A round is games, a lesson and a trial. In the games a learner plays two others: greedy ones, quick
//! ones, one of each, or learners; a twentieth of what it does is chosen at random, so that everything
//! is tried. Each place that a learner chose is noted with what came of the game and with what the
//! network cannot see: the deadwood of the others, and whether the next seat chowed what was dumped. To
//! foretell these too teaches the hidden layers what matters; they are no part of the weights that are
//! written. The lesson fits the network to the notes of the last rounds (Adam, mean squares). The
//! trials are duplicate games against two greedy and against two quick players, always the same
//! deals, without chance in what is chosen. In the first round `quick` plays for the learner.
//!
//! Learning is with floating-point numbers; what is learned is integers, and no coin is anywhere.
#![expect(clippy::float_arithmetic, reason = "weights are learned, and no coins")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::thread;
use std::time::Instant;

use bahay_engine::arena::{Estimate, Players, Sample, walk};
use bahay_engine::chance::{self, Key};
use bahay_engine::game::{Game, Outcome, Skill, Viewer};
use bahay_engine::games::tongits::{
    self, Action, Dumps, Event, FEW_FROM, HIDDEN_1, HIDDEN_2, INPUTS, Judge, LARGE_WEIGHTS, Large,
    ONE, OUTPUTS, Place, Rules, SEATS, Tongits, View, WEIGHT_ONE,
};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::Dice;

/// Of a thousand choices so many are made at random in games that are learned from.
const AT_RANDOM: u32 = 50;

/// Rounds whose notes are learned from.
const ROUNDS_KEPT: usize = 3;

/// Notes of one step of a lesson.
const BATCH: usize = 512;

/// How fast is learned in the first round and in the last one.
const RATES: [f32; 2] = [0.0015, 0.000_04];

const THREADS: usize = 2;

/// What is learned: a win, the counts, the deadwood of the next and of the previous seat, and
/// whether the next seat chows.
const LEARNED: usize = 5;

/// What an output of one stands for.
const COUNTS_PER_ONE: f32 = 4.0;
const DEADWOOD_PER_ONE: f32 = 30.0;

/// How much an error of each weighs.
const ERROR_WEIGHTS: [f32; LEARNED] = [8.0, 1.0, 0.5, 0.5, 1.0];

/// Values of a hidden place end here, as in the integers.
const HIDDEN_MAX: f32 = 15.0;

/// Inputs of the first layer: the values of which one is there, then the others.
const FEW_VALUES: usize = FEW_FROM[FEW_FROM.len() - 1];
const FEATURES: usize = FEW_VALUES + INPUTS;

/// Where each part of the learned weights begins.
const ADDED_1: usize = FEATURES * HIDDEN_1;
const SECOND: usize = ADDED_1 + HIDDEN_1;
const ADDED_2: usize = SECOND + HIDDEN_2 * HIDDEN_1;
const LAST: usize = ADDED_2 + HIDDEN_2;
const ADDED_3: usize = LAST + LEARNED * HIDDEN_2;
const WEIGHTS: usize = ADDED_3 + LEARNED;

fn main() {
    let options = Options::read();
    let mut learned = Learned::new(options.seed);
    let mut player: Option<Large> = None;
    let mut kept: Vec<Vec<Note>> = Vec::new();
    let mut dice = Dice::new(options.seed);
    let mut best = 0;
    let begun = Instant::now();
    println!(
        "round    notes  errors: win, counts, deadwoods, chow     wins, %: greedy  quick  seconds"
    );
    for round in 0..options.rounds {
        kept.push(games(&options, player.as_ref(), round));
        if kept.len() > ROUNDS_KEPT {
            kept.remove(0);
        }
        let mut notes: Vec<&Note> = kept.iter().flatten().collect();
        for last in (1..notes.len()).rev() {
            let other = dice.below(u32::try_from(last + 1).expect("few notes"));
            notes.swap(last, other as usize);
        }
        let errors = learned.lesson(&notes, options.rate(round));
        let large = learned.large();
        let trials = [Who::Greedy, Who::Quick].map(|other| trial(&large, other, options.trial));
        let errors = errors.map(|error| format!("{error:.4}")).join(" ");
        let shares = trials.map(|share| {
            let [mean, around] = [share.mean, share.around]
                .map(|number| format!("{}.{:02}", number / 100, number % 100));
            format!("{mean} ± {around}")
        });
        let seconds = begun.elapsed().as_secs();
        println!("{round:>5} {:>8}  {errors}  {}  {seconds:>6}", notes.len(), shares.join("  "));
        let sum = trials[0].mean + trials[1].mean;
        if sum > best {
            best = sum;
            if let Some(path) = &options.out {
                fs::write(path, large.text()).expect("the weights can be written");
            }
        }
        player = Some(large);
    }
}

struct Options {
    seed: u64,
    rounds: u32,
    games: usize,
    /// Games of a trial.
    trial: usize,
    out: Option<String>,
}

impl Options {
    fn read() -> Self {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let (pairs, []) = arguments.as_chunks::<2>() else { panic!("each option has a value") };
        let given: BTreeMap<&str, &str> =
            pairs.iter().map(|[name, value]| (name.as_str(), value.as_str())).collect();
        let known = ["--seed", "--rounds", "--games", "--trial", "--out"];
        assert!(given.keys().all(|name| known.contains(name)), "the options are {known:?}");
        let number = |name: &str, otherwise: usize| {
            given.get(name).map_or(otherwise, |text| text.parse().expect("a number"))
        };
        Self {
            seed: number("--seed", 1) as u64,
            rounds: u32::try_from(number("--rounds", 16)).expect("few rounds"),
            games: number("--games", 250_000),
            trial: number("--trial", 6_000),
            out: given.get("--out").map(|path| (*path).to_owned()),
        }
    }

    /// From the first rate to the last one by the same factor each round.
    fn rate(&self, round: u32) -> f32 {
        let [first, last] = RATES;
        let small = |number: u32| f32::from(u16::try_from(number).expect("few rounds"));
        let part = small(round) / small(self.rounds.max(2) - 1);
        first * (last / first).powf(part)
    }
}

/// A place that was chosen, and what came of it.
struct Note {
    place: Place,
    targets: [f32; LEARNED],
}

/// Who plays a seat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Greedy,
    Quick,
    Own,
}

/// The learner's seat in turns, and whom it plays against.
fn seated(number: usize) -> [Who; SEATS as usize] {
    use Who::{Greedy, Own, Quick};
    let others = [
        [Greedy, Greedy],
        [Quick, Quick],
        [Greedy, Quick],
        [Quick, Greedy],
        [Greedy, Greedy],
        [Quick, Quick],
        [Own, Own],
        [Quick, Own],
    ];
    let [next, previous] = others[number / 3 % others.len()];
    let mut players = [Own, next, previous];
    players.rotate_right(number % 3);
    players
}

/// Some whose own choices are noted and sometimes random.
struct Learner {
    dice: Dice,
    notes: Vec<Note>,
    /// Whose notes those of this game are, from which one on.
    seats: Vec<Seat>,
    from: usize,
}

impl Learner {
    /// What is played, chosen by the network, or by `quick` where there is none yet.
    fn choose(&mut self, game: &Tongits, view: &View, seat: Seat, large: Option<&Large>) -> Action {
        let quick = || Tongits::advise_by(Skill::Quick, view).expect("it is to act");
        let judge = large.unwrap_or(&SILENT);
        let considered = judge.considered(view, Dumps::All).expect("it is to act");
        let chosen = if self.dice.below(1_000) < AT_RANDOM {
            self.dice.choose(&considered)
        } else if large.is_some() {
            considered.iter().max_by_key(|one| judge.worth_of(one))
        } else {
            let quick = quick();
            considered.iter().find(|one| one.action == quick)
        };
        let Some(chosen) = chosen else { return quick() };
        let ends = match chosen.action {
            Action::Draw
            | Action::Fight
            | Action::Dump { .. }
            | Action::Challenge
            | Action::Fold => true,
            Action::Chow { .. } | Action::Drop { .. } | Action::Sapaw { .. } | Action::Tongits => {
                false
            }
        };
        if let Some(place) = chosen.place.filter(|_| ends) {
            let hands = game.view(Viewer::Everything).hands;
            let deadwood = |other: Seat| {
                let hand = hands[other.index()].expect("the record sees all hands");
                let points = u16::try_from(tongits::deadwood(hand)).expect("few points");
                f32::from(points) / DEADWOOD_PER_ONE
            };
            let others = [seat.next(SEATS), seat.previous(SEATS)].map(deadwood);
            self.notes.push(Note { place, targets: [0.0, 0.0, others[0], others[1], 0.0] });
            self.seats.push(seat);
        }
        chosen.action
    }

    /// The next seat took what was dumped last.
    fn note_chow(&mut self, seat: Seat) {
        if self.seats.last() == Some(&seat.previous(SEATS))
            && let Some(note) = self.notes.last_mut()
        {
            note.targets[4] = 1.0;
        }
    }

    fn end(&mut self, outcome: &Outcome) {
        for (note, seat) in self.notes[self.from..].iter_mut().zip(self.seats.drain(..)) {
            note.targets[0] = if outcome.winner == Some(seat) { 1.0 } else { 0.0 };
            let counts = i16::try_from(net(outcome, seat)).expect("few counts are owed");
            note.targets[1] = f32::from(counts) / COUNTS_PER_ONE;
        }
        self.from = self.notes.len();
    }
}

/// A network that says nothing.
static SILENT: Large = Large::parsed(&[b'0'; 4 * LARGE_WEIGHTS]);

/// Who plays a game; whose choices are learned from notes them, else the network plays without
/// chance.
struct Seated<'a> {
    players: [Who; SEATS as usize],
    large: Option<&'a Large>,
    learner: Option<&'a mut Learner>,
}

impl Players<Tongits> for Seated<'_> {
    fn choose(&mut self, game: &Tongits, seat: Seat) -> Action {
        let view = game.view(Viewer::Seat(seat));
        let action = match (self.players[seat.index()], &mut self.learner, self.large) {
            (Who::Greedy, ..) => Tongits::advise(&view),
            (Who::Own, Some(learner), large) => Some(learner.choose(game, &view, seat, large)),
            (Who::Own, None, Some(large)) => large.advise(&view, Dumps::All),
            (Who::Quick, ..) | (Who::Own, None, None) => Tongits::advise_by(Skill::Quick, &view),
        };
        action.expect("it is to act")
    }

    fn hear(&mut self, events: &[Event]) {
        for event in events {
            if let (Event::Chowed { seat, .. }, Some(learner)) = (event, &mut self.learner) {
                learner.note_chow(*seat);
            }
        }
    }
}

impl Seated<'_> {
    fn play(&mut self, deal: Key) -> Outcome {
        let game = Tongits::new(&Rules::kingdom(), SEATS, None);
        let game = walk(game, &mut chance::Dice::new(deal), self);
        let outcome = game.outcome().expect("a game that is over has an outcome");
        if let Some(learner) = &mut self.learner {
            learner.end(&outcome);
        }
        outcome
    }
}

/// The counts that a seat wins or loses.
fn net(outcome: &Outcome, seat: Seat) -> i64 {
    outcome.debts.iter().fold(0, |sum, debt| {
        let counts = i64::from(debt.counts());
        let won = if debt.to == seat { counts } else { 0 };
        let lost = if debt.from == seat { counts } else { 0 };
        sum + won - lost
    })
}

fn key(seed: u64, number: u64) -> Key {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    Key(Hex(key))
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

/// Plays the games of a round and gives what was noted.
fn games(options: &Options, large: Option<&Large>, round: u32) -> Vec<Note> {
    let parts = on_threads(options.games, |numbers| {
        let dice = Dice::new(0);
        let mut learner = Learner { dice, notes: Vec::new(), seats: Vec::new(), from: 0 };
        for number in numbers {
            let deal = u64::from(round) << 32 | number as u64;
            learner.dice = Dice::new(deal ^ options.seed.rotate_right(8));
            let players = seated(number);
            Seated { players, large, learner: Some(&mut learner) }.play(key(options.seed, deal));
        }
        learner.notes
    });
    parts.into_iter().flatten().collect()
}

/// Share of wins in duplicate games against two of these: the same deals each time.
fn trial(large: &Large, other: Who, games: usize) -> Estimate {
    let parts = on_threads(games / usize::from(SEATS), |deals| {
        let mut wins = Sample::default();
        for deal in deals {
            let won = Seat::all(SEATS).filter(|own| {
                let mut players = [other; SEATS as usize];
                players[own.index()] = Who::Own;
                let mut seated = Seated { players, large: Some(large), learner: None };
                let outcome = seated.play(key(!0, deal as u64));
                outcome.winner == Some(*own)
            });
            wins.note(i64::try_from(won.count()).expect("few seats"));
        }
        wins
    });
    let mut wins = Sample::default();
    parts.iter().for_each(|part| wins.add(part));
    wins.estimate(10_000, u32::from(SEATS)).expect("a trial has games")
}

/// The network while it learns.
struct Learned {
    weights: Vec<f32>,
    /// Means of the gradient and of its square, and steps, for Adam.
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Learned {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut weights = vec![0.0; WEIGHTS];
        for (from, end, wide) in
            [(0, ADDED_1, 0.1), (SECOND, ADDED_2, 0.15), (LAST, ADDED_3, 0.3_f32)]
        {
            for weight in &mut weights[from..end] {
                let drawn = f32::from(u16::try_from(dice.below(20_001)).expect("it is below"));
                *weight = (drawn / 10_000.0 - 1.0) * wide;
            }
        }
        Self { first: vec![0.0; WEIGHTS], second: vec![0.0; WEIGHTS], weights, steps: 0 }
    }

    /// In integers, without what is foretold only to learn by it.
    #[expect(clippy::cast_possible_truncation, reason = "the numbers are clamped")]
    fn large(&self) -> Large {
        let (few, others) = self.weights[..ADDED_1].split_at(FEW_VALUES * HIDDEN_1);
        let by_place = (0..HIDDEN_1).flat_map(|place| others.iter().skip(place).step_by(HIDDEN_1));
        let weights = by_place
            .chain(few)
            .chain(&self.weights[ADDED_1..LAST + OUTPUTS * HIDDEN_2])
            .chain(&self.weights[ADDED_3..ADDED_3 + OUTPUTS]);
        let one = f32::from(WEIGHT_ONE);
        let integer = |weight: &f32| (weight * one).round().clamp(-8_191.0, 8_191.0) as i16;
        let weights: Vec<i16> = weights.map(integer).collect();
        Large::of(&weights).expect("as many as the network needs")
    }

    /// Fits the weights to the notes, once through all of them. Gives the mean errors.
    fn lesson(&mut self, notes: &[&Note], rate: f32) -> [f32; LEARNED] {
        let (mut errors, mut count) = ([0.0; LEARNED], 0.0);
        for batch in notes.chunks(BATCH) {
            let weights = &self.weights;
            let parts = on_threads(batch.len(), |places| {
                let mut gradient = vec![0.0; WEIGHTS];
                let mut errors = [0.0; LEARNED];
                for note in &batch[places] {
                    let error = learn(weights, note, &mut gradient);
                    add(&mut errors, &error.map(|error| error * error), 1.0);
                }
                (gradient, errors)
            });
            let size = f32::from(u16::try_from(batch.len()).expect("a batch is small"));
            let mut sum = vec![0.0; WEIGHTS];
            for (gradient, part) in &parts {
                sum.iter_mut().zip(gradient).for_each(|(sum, slope)| *sum += slope);
                add(&mut errors, part, 1.0);
            }
            count += size;
            self.step(&sum, rate, size);
        }
        errors.map(|error| error / count)
    }

    /// One step of Adam.
    fn step(&mut self, gradient: &[f32], rate: f32, size: f32) {
        self.steps += 1;
        let (kept, kept_squares) = (0.9_f32, 0.999_f32);
        let rate =
            rate * (1.0 - kept_squares.powi(self.steps)).sqrt() / (1.0 - kept.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, sum), (first, second)) in self.weights.iter_mut().zip(gradient).zip(moments) {
            let slope = sum / size;
            *first = kept * *first + (1.0 - kept) * slope;
            *second = kept_squares * *second + (1.0 - kept_squares) * slope * slope;
            *weight -= rate * *first / (second.sqrt() + 1e-8);
        }
    }
}

/// Adds what one note says to the gradient. Gives its errors.
fn learn(weights: &[f32], note: &Note, gradient: &mut [f32]) -> [f32; LEARNED] {
    let inputs = note.place.inputs.map(|input| f32::from(input) / f32::from(ONE));
    let few = note.place.few.map(usize::from);
    let mut first: [f32; HIDDEN_1] = row(weights, ADDED_1);
    for value in few {
        add(&mut first, &row(weights, value * HIDDEN_1), 1.0);
    }
    for (place, input) in inputs.iter().enumerate() {
        add(&mut first, &row(weights, (FEW_VALUES + place) * HIDDEN_1), *input);
    }
    let first = first.map(|value| value.clamp(0.0, HIDDEN_MAX));
    let mut second: [f32; HIDDEN_2] = row(weights, ADDED_2);
    for (place, value) in second.iter_mut().enumerate() {
        *value += product(&row(weights, SECOND + place * HIDDEN_1), &first);
    }
    let second = second.map(|value| value.clamp(0.0, HIDDEN_MAX));

    let mut errors = [0.0; LEARNED];
    let mut back_2 = [0.0; HIDDEN_2];
    for output in 0..LEARNED {
        let from = LAST + output * HIDDEN_2;
        let to_output: [f32; HIDDEN_2] = row(weights, from);
        let error = product(&to_output, &second) + weights[ADDED_3 + output] - note.targets[output];
        errors[output] = error;
        let slope = error * ERROR_WEIGHTS[output];
        gradient[ADDED_3 + output] += slope;
        add_row(gradient, from, &second, slope);
        add(&mut back_2, &to_output, slope);
    }
    let mut back_1 = [0.0; HIDDEN_1];
    for (place, slope) in back_2.into_iter().enumerate() {
        if !is_inside(second[place]) {
            continue;
        }
        let from = SECOND + place * HIDDEN_1;
        gradient[ADDED_2 + place] += slope;
        add_row(gradient, from, &first, slope);
        add(&mut back_1, &row(weights, from), slope);
    }
    for (slope, value) in back_1.iter_mut().zip(first) {
        *slope = if is_inside(value) { *slope } else { 0.0 };
    }
    add_row(gradient, ADDED_1, &back_1, 1.0);
    for value in few {
        add_row(gradient, value * HIDDEN_1, &back_1, 1.0);
    }
    for (place, input) in inputs.iter().enumerate() {
        add_row(gradient, (FEW_VALUES + place) * HIDDEN_1, &back_1, *input);
    }
    errors
}

/// Where a change of what goes in changes what comes out.
fn is_inside(value: f32) -> bool {
    value > 0.0 && value < HIDDEN_MAX
}

fn row<const SIZE: usize>(weights: &[f32], from: usize) -> [f32; SIZE] {
    weights[from..from + SIZE].try_into().expect("a row has its size")
}

fn add<const SIZE: usize>(sums: &mut [f32; SIZE], row: &[f32; SIZE], by: f32) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * by);
}

fn add_row<const SIZE: usize>(gradient: &mut [f32], from: usize, row: &[f32; SIZE], by: f32) {
    let sums = &mut gradient[from..from + SIZE];
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * by);
}

/// In sums of sixteen, which a processor adds at once.
fn product<const SIZE: usize>(one: &[f32; SIZE], other: &[f32; SIZE]) -> f32 {
    let mut sums = [0.0; 16];
    for (one, other) in one.as_chunks::<16>().0.iter().zip(other.as_chunks::<16>().0) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    sums.iter().sum()
}
