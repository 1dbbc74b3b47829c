//! Two figures of Tong-its: random play of whole games on one thread, in steps a second, and the
//! arrangement of a hand, in nanoseconds. `cargo bench -p bahay-engine` prints both.
//!
//! A plain main: each figure is the best of several rounds, because on a shared machine only the
//! undisturbed round tells what the code costs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Arrangement, Rules, Tongits, deadwood};
use bahay_engine::testing::{Dice, play_at_random};

const ROUNDS: u32 = 20;
const GAMES: u64 = 5_000;
const HANDS: usize = 4_096;

fn main() {
    let (steps, games) = random_play();
    println!("random play: {steps} steps/s, {games} games/s");
    let hands = random_hands();
    println!("arrangement, random hand of 13: {} ns", nanoseconds(&hands, Arrangement::of));
    println!("deadwood, random hand of 13: {} ns", nanoseconds(&hands, deadwood));
    for (name, text) in [
        ("three fours and runs through them", "5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S 8C"),
        ("a run of thirteen", "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"),
        ("four threes", "AC AD AH 2C 2D 2H 3C 3D 3H 4C 4D 4H 9S"),
    ] {
        let hand: CardSet = text.split(' ').map(|card| card.parse().expect("a card")).collect();
        println!("arrangement, {name}: {} ns", nanoseconds(&[hand; 256], Arrangement::of));
    }
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
