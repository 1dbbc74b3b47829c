//! The rank of a planted pair among the pairs of an arena tournament, by the function with which the
//! desk ranks them (`bahay::reports::pairs::tournament_signs`), at each game of the catalogue.
//!
//! The pair meets as often as the pairing of an arena permits, which keeps recent opponents apart.
//! The first of the pair dumps in these games, as in `desk`, and both play honestly otherwise. All
//! players come from devices and addresses of their own.
//!
//! Limits: the other pairs meet by chance, without regard to their ranks.

use std::collections::BTreeMap;

use bahay::reports::pairs::tournament_signs::{GamePoints, rank_pairs};
use bahay_engine::catalog::{self, AnyGame, AnyRules};
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game as _, GameRules as _};
use bahay_engine::seat::Seat;
use uuid::Uuid;

use super::desk::{choose_action, choose_dumping_action, play_on};
use super::play::Character;
use super::{Collusion, play_in_threads};

/// The number of players of a table.
const SEATS: u8 = 3;

/// The number of players of an arena.
const PLAYERS: usize = 60;

/// The number of games of each player.
const GAMES: usize = 30;

/// The number of games from one meeting of the pair to the next.
const GAMES_PER_MEETING: usize = 5;

/// The series of arenas, apart from those of pairs.
const ARENA_SERIES: u64 = 1_002;

/// The share of arenas in which the planted pair is among the first hundredth of the pairs, at one
/// game, in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentDetection {
    pub game: &'static str,
    pub dumping: u32,
}

/// Measures the ranks at the first rule set of every game that has tables of three.
pub(super) fn measure_arenas(options: Collusion) -> Vec<TournamentDetection> {
    let kinds = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    let games = kinds.filter_map(|kind| {
        let rules = kind.rule_sets.first()?.rules.clone();
        rules.seats().contains(SEATS).then(|| measure(options, kind.name, &rules))
    });
    games.collect()
}

fn measure(options: Collusion, game: &'static str, rules: &AnyRules) -> TournamentDetection {
    let arenas = (options.pairs / 50).max(1);
    let found = play_in_threads(options, ARENA_SERIES, arenas, |dice| {
        let pairs = rank_pairs(&play_arena(dice, rules), &BTreeMap::new());
        let planted = [player(0), player(1)];
        let at = pairs.iter().position(|pair| [pair.payer, pair.winner] == planted);
        at.is_some_and(|at| at * 100 < pairs.len())
    });
    let count = found.iter().filter(|is_found| **is_found).count();
    let dumping = u32::try_from(count * 1_000 / found.len().max(1)).unwrap_or(u32::MAX);
    TournamentDetection { game, dumping }
}

fn player(number: usize) -> Uuid {
    Uuid::from_u128(number as u128 + 1)
}

/// Plays the games of an arena, in which the first player dumps to the second.
fn play_arena(dice: &mut ChanceRng, rules: &AnyRules) -> Vec<GamePoints> {
    let characters: Vec<Character> = (0..PLAYERS).map(|_| Character::random(dice)).collect();
    let mut games = Vec::new();
    for round in 0..GAMES {
        let mut order: Vec<usize> = (2..PLAYERS).collect();
        shuffle(dice, &mut order);
        order.insert(0, 0);
        // The second player sits at the first table, or at the next one.
        let place = if round % GAMES_PER_MEETING == 0 { 1 } else { usize::from(SEATS) };
        order.insert(place, 1);
        for table in order.chunks_exact_mut(SEATS.into()) {
            shuffle(dice, table);
            let points = play_table(dice, rules, table, &characters);
            games.push(table.iter().map(|number| player(*number)).zip(points).collect());
        }
    }
    games
}

fn shuffle(dice: &mut ChanceRng, numbers: &mut [usize]) {
    for at in (1..numbers.len()).rev() {
        numbers.swap(at, dice.below(at + 1));
    }
}

/// Plays a game, and returns the points by seat in hundredths. The first player of the arena dumps
/// if the second one is at the table.
fn play_table(
    dice: &mut ChanceRng,
    rules: &AnyRules,
    table: &[usize],
    characters: &[Character],
) -> Vec<i64> {
    let seat_of = |number: usize| {
        let place = table.iter().position(|one| *one == number)?;
        Seat::all(SEATS).nth(place)
    };
    let pair = seat_of(0).zip(seat_of(1)).map(|(first, second)| [first, second]);
    let state = play_on(dice, AnyGame::new(rules, SEATS, None), |dice, state, seat| match pair {
        Some(seats) if seats[0] == seat => choose_dumping_action(dice, state, seats),
        _ => choose_action(dice, state, seat, characters[table[seat.index()]]),
    });
    let mut points = vec![0; table.len()];
    for debt in state.outcome().map(|outcome| outcome.debts).unwrap_or_default() {
        let counts = 100 * i64::from(debt.counts());
        points[debt.from.index()] -= counts;
        points[debt.to.index()] += counts;
    }
    points
}
