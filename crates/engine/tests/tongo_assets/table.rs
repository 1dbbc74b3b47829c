//! Tables of Tongo (assets) in virtual time under erratic players with varying numbers of seats:
//! coins, the journal and the record are consistent whatever they do, at a count of half a bet.

use crate::support::desk::coins;
use crate::support::{check_coins, check_journal, check_records, with_each_seed};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, Hits};
use bahay_engine::games::tongo_assets::{Rules, TongoAssets};
use bahay_engine::table::{ActionOrigin, Price, Record, Terms};
use bahay_engine::testing;

fn terms(rules: Rules, hits: Option<Hits>) -> Terms<Rules> {
    testing::terms(rules, hits, Coins::from_hundredths(50), 3)
}

fn simulation(seed: u64) -> Simulation<TongoAssets> {
    let rules = match seed % 3 {
        0 => Rules { bribes: true, ..Rules::advanced() },
        1 => Rules::standard(),
        _ => Rules::personal(),
    };
    let hits = seed.is_multiple_of(2).then(Hits::default);
    Simulation::new(seed, terms(rules, hits), Habits::ROUGH, coins(2_000))
}

#[test]
fn no_coin_is_lost_or_made_and_every_record_verifies() {
    with_each_seed(6, |seed| {
        check_coins(&mut simulation(seed), 12);
        check_journal(&mut simulation(seed), 12);
        let by = check_records(simulation(seed), 12, check_fees);
        assert!(by[ActionOrigin::Player as usize] > 0, "{by:?}");
    });
}

/// Rule 6.3: a seat receives its final chips above its initial ones, less the fee of a twentieth,
/// rounded down.
fn check_fees(record: &Record<TongoAssets>) {
    let state = record.replay(|_| ()).expect("a record that verifies");
    let (before, half_bet) = (record.terms.rules.latinum * 2, 75);
    for fee in &record.settlement.fees {
        let halves = state.half_chips(fee.seat).checked_sub(before).expect("who receives has won");
        let gross = i64::from(halves) * half_bet;
        // A second hit may add to it, and a stake may run out.
        if record.terms.hits.is_none()
            && record.settlement.payments.iter().all(|p| p.owed == p.paid)
        {
            assert_eq!(fee.gross.hundredths(), gross);
        }
        assert_eq!(fee.fee.hundredths(), fee.gross.hundredths() * 5 / 100);
    }
}

/// A stake covers all chips at half a bet for each half chip; a price without a half is refused.
#[test]
fn the_stake_is_a_hundred_chips_and_an_uneven_bet_is_no_price() {
    let mut terms = terms(Rules::standard(), None);
    let stake = terms.stake_max(6);
    assert_eq!(stake, Some(Coins::from_hundredths(100 * 150)));
    assert_eq!(terms.wallet_min(), stake);
    terms.price = Price { bet: Coins::from_hundredths(101), multiplier: 1, fee_basis_points: 500 };
    let per_bet = terms.rules.counts_per_bet();
    assert_eq!(terms.price.count_price(per_bet).expect_err("it is odd").field, "bet");
    assert_eq!(terms.wallet_min(), None);
}
