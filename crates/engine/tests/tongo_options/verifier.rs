//! docs/verify_tongo_options.py, which shares no code with the engine, agrees with it about whole
//! games with every switch: those of erratic tables and of random play. It refuses forgeries and
//! names the rule.

use std::collections::BTreeSet;

use crate::support::desk::coins;
use crate::support::records::{Forgery, check_verifier, record_game, reveal_another_text};
use crate::support::serialized_name;
use bahay_engine::chance::{ChanceAnswer, Contribution};
use bahay_engine::game::Hits;
use bahay_engine::games::tongo_options::{Action, GameEnding, Rules, TongoOptions};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Record, Settlement};
use bahay_engine::testing::{self, TestRng, legal_actions};

use super::conformance::any_rules;
use super::is_calm;
use super::tables::simulation;

/// Plays a whole random game and returns its record; some games are calm, so that they last.
fn play(rules: Rules, seats: u8, seed: u64) -> Record<TongoOptions> {
    let client = |seat: Seat| match seat.number() % 3 {
        0 => Contribution::none(),
        1 => Contribution::from_text("luck"),
        _ => Contribution::new(Contribution::from_text("swerte").commitment, None),
    };
    let clients = Seat::all(seats).map(client).collect();
    let starter = Seat::new(1).filter(|_| seed.is_multiple_of(2));
    let terms = testing::terms(rules, None, coins(3), 2);
    let mut record =
        record_game(terms, clients, starter, seed, |game: &TongoOptions, seat, dice| {
            let legal = legal_actions(game, seat);
            let calm: Vec<Action> = legal.iter().copied().filter(is_calm).collect();
            let pool = if dice.below(8) > 0 && !calm.is_empty() { &calm } else { &legal };
            *dice.choose(pool).expect("something is legal")
        });
    settle(&mut record);
    record
}

/// Recomputes a record's outcome, so that only play can reveal the forgery.
fn settle(record: &mut Record<TongoOptions>) {
    let Record { outcome, terms, stakes, .. } = record;
    record.settlement =
        Settlement::new(outcome, &terms.price, 1, stakes, 0, None).expect("the amounts fit");
}

const FORGERIES: &[Forgery<TongoOptions>] = &[
    ("a chip more", "8.3", |record| {
        record.outcome.debts[0].items[0].counts += 1;
        true
    }),
    ("another winner", "8.2", |record| {
        let seats = u8::try_from(record.players.len()).expect("eight at most");
        record.outcome.winner = record.outcome.winner.map(|seat| seat.next(seats));
        true
    }),
    ("a POT that no win takes", "9.2", |record| {
        record.outcome.takes_pot = true;
        true
    }),
    ("a die that fell otherwise", "2.1", |record| {
        let mut numbers = record.chance.iter_mut().rev().filter_map(|answer| match answer {
            ChanceAnswer::Number(number) => Some(number),
            ChanceAnswer::Order(_) => None,
        });
        numbers.next().map(|number| *number = (*number + 1) % 4).is_some()
    }),
    ("a deck in another order", "2.1", |record| {
        let mut orders = record.chance.iter_mut().filter_map(|answer| match answer {
            ChanceAnswer::Order(order) => Some(order),
            ChanceAnswer::Number(_) => None,
        });
        orders.next().map(|order| order.swap(0, 1)).is_some()
    }),
    ("a card discarded that was not held", "3.2", |record| {
        record.actions.iter_mut().any(|taken| match &mut taken.action {
            Action::Evade { discards } | Action::PayToEvade { discards } if discards.len() > 1 => {
                discards[0] = discards[1];
                true
            }
            _ => false,
        })
    }),
    ("a risk that was not paid", "3.3", |record| {
        let paid = record.actions.iter().position(|taken| taken.action == Action::PayRisk);
        let goes_on = |place: usize| {
            record.actions.get(place + 1).is_some_and(|taken| {
                matches!(taken.action, Action::End | Action::Roll | Action::Buy { .. })
            })
        };
        let found = paid.filter(|place| goes_on(*place));
        found.map(|place| record.actions.remove(place)).is_some()
    }),
    ("an action too few", "4.1", |record| {
        record.actions.pop();
        true
    }),
    ("a text that was not committed to", "9.1", reveal_another_text),
];

#[test]
fn the_independent_verifier_agrees_about_games_under_every_switch() {
    let mut records: Vec<(String, Record<TongoOptions>)> = Vec::new();
    for seed in 0..120 {
        let mut dice = TestRng::new(seed);
        let rules = match seed % 4 {
            0 => Rules::lively(),
            1 => Rules::seed(),
            _ => any_rules(&mut dice),
        };
        let rules = Rules { seats_max: 8, ..rules };
        let seats = 2 + u8::try_from(seed % 7).expect("a small number");
        records.push((format!("random play, seed {seed}"), play(rules, seats, seed)));
    }
    for (seed, hits) in [(1, None), (2, Some(Hits::default()))] {
        for rules in [Rules::lively(), Rules::seed()] {
            simulation(seed, rules, hits).play(15, |_, record| {
                records.push((format!("a rough table, seed {seed}"), record.clone()));
            });
        }
    }
    let mut endings = [0_u32; 5];
    let mut played = BTreeSet::new();
    for (name, record) in &records {
        record.verify().unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let state = record.replay(|_| ()).expect("a record that verifies");
        played.extend(record.actions.iter().map(|taken| serialized_name(&taken.action)));
        endings[state.public().end.expect("the game is over").ending as usize] += 1;
    }
    assert_eq!(played.len(), 19, "some action was never played: {played:?}");
    assert!(endings.iter().all(|count| *count > 0), "{} {endings:?}", GameEnding::LastIn as usize);

    let may_forge = |record: &Record<TongoOptions>| record.terms.hits.is_none();
    check_verifier(&records, FORGERIES, may_forge, settle);
}
