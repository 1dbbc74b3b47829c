//! The strength of the AI of Tongo (options) against the clock's play and against random play.
//!
//! Tables of four seats, two played by the AI and two by the other player, in all six arrangements,
//! with a random dealer. The AI's share of the games is the part won by one of its seats, and its
//! share of the pots the part of all payments that they received: half of either is par. The
//! two-sided 95 % interval uses the normal approximation over games.
//!
//! `BAHAY_GAMES` is the number of games; the figures on the game's page are of 5,000.

use bahay_bots::Ai;
use bahay_engine::game::{Game, GameKind, Viewer};
use bahay_engine::games::tongo_options::{Rules, TongoOptions};
use bahay_engine::seat::Seat;
use bahay_engine::testing::Policy;

use crate::support::{games, play_game};

const GAMES: u64 = 600;

/// The seats of the AI at a table of four.
const PLACES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Shares in ten-thousandths.
struct MatchShares {
    games: u64,
    /// The share of the games, and half of its 95 % interval.
    won: (i128, i128),
    /// The same of the pots.
    pots: (i128, i128),
}

const WHOLE: i128 = 10_000;

impl std::fmt::Display for MatchShares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { games, won, pots } = self;
        write!(f, "{games} games")?;
        for ((share, around), name) in [(won, "games"), (pots, "pots")] {
            let [share, around] =
                [share, around].map(|part| format!("{}.{:02}", part / 100, part % 100));
            write!(f, ", {share} % ± {around} of the {name}")?;
        }
        Ok(())
    }
}

fn measure(rules: &Rules, other: Policy, games: u64) -> MatchShares {
    let mut pots: Vec<(i128, bool)> = Vec::new();
    for seed in 0..games {
        let places = PLACES[usize::try_from(seed % 6).expect("a small number")];
        let mut policies = [other; 4];
        places.into_iter().for_each(|place| policies[place] = Policy::Ai);
        let game = play_game::<TongoOptions>(rules, &policies, seed);
        let end = game.public().end.expect("the game is over");
        pots.push((end.pot.into(), places.contains(&end.winner.index())));
    }
    let count = i128::from(games);
    let won = i128::try_from(pots.iter().filter(|(_, won)| *won).count()).expect("few games");
    let all: i128 = pots.iter().map(|(pot, _)| pot).sum();
    let taken: i128 = pots.iter().filter(|(_, won)| *won).map(|(pot, _)| pot).sum();
    let (games_won, pots_won) = (won * WHOLE / count, taken * WHOLE / all);
    // The share of the pots is a ratio of sums: its error follows from each game's deviation from
    // that ratio.
    let errors: i128 = pots
        .iter()
        .map(|(pot, won)| (i128::from(*won) * WHOLE - pots_won) * pot)
        .map(|error| error * error)
        .sum();
    let around = |variance: i128| 196 * variance.isqrt() / 100;
    MatchShares {
        games,
        won: (games_won, around(games_won * (WHOLE - games_won) / count)),
        pots: (pots_won, around(errors / (all * all / count) / count)),
    }
}

fn fares(other: Policy, least: i128) {
    for set in TongoOptions::rule_sets() {
        let measured = measure(&(set.rules)(), other, games(GAMES));
        println!("{}, against {other:?}: {measured}", set.name);
        let MatchShares { won, pots, .. } = measured;
        assert!(won.0 - won.1 >= least, "{}: {measured}", set.name);
        assert!(pots.0 - pots.1 > WHOLE / 2, "{}: {measured}", set.name);
    }
}

#[test]
fn the_ai_beats_the_play_of_the_clock() {
    fares(Policy::Clock, 8_000);
}

#[test]
fn the_ai_beats_random_play() {
    fares(Policy::Random, 7_800);
}

/// Games among AIs do not all end in the same way.
#[test]
fn four_ais_end_games_in_several_ways() {
    let mut endings = [0_u32; 5];
    let mut rounds = 0_u32;
    for seed in 0..GAMES {
        let policies = [Policy::Ai; 4];
        let game = play_game::<TongoOptions>(&Rules::lively(), &policies, seed);
        endings[game.public().end.expect("the game is over").ending as usize] += 1;
        rounds += u32::from(game.public().round);
    }
    println!("last in, confront, acquire, reserves, rounds: {endings:?}; {rounds} rounds in all");
    assert!(endings.iter().filter(|count| **count > 0).count() >= 2, "{endings:?}");
}

/// Rule 3.6: the choice follows from the view alone, and equal views give equal choices.
#[test]
fn the_same_view_gives_the_same_advice() {
    let policies = [Policy::Ai; 3];
    for seed in 0..20 {
        let played = || play_game::<TongoOptions>(&Rules::lively(), &policies, seed);
        let (one, other) = (played(), played());
        assert_eq!(one, other);
        let seat = Seat::new(0).expect("a seat");
        assert_eq!(
            TongoOptions::choose_action(&one.view(Viewer::Seat(seat))),
            None,
            "the game is over"
        );
    }
}
