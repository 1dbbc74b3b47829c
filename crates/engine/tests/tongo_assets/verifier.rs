//! docs/verify_tongo_assets.py, which shares no code with the engine, agrees with it about whole
//! games with every rule set: those of erratic tables, and of seats that play for showdowns. It
//! refuses forgeries and names the rule.

use crate::support::desk::coins;
use crate::support::records::{Forgery, check_verifier};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::chance::{ChanceAnswer, Commitment};
use bahay_engine::coins::Coins;
use bahay_engine::game::Hits;
use bahay_engine::games::tongo_assets::{Action, Rules, TongoAssets};
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, Record};
use bahay_engine::testing;

/// Returns the named rule sets, and some whose games reach showdowns, debts and bribes.
fn rule_sets() -> [Rules; 5] {
    let short = Rules { rounds_max: 2, confront_all_rounds: 0, ..Rules::advanced() };
    let rich = Rules { latinum: 2_000, bribes: true, winner_share: 80, ..short };
    [Rules::standard(), Rules::personal(), Rules::advanced(), short, rich]
}

fn simulation(rules: Rules, seed: u64) -> Simulation<TongoAssets> {
    let hits = Hits { second_hit_bonus: 1, to_win: 3, ante: 1 };
    let hits = seed.is_multiple_of(2).then_some(hits);
    let terms = testing::terms(rules, hits, Coins::from_hundredths(50), 3);
    Simulation::new(seed, terms, Habits::ROUGH, coins(30_000))
}

const FORGERIES: &[Forgery<TongoAssets>] = &[
    ("commitment", "1.7", |record| {
        record.commitment = Commitment::NONE;
        true
    }),
    ("deal", "1.7", |record| {
        record.chance[0] = ChanceAnswer::Number(9);
        true
    }),
    ("debt", "6.3", |record| {
        record.outcome.debts[0].items[0].counts += 1;
        true
    }),
    ("winner", "6.2", |record| {
        record.outcome.winner = Seat::new(7);
        true
    }),
    ("fee", "6.3", |record| {
        let fee = &mut record.settlement.fees[0].fee;
        *fee = Coins::from_hundredths(fee.hundredths() - 1);
        true
    }),
    ("price", "1.5", |record| {
        let bet = &mut record.terms.price.bet;
        *bet = Coins::from_hundredths(bet.hundredths() + 2);
        true
    }),
    ("end", "6.4", |record| record.actions.pop().is_some()),
    ("opening", "3.7", |record| {
        let opening = record.actions.iter_mut().find_map(|taken| match &mut taken.action {
            Action::Open { risk, .. } => Some((&mut taken.by, risk)),
            _ => None,
        });
        opening.map(|(by, risk)| (*by, *risk) = (ActionOrigin::Player, 40)).is_some()
    }),
];

#[test]
fn the_independent_verifier_agrees_about_every_record_and_finds_what_was_forged() {
    let (mut records, mut endings) = (Vec::new(), [0_u32; 3]);
    for (seed, rules) in (1..).zip(rule_sets()) {
        simulation(rules, seed).play(12, |_, record| {
            let state = record.replay(|_| ()).expect("a record that verifies");
            endings[state.public().end.expect("the game is over").ending as usize] += 1;
            records.push((format!("game {} of rule set {seed}", records.len()), record.clone()));
        });
    }
    assert!(endings.iter().all(|games| *games > 0), "last in, acquisition, showdown: {endings:?}");
    let has_fee = |(_, record): &&(_, Record<TongoAssets>)| !record.settlement.fees.is_empty();
    let (_, last) = records.iter().rfind(has_fee).expect("somebody won something");
    check_verifier(&records, FORGERIES, |record| record == last, |_| ());
}
