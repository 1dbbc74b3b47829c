//! What tests of several games share: seeds of a run, checks of a table in virtual time, and the
//! variants of an enum as its page names them.

pub mod desk;
pub mod records;

use std::fmt::Debug;
use std::str::FromStr;
use std::{env, panic};

use bahay_bots::Ai;
use bahay_bots::simulation::Simulation;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameKind;
use bahay_engine::table::{Record, Table};
use bahay_engine::testing::{Probe, check_game};

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

/// Plays until this many games are settled, and checks that no coin is lost or made.
pub fn check_coins<G: Ai + GameKind>(house: &mut Simulation<G>, games: u32) {
    let mut settled = 0;
    while settled < games {
        let happened = house.step();
        assert_eq!(house.missing_coins(), Coins::ZERO);
        settled += u32::from(happened.record.is_some());
    }
}

/// Plays until this many games are settled, and checks that the journal alone rebuilds the table.
pub fn check_journal<G: Ai + GameKind>(house: &mut Simulation<G>, games: u32) {
    let mut replayed = house.table().clone();
    let mut settled = 0;
    while settled < games {
        let happened = house.step();
        let text = serde_json::to_string(&happened.line).expect("a line can be written");
        let line = serde_json::from_str(&text).expect("and read");
        let (table, events) = replayed.apply_line(&line).expect("an accepted line is followed");
        assert_eq!(events, happened.events);
        replayed = table;
        assert_eq!(&replayed, house.table());
        settled += u32::from(happened.record.is_some());
    }
    let snapshot = serde_json::to_string(&replayed).expect("a table can be written");
    assert_eq!(serde_json::from_str::<Table<G>>(&snapshot).expect("and read"), replayed);
}

/// Checks that a record verifies, also after it was written and read, and counts its actions by
/// their origin.
pub fn check_record<G: GameKind>(record: &Record<G>, by: &mut [u32; 3]) {
    record.verify().expect("the record holds");
    let text = serde_json::to_string(record).expect("a record can be written");
    let read: Record<G> = serde_json::from_str(&text).expect("and read");
    assert_eq!(&read, record);
    read.verify().expect("the record holds");
    for taken in &record.actions {
        by[taken.by as usize] += 1;
    }
}

/// Plays a random game and checks that it keeps the contract of a game. Returns it at its end.
pub fn check_contract<G: Ai + GameKind>(probe: &impl Probe<G>, rules: &G::Rules, seed: u64) -> G {
    let checked = check_game(probe, G::choose_action, rules, seed);
    checked.unwrap_or_else(|failure| panic!("{failure}: {rules:?}"))
}

/// Checks the contract in this many games and more, and counts them by their ending.
pub fn count_endings<G: Ai + GameKind, const N: usize>(
    probe: &impl Probe<G>,
    rules: &G::Rules,
    games: u64,
    ending: impl Fn(&G) -> usize,
) -> [usize; N] {
    let mut endings = [0; N];
    for seed in seeds(games) {
        endings[ending(&check_contract(probe, rules, seed))] += 1;
    }
    endings
}

/// Plays until this many games are settled, and returns their records.
pub fn settled_records<G: Ai>(mut house: Simulation<G>, games: u64) -> Vec<Record<G>> {
    let mut records = Vec::new();
    house.play(games, |_, record| records.push(record.clone()));
    records
}

/// Parses cards separated by spaces.
pub fn cards<C: FromStr<Err: Debug>, S: FromIterator<C>>(text: &str) -> S {
    text.split(' ').map(|card| card.parse().expect("a card")).collect()
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
