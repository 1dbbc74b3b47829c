//! Tables of Tongo (options) in virtual time under erratic players: coins and the journal are
//! consistent, every record verifies, and the clock plays as rule 9.1 says.

use crate::support::desk::coins;
use crate::support::{
    assert_all_acted, check_coins, check_journal, check_records, settled_records,
};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::game::{GameKind, GameRules, Hits};
use bahay_engine::games::tongo_options::{Rules, TongoOptions};
use bahay_engine::testing;

/// Returns a table of erratic players.
pub fn simulation(seed: u64, rules: Rules, hits: Option<Hits>) -> Simulation<TongoOptions> {
    played(seed, rules, hits, Habits::ROUGH)
}

fn played(seed: u64, rules: Rules, hits: Option<Hits>, habits: Habits) -> Simulation<TongoOptions> {
    let terms = testing::terms(rules, hits, coins(1), 1);
    Simulation::new(seed, terms, habits, coins(500))
}

/// Checks every rule set with few and many seats, with and without a POT.
fn with_each_table(check: impl Fn(Simulation<TongoOptions>)) {
    for (seed, set) in (1..).zip(TongoOptions::rule_sets()) {
        for (seats_min, seats_max) in [(2, 4), (2, 2), (3, 8)] {
            for hits in [None, Some(Hits::default())] {
                let rules = Rules { seats_min, seats_max, ..(set.rules)() };
                check(simulation(seed, rules, hits));
            }
        }
    }
}

#[test]
fn no_coin_is_lost_or_made_whatever_players_do() {
    with_each_table(|mut house| {
        check_coins(&mut house, 25);
        assert!(house.refusal_count() > 0, "rough players were never refused");
    });
}

#[test]
fn the_journal_alone_rebuilds_the_table() {
    with_each_table(|mut house| check_journal(&mut house, 8));
}

/// Rule 8.3, and records that anybody can verify.
#[test]
fn every_record_verifies_and_the_winner_gets_what_others_paid() {
    with_each_table(|house| {
        let by = check_records(house, 25, |record| {
            let winner = record.outcome.winner.expect("somebody wins");
            for debt in &record.outcome.debts {
                assert!(debt.to == winner && debt.from != winner);
                assert!((1..=100).contains(&debt.counts()), "{debt:?}");
            }
            let paid: i64 =
                record.settlement.payments.iter().map(|payment| payment.paid.hundredths()).sum();
            let fees: i64 = record.settlement.fees.iter().map(|fee| fee.fee.hundredths()).sum();
            assert_eq!(fees, paid * 500 / 10_000);
        });
        assert_all_acted(by);
    });
}

/// Rule 2.1: the winner deals the next game.
#[test]
fn the_winner_deals_the_next_game() {
    let mut house = played(3, Rules::lively(), None, Habits::default());
    let mut last_winner = None;
    house.play(30, |_, record| {
        let is_last = |player| Some(player) == last_winner;
        let expected = record.players.iter().position(|player| is_last(*player));
        assert_eq!(record.starter.map(|seat| seat.index()), expected);
        last_winner = record.settlement.winner.map(|seat| record.players[seat.index()]);
    });
}

/// A tampered record fails.
#[test]
fn a_tampered_record_fails() {
    for record in settled_records(played(5, Rules::seed(), None, Habits::default()), 3) {
        let mut cut = record.clone();
        cut.actions.pop();
        assert!(cut.verify().is_err());
        let mut richer = record.clone();
        richer.outcome.debts[0].items[0].counts += 1;
        assert!(richer.verify().is_err());
        let mut other = record.clone();
        other.outcome.winner = other.outcome.winner.map(|seat| seat.next(2));
        assert!(other.verify().is_err());
        let mut redealt = record;
        let last = redealt.chance.pop();
        redealt.chance.extend(last.clone());
        redealt.chance.extend(last);
        assert!(redealt.verify().is_err());
    }
}

#[test]
fn a_seat_can_lose_all_its_chips_and_no_more() {
    assert_eq!(Rules::lively().counts_max(8), 100);
}
