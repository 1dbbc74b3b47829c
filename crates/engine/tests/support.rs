//! What tests of several games share: seeds of a run, checks of a table in virtual time, and the
//! variants of an enum as its page names them.

pub mod desk;
pub mod positions;
pub mod records;

use std::fmt::Debug;
use std::str::FromStr;
use std::{env, panic};

use bahay_bots::Ai;
use bahay_bots::simulation::{Simulation, SimulationStep};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameKind;
use bahay_engine::table::{ActionOrigin, Record, Table};
use bahay_engine::testing::{Probe, check_game};
use serde::Serialize;

/// Returns the seeds of this run: fixed ones, and as many derived from `BAHAY_SEED` if it is set.
pub fn seeds(games: u64) -> impl Iterator<Item = u64> {
    let given = env::var("BAHAY_SEED").ok().map(|text| {
        // FNV-1a accepts a commit's hash, a number or a word.
        text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    });
    (0..games).chain(
        given.into_iter().flat_map(move |seed| (0..games).map(move |game| seed.wrapping_add(game))),
    )
}

/// Returns fixed seeds up to a number, or the one that `BAHAY_SEED` names.
pub fn table_seeds(most: u64) -> Vec<u64> {
    let given = env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok());
    given.map_or_else(|| (1..=most).collect(), |seed| vec![seed])
}

/// Checks with each of these seeds, and prints the seed of a failure.
pub fn with_each_seed(most: u64, check: impl Fn(u64)) {
    for seed in table_seeds(most) {
        let ran = panic::catch_unwind(panic::AssertUnwindSafe(|| check(seed)));
        if let Err(failure) = ran {
            eprintln!("repeat with BAHAY_SEED={seed}");
            panic::resume_unwind(failure);
        }
    }
}

/// Plays until this many games are settled, and passes on each step with the house after it.
pub fn play_games<G: Ai>(
    house: &mut Simulation<G>,
    games: u64,
    mut each: impl FnMut(&Simulation<G>, SimulationStep<G>),
) {
    let mut settled = 0;
    while settled < games {
        let happened = house.step();
        settled += u64::from(happened.record.is_some());
        each(house, happened);
    }
}

/// Checks that no coin is lost or made in this many games.
pub fn check_coins<G: Ai>(house: &mut Simulation<G>, games: u64) {
    play_games(house, games, |house, _| assert_eq!(house.missing_coins(), Coins::ZERO));
}

/// Checks that the journal of this many games alone rebuilds the table.
pub fn check_journal<G: Ai + GameKind>(house: &mut Simulation<G>, games: u64) {
    let mut replayed = house.table().clone();
    play_games(house, games, |house, happened| {
        let line = serde_json::from_str(&json(&happened.line)).expect("a line can be read");
        let (table, events) = replayed.apply_line(&line).expect("an accepted line is followed");
        assert_eq!(events, happened.events);
        replayed = table;
        assert_eq!(&replayed, house.table());
    });
    let read: Table<G> = serde_json::from_str(&json(&replayed)).expect("a table can be read");
    assert_eq!(read, replayed);
}

/// Checks the records of this many games, also by `check`. Returns the number of actions by their
/// origin.
pub fn check_records<G: Ai + GameKind>(
    mut house: Simulation<G>,
    games: u64,
    check: impl Fn(&Record<G>),
) -> [u32; 3] {
    let mut by = [0; 3];
    house.play(games, |_, record| {
        check_record(record);
        check(record);
        record.actions.iter().for_each(|taken| by[taken.by as usize] += 1);
    });
    by
}

/// Asserts that both players and the AI have acted.
pub fn assert_all_acted(by: [u32; 3]) {
    assert!(by[ActionOrigin::Player as usize] > 0 && by[ActionOrigin::Ai as usize] > 0, "{by:?}");
}

/// Checks that a record verifies, also after it was written and read.
fn check_record<G: GameKind>(record: &Record<G>) {
    record.verify().expect("the record holds");
    let read: Record<G> = serde_json::from_str(&json(record)).expect("a record can be read");
    assert_eq!(&read, record);
    read.verify().expect("the record holds");
}

/// Plays a random game and checks that it keeps the contract of a game. Returns it at its end.
pub fn check_contract<G: Ai + GameKind>(probe: &impl Probe<G>, rules: &G::Rules, seed: u64) -> G {
    let checked = check_game(probe, G::choose_action, rules, seed);
    checked.unwrap_or_else(|failure| panic!("{failure}: {rules:?}"))
}

/// Checks the contract in this many games and more, and counts them by their ending, in the order
/// of the kind's list.
pub fn count_endings<G: Ai + GameKind>(
    probe: &impl Probe<G>,
    rules: &G::Rules,
    games: u64,
) -> Vec<usize> {
    let mut endings = vec![0; G::ENDINGS.len()];
    for seed in seeds(games) {
        let ending = check_contract(probe, rules, seed).ending().expect("the game is over");
        let place = G::ENDINGS.iter().position(|known| known.name == ending);
        endings[place.expect("a known ending")] += 1;
    }
    endings
}

/// Plays until this many games are settled, and returns their records.
pub fn settled_records<G: Ai>(mut house: Simulation<G>, games: u64) -> Vec<Record<G>> {
    let mut records = Vec::new();
    house.play(games, |_, record| records.push(record.clone()));
    records
}

/// Returns a value in JSON.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is JSON")
}

/// Returns the name under which a value is serialized: a word, or the field `type` of an object.
pub fn serialized_name(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("it is JSON");
    value.get("type").unwrap_or(&value).as_str().expect("it has a name").to_owned()
}

/// Iterates over the items whose bits are set.
pub fn subset<T: Copy>(items: &[T], bits: u32) -> impl Iterator<Item = T> {
    (0..).zip(items).filter(move |(place, _)| bits >> place & 1 == 1).map(|(_, item)| *item)
}

/// Parses cards separated by spaces.
pub fn cards<C: FromStr<Err: Debug>, S: FromIterator<C>>(text: &str) -> S {
    text.split_whitespace().map(|card| card.parse().expect("a card")).collect()
}

/// Returns the variants of an enum in Rust, as they are serialized: in snake case.
pub fn variants(source: &str, head: &str) -> Vec<String> {
    let (before, rest) = source.split_once(head).expect("the type is there");
    let indent = before.rsplit('\n').next().expect("a line");
    let body = rest.split(&format!("\n{indent}}}\n")).next().expect("its end");
    let inner = format!("{indent}    ");
    let lines = body.lines().filter_map(|line| line.strip_prefix(&inner));
    let named = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    named
        .map(|line| {
            let name = line.chars().take_while(char::is_ascii_alphanumeric);
            name.fold(String::new(), |mut snake, letter| {
                if letter.is_ascii_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.push(letter.to_ascii_lowercase());
                snake
            })
        })
        .collect()
}
