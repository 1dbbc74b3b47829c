//! Tongo (assets) keeps the contract of a game in random games, with every rule set, every number
//! of seats and random switches of its rules.
//!
//! `BAHAY_SEED` adds further seeds; a pipeline sets it to the commit that it builds.

use std::collections::BTreeSet;

use crate::support::{check_contract, count_endings, seeds};
use bahay_engine::game::{Game, GameKind, GameRules, Viewer};
use bahay_engine::games::tongo_assets::{Rules, TongoAssets};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{TestRng, TongoAssetsProbe, step};

const GAMES: u64 = 60;

#[test]
fn every_rule_set_keeps_the_contract() {
    for set in TongoAssets::rule_sets() {
        let endings = count_endings::<TongoAssets>(&TongoAssetsProbe, &(set.rules)(), GAMES);
        println!("{}: last in, acquisition, showdown: {endings:?}", set.name);
    }
}

/// Random play hardly ever pays a risk twice; affordable prices lead to showdowns.
#[test]
fn bribes_keep_the_contract() {
    let rules = Rules { bribes: true, ..Rules::advanced() };
    let endings = count_endings::<TongoAssets>(&TongoAssetsProbe, &rules, 60);
    println!("last in, acquisition, showdown: {endings:?}");
}

/// Few rounds and no raises, so that the last round and showdowns are not rare.
#[test]
fn short_games_keep_the_contract_and_end_in_every_way() {
    let rules = Rules {
        rounds_max: 1,
        confront_all_rounds: 0,
        latinum: 1_000,
        raise_max: 1,
        ..Rules::advanced()
    };
    let endings = count_endings::<TongoAssets>(&TongoAssetsProbe, &rules, 2 * GAMES);
    assert!(endings.iter().all(|games| *games > 0), "last in, acquisition, showdown: {endings:?}");
}

/// Any switches that the validation of rules accepts.
#[test]
fn rules_with_any_switches_keep_the_contract() {
    for seed in seeds(100) {
        let mut dice = TestRng::new(seed);
        let rounds_max = 1 + dice.below_u8(13);
        let rules = Rules {
            sections: [4, 8][dice.below(2) as usize],
            latinum: [1, 3, 20, 100, 1_000][dice.below(5) as usize],
            opening_max: 1 + dice.below(9),
            raise_max: 1 + dice.below(40),
            raises_max: dice.below_u8(5),
            rounds_max,
            confront_all_rounds: dice.below_u8(rounds_max + 1),
            winner_share: [1, 50, 80, 100][dice.below(4) as usize],
            margins: dice.below(2) == 1,
            leverage: dice.below(2) == 1,
            bribes: dice.below(4) == 1,
            ..Rules::standard()
        };
        assert_eq!(rules.check(), Ok(()));
        check_contract::<TongoAssets>(&TongoAssetsProbe, &rules, seed);
    }
}

/// Rule 1.4: no view shows a card in a pile, under a deck or in a section that the viewer is not
/// assessing, even if the viewer has seen that card before.
#[test]
fn a_card_once_turned_down_is_shown_to_nobody_again() {
    let mut turned_down = BTreeSet::new();
    for seed in seeds(40) {
        let mut dice = TestRng::new(seed);
        let seats = 4 + dice.below_u8(5);
        let mut game = TongoAssets::new(&Rules::standard(), seats, None);
        let (mut actions, mut events) = (Vec::new(), Vec::new());
        loop {
            for seat in Seat::all(seats) {
                let text = serde_json::to_string(&game.view(Viewer::Seat(seat))).expect("JSON");
                for pile in game.hidden().piles.iter() {
                    for card in pile.iter() {
                        turned_down.insert(card);
                        let shown = text.contains(&format!("\"{card}\""));
                        assert!(!shown, "seed {seed}: {seat:?} is shown {card}: {text}");
                    }
                }
            }
            let next = step(&game, &mut dice, &mut events, |seat, dice| {
                actions.clear();
                game.legal_actions(seat, &mut actions);
                *dice.choose(&actions).expect("a seat that is asked can act")
            });
            let Some(next) = next else { break };
            game = next;
        }
    }
    assert!(turned_down.len() > 60, "only {turned_down:?} were turned down");
}
