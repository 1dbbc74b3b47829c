//! Tables of Tongo (assets) in virtual time under erratic players with varying numbers of seats:
//! coins, the journal and the record are consistent whatever they do, at a count of half a bet.

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, Hits, Skill};
use bahay_engine::games::tongo_assets::{Rules, TongoAssets};
use bahay_engine::table::{ActionOrigin, Clocks, Price, Record, Spectators, Table, Terms};

fn terms(rules: Rules, hits: Option<Hits>) -> Terms<Rules> {
    Terms {
        room: "newbie".to_owned(),
        rules,
        price: Price { bet: Coins::from_hundredths(50), multiplier: 3, fee_basis_points: 500 },
        hits,
        clocks: Clocks::default(),
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: None,
        practice: false,
    }
}

fn simulation(seed: u64) -> Simulation<TongoAssets> {
    let rules = match seed % 3 {
        0 => Rules { bribes: true, ..Rules::advanced() },
        1 => Rules::standard(),
        _ => Rules::personal(),
    };
    let hits = seed.is_multiple_of(2).then(Hits::default);
    let welcome = Coins::from_whole(2_000).expect("a wallet");
    Simulation::new(seed, terms(rules, hits), Habits::ROUGH, welcome)
}

/// Returns the seeds of a run: fixed ones, and one of the day if CI sets it.
fn seeds() -> Vec<u64> {
    let given = std::env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok());
    given.map_or_else(|| (1..=6).collect(), |seed| vec![seed])
}

#[test]
fn no_coin_is_lost_or_made_and_every_record_verifies() {
    for seed in seeds() {
        let mut house = simulation(seed);
        let (mut games, mut by) = (0, [0_u32; 3]);
        let mut replayed = house.table().clone();
        while games < 12 {
            let happened = house.step();
            assert_eq!(house.missing_coins(), Coins::ZERO, "seed {seed}");
            let text = serde_json::to_string(&happened.line).expect("JSON");
            let line = serde_json::from_str(&text).expect("a line that was written");
            let (table, events) = replayed.apply_line(&line).expect("a line that was accepted");
            assert_eq!(events, happened.events, "seed {seed}");
            replayed = table;
            assert_eq!(&replayed, house.table(), "seed {seed}");
            let Some(record) = happened.record else { continue };
            record.verify().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            let text = serde_json::to_string(&record).expect("JSON");
            let read: Record<TongoAssets> = serde_json::from_str(&text).expect("a record");
            assert_eq!(read, record, "seed {seed}");
            for taken in &record.actions {
                by[taken.by as usize] += 1;
            }
            check_fees(&record);
            games += 1;
        }
        assert!(by[ActionOrigin::Player as usize] > 0, "seed {seed}: {by:?}");
        let snapshot = serde_json::to_string(&replayed).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Table<TongoAssets>>(&snapshot).expect("a table"),
            replayed
        );
    }
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
