//! What Tong-its and its table cost, as one table: random play of whole games, the arrangement of a
//! hand, and what the way of a move does with a table: deciding, following, showing, redacting,
//! reading a journal, verifying a record, and how large these things are on paper.
//! `cargo bench -p bahay-engine` prints it.
//!
//! A plain main: each figure is the best of several rounds, because on a shared machine only the
//! undisturbed round tells what the code costs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongits::{Arrangement, Rules, Tongits, deadwood};
use bahay_engine::seat::Seat;
use bahay_engine::table::simulation::{Habits, Happened, Simulation};
use bahay_engine::table::{
    Clocks, Event, Fresh, GameId, Hits, Input, Line, Price, Record, Table, Terms,
};
use bahay_engine::testing::{Dice, play_at_random};

const ROUNDS: u32 = 20;
const GAMES: u64 = 5_000;
const HANDS: usize = 4_096;
/// Games of the journal that is read again.
const JOURNAL_GAMES: usize = 5;

fn main() {
    let (steps, games) = random_play();
    row("random play", steps, "steps/s");
    row("random play", games, "games/s");
    let hands = random_hands();
    row("arrangement, random hand of 13", nanoseconds(&hands, Arrangement::of), "ns");
    row("deadwood, random hand of 13", nanoseconds(&hands, deadwood), "ns");
    for (name, text) in [
        ("three fours and runs through them", "5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S 8C"),
        ("a run of thirteen", "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"),
        ("four threes", "AC AD AH 2C 2D 2H 3C 3D 3H 4C 4D 4H 9S"),
    ] {
        let hand: CardSet = text.split(' ').map(|card| card.parse().expect("a card")).collect();
        let taken = nanoseconds(&[hand; 256], Arrangement::of);
        row(&format!("arrangement, {name}"), taken, "ns");
    }
    Journal::play().print();
}

fn row(name: &str, value: impl std::fmt::Display, unit: &str) {
    println!("{name:<52}{value:>12} {unit}");
}

/// A table that was played for some games, step by step.
struct Journal {
    /// The table before each line.
    steps: Vec<(Table<Tongits>, Happened<Tongits>)>,
    last: Table<Tongits>,
    record: Record<Tongits>,
}

impl Journal {
    fn play() -> Self {
        let terms = Terms {
            room: "newbie".to_owned(),
            rules: Rules::kingdom(),
            price: Price {
                bet: Coins::from_whole(1).expect("one fits"),
                multiplier: 1,
                fee_basis_points: 500,
            },
            hits: Hits::default(),
            clocks: Clocks::default(),
            spectators: bahay_engine::table::Spectators::Nobody,
        };
        let welcome = Coins::from_whole(1_000).expect("a thousand fits");
        let mut simulation = Simulation::<Tongits>::new(1, terms, Habits::default(), welcome);
        let (mut steps, mut records) = (Vec::new(), Vec::new());
        while records.len() < JOURNAL_GAMES {
            let before = simulation.table().clone();
            let happened = simulation.step();
            records.extend(happened.record.clone());
            steps.push((before, happened));
        }
        let record = records.pop().expect("some games were played");
        Self { steps, last: simulation.table().clone(), record }
    }

    fn print(&self) {
        let acts: Vec<_> = self
            .steps
            .iter()
            .filter(|(_, happened)| matches!(happened.line.input, Input::Act { .. }))
            .collect();
        let fresh = || Fresh {
            seed: bahay_engine::chance::ServerSeed(bahay_engine::hex::Hex([0; 32])),
            game: NO_GAME,
        };
        let decide = |(table, happened): &&(Table<Tongits>, Happened<Tongits>)| {
            let Line { at, input, .. } = happened.line.clone();
            table.decide(at, input, fresh).is_ok()
        };
        row("decide on a move", each(&acts, decide), "ns");
        let follow = |(table, happened): &&(Table<Tongits>, Happened<Tongits>)| {
            table.follow(&happened.line).is_ok()
        };
        row("follow a line of a move", each(&acts, follow), "ns");
        let seat = Seat::new(0).expect("there is a first seat");
        let player = acts.iter().find_map(|(table, _)| table.occupant(seat));
        let player = player.map(|occupant| occupant.player);
        row("view of a table", each(&acts, |(table, _)| table.view(player)), "ns");
        let redact = |(_, happened): &&(Table<Tongits>, Happened<Tongits>)| {
            let seen = |event: &Event<_>| event.redact::<Tongits>(Viewer::Seat(seat));
            happened.events.iter().filter_map(seen).collect::<Vec<_>>()
        };
        row("redact a move for a seat", each(&acts, redact), "ns");
        let advise = |(table, _): &&(Table<Tongits>, Happened<Tongits>)| match table.phase() {
            bahay_engine::table::Phase::Playing(playing) => {
                Tongits::advise(&playing.state.view(Viewer::Seat(seat)))
            }
            _ => None,
        };
        row("advice of the bot, or none", each(&acts, advise), "ns");

        let lines: Vec<String> = self.steps.iter().map(|(_, step)| text(&step.line)).collect();
        let read = |line: &String| serde_json::from_str::<Line<_>>(line).map(follow_nothing);
        row("read a line", each(&lines, read), "ns");
        let first = &self.steps[0].0;
        let replay = |_: &()| {
            lines.iter().fold(first.clone(), |table, line| {
                let line = serde_json::from_str(line).expect("a line that was written");
                table.follow(&line).expect("a line that was accepted").0
            })
        };
        let taken = each(&[()], replay) / 1_000;
        row(&format!("replay a journal of {} lines", lines.len()), taken, "us");
        let verified = each(&[()], |_: &()| self.record.verify().is_ok()) / 1_000;
        row(&format!("verify a record of {} actions", self.record.actions.len()), verified, "us");

        let bytes = lines.iter().map(String::len).sum::<usize>() / lines.len();
        row("a line on paper", bytes, "bytes");
        row("a table on paper", text(&self.last).len(), "bytes");
        row("a record on paper", text(&self.record).len(), "bytes");
        row("a table in memory, without what it points to", size_of::<Table<Tongits>>(), "bytes");
    }
}

const NO_GAME: GameId = GameId(uuid::Uuid::nil());

fn follow_nothing(line: Line<<Tongits as Game>::Action>) -> bool {
    line.fresh.is_some()
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("what the engine writes is JSON")
}

/// For one of them on average, in the best round; rounded down.
fn each<T, U>(items: &[T], work: impl Fn(&T) -> U) -> u128 {
    let round = |_| {
        let begun = Instant::now();
        for item in items {
            black_box(work(black_box(item)));
        }
        begun.elapsed().as_nanos() / items.len().max(1) as u128
    };
    (0..ROUNDS * 5).map(round).min().unwrap_or_default()
}

/// Steps and games a second, in the best round.
fn random_play() -> (u64, u64) {
    let rules = Rules::kingdom();
    let (mut events, mut actions) = (Vec::new(), Vec::new());
    let mut best = (0, 0);
    for round in 0..ROUNDS {
        let mut dice = Dice::new(u64::from(round));
        let mut steps = 0;
        let begun = Instant::now();
        for _ in 0..GAMES {
            let game = Tongits::new(&rules, None);
            steps += play_at_random(black_box(game), &mut dice, &mut events, &mut actions);
        }
        let taken = begun.elapsed();
        best = best.max((per_second(steps as u64, taken), per_second(GAMES, taken)));
    }
    best
}

fn random_hands() -> Vec<CardSet> {
    let mut dice = Dice::new(1);
    let hand = |dice: &mut Dice| {
        let mut hand = CardSet::EMPTY;
        while hand.len() < 13 {
            let card = u8::try_from(dice.below(52)).ok().and_then(Card::from_index);
            hand = card.map_or(hand, |card| hand.with(card));
        }
        hand
    };
    (0..HANDS).map(|_| hand(&mut dice)).collect()
}

/// For one hand, in the best round; rounded down.
fn nanoseconds<T>(hands: &[CardSet], arrange: impl Fn(CardSet) -> T) -> u128 {
    let round = |_| {
        let begun = Instant::now();
        for hand in hands {
            black_box(arrange(black_box(*hand)));
        }
        begun.elapsed().as_nanos() / hands.len() as u128
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

/// Rounded down.
fn per_second(count: u64, taken: Duration) -> u64 {
    u64::try_from(u128::from(count) * 1_000_000_000 / taken.as_nanos().max(1)).unwrap_or(u64::MAX)
}
