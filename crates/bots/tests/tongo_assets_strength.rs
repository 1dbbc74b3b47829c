//! The strength of the house's AI against the clock's play and against random play.
//!
//! Two kinds of seats share tables of 4 to 8 seats in turn: every other seat is the AI's, and they
//! change places from round to round. A game is won by the kind whose seats have gained chips
//! together; a game without losses counts for neither. The share is the part of all gains that the
//! AI's seats made, with its 95 % confidence interval. `BAHAY_GAMES=5000` sets the number of games.

use std::collections::BTreeMap;

use bahay_bots::Ai;
use bahay_bots::arena::{Estimate, Sample};
use bahay_engine::game::{Debt, Game, GameKind, GameRules, Outcome, Viewer};
use bahay_engine::games::tongo_assets::{Action, GameSetup, Rules, TongoAssets};
use bahay_engine::seat::Seat;
use bahay_engine::testing::Policy;

use crate::support::{games, play_game};

/// The outcomes of the AI against another kind of player.
#[derive(Debug, Default)]
struct GainTotals {
    /// Games in which some seat lost chips.
    games: u64,
    won: u64,
    /// The shares of all gains, in ten-thousandths.
    shares: Sample,
    endings: BTreeMap<&'static str, u32>,
}

impl GainTotals {
    fn won_per_mille(&self) -> u64 {
        self.won * 1_000 / self.games.max(1)
    }
}

/// Returns the sum of the debts that `is_counted` chooses.
fn sum_counts(outcome: &Outcome, is_counted: impl Fn(&Debt) -> bool) -> u64 {
    let debts = outcome.debts.iter().filter(|debt| is_counted(debt));
    debts.map(|debt| u64::from(debt.counts())).sum()
}

fn tally(rules: &Rules, other: Policy, games: u64) -> GainTotals {
    let mut tally = GainTotals::default();
    for game in 0..games {
        let range = rules.seats();
        let sizes = u64::from(range.most - range.least) + 1;
        let seats = range.least + u8::try_from(game % sizes).expect("a small number");
        let is_ai = |seat: Seat| (u64::from(seat.number()) + game / sizes).is_multiple_of(2);
        let policies: Vec<Policy> =
            Seat::all(seats).map(|seat| if is_ai(seat) { Policy::Ai } else { other }).collect();
        let state = play_game::<TongoAssets>(rules, &policies, game);
        *tally.endings.entry(state.ending().expect("the game is over")).or_default() += 1;
        let outcome = state.outcome().expect("the game is over");
        let gained = sum_counts(&outcome, |debt| is_ai(debt.to));
        let lost = sum_counts(&outcome, |debt| is_ai(debt.from));
        let all = sum_counts(&outcome, |_| true);
        if all == 0 {
            continue;
        }
        tally.games += 1;
        tally.won += u64::from(gained > lost);
        tally.shares.record(i64::try_from(gained * 10_000 / all).expect("a share"));
    }
    tally
}

fn measure(other: Policy, least_per_mille: u64) {
    for set in TongoAssets::rule_sets() {
        let tally = tally(&(set.rules)(), other, games(250));
        let Estimate { mean, half_width } = tally.shares.estimate(1, 1).expect("some games");
        println!(
            "{} against {other:?}: won {} of {} games, {} per mille; share {mean} ± {half_width} \
             ten-thousandths; {:?}",
            set.name,
            tally.won,
            tally.games,
            tally.won_per_mille(),
            tally.endings
        );
        assert!(tally.won_per_mille() >= least_per_mille, "{}: {tally:?}", set.name);
    }
}

#[test]
fn the_ai_beats_what_the_clock_plays() {
    measure(Policy::Clock, 800);
}

#[test]
fn the_ai_beats_random_play() {
    measure(Policy::Random, 900);
}

/// Plays one seat of the AI among others of another kind, each seat in turn. Returns how often it
/// gains, and its part of all gains.
fn alone(other: Policy, games: u64) -> (u64, u64) {
    let (mut won, mut gained, mut all) = (0, 0, 0);
    for game in 0..games {
        let seats = 4 + u8::try_from(game % 5).expect("a small number");
        let own = Seat::all(seats).nth((game / 5 % u64::from(seats)) as usize).expect("a seat");
        let policies: Vec<Policy> =
            Seat::all(seats).map(|seat| if seat == own { Policy::Ai } else { other }).collect();
        let state = play_game::<TongoAssets>(&Rules::standard(), &policies, game);
        let outcome = state.outcome().expect("the game is over");
        let to_own = sum_counts(&outcome, |debt| debt.to == own);
        all += sum_counts(&outcome, |_| true);
        won += u64::from(to_own > 0);
        gained += to_own;
    }
    (won * 1_000 / games, gained * 1_000 / all.max(1))
}

/// Among 4 to 8 equal seats one would gain a sixth.
#[test]
fn one_ai_among_others_gains_the_larger_part() {
    for other in [Policy::Clock, Policy::Random] {
        let (won, share) = alone(other, games(250));
        println!("alone among {other:?}: gains in {won} of 1,000 games, {share} per mille of all");
        assert!(won > 400 && share > 400, "{won} {share}");
    }
}

/// Among AIs games end in every way at larger tables, and every seat wins at times.
#[test]
fn ais_among_themselves_end_games_in_every_way() {
    for seats in [4_u8, 6, 8] {
        let (mut endings, mut won) = (BTreeMap::new(), vec![0_u32; usize::from(seats)]);
        let policies = vec![Policy::Ai; usize::from(seats)];
        for seed in 0..200 {
            let state = play_game::<TongoAssets>(&Rules::standard(), &policies, seed);
            *endings.entry(state.ending().expect("the game is over")).or_insert(0) += 1;
            let winner = state.outcome().and_then(|outcome| outcome.winner).expect("a winner");
            won[winner.index()] += 1;
        }
        println!("{seats} seats: {endings:?}; won by seat {won:?}");
        assert!(won.iter().all(|games| *games > 0), "{won:?}");
        assert!(endings.len() == 3 || seats == 4, "{endings:?}");
    }
}

fn advised(position: &GameSetup, seat: Seat) -> Action {
    let game = position.build_game().expect("such a position can stand");
    TongoAssets::choose_action(&game.view(Viewer::Seat(seat))).expect("the seat is to act")
}

/// The most valuable action is not missed.
#[test]
fn the_ai_presses_confronts_and_leaves() {
    let own = Seat::new(0).expect("a seat");
    let position = |chips: [u32; 4], prices, rounds, assesses| GameSetup {
        chips: Seat::all(4).zip(chips).collect(),
        prices: Some(prices),
        rounds: Some(rounds),
        turn: Some((own, assesses)),
        ..GameSetup::new(Rules::standard(), 4, own)
    };
    // No other seat can pay 28 twice out of 55 chips, and 35 is the highest opening.
    let press = position([55; 4], (25, 13, 37), 3, false);
    assert!(matches!(advised(&press, own), Action::Open { risk: 28..=35, .. }));
    // A seat that cannot pay twice, while others can, leaves.
    let poor = position([30, 90, 90, 90], (25, 13, 37), 3, false);
    assert_eq!(advised(&poor, own), Action::Retreat);
    // The strongest hand is shown if the next opener could press.
    let hand = "1Ra 2Ra 3Ra 4Ra 5Ra 6Ra 7Ra".split(' ').map(|card| card.parse().expect("a card"));
    let mut strong = position([60; 4], (20, 10, 30), 4, true);
    strong.turn = Some((own, true));
    strong.hands = vec![(own, hand.collect())];
    assert!(matches!(advised(&strong, own), Action::Confront | Action::Done));
}
