//! Tests of contests of all games.

use alloc::vec;
use alloc::vec::Vec;

use super::{Contest, ContestTally, DEAL, DEALS_PER_SERIES, Grade};
use alloc::string::ToString;
use bahay_engine::catalog;
use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::chance::{ChanceRng, Request};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, SeatRange};
use bahay_engine::table::{Price, Terms};
use bahay_engine::testing;

fn contest(
    rules: AnyRules,
    hits: Option<bahay_engine::game::Hits>,
    bots: &[Grade],
) -> Contest<AnyRules> {
    let terms = testing::terms(rules, hits, Coins::from_hundredths(100), 1);
    Contest { terms, bots: bots.to_vec(), seed: 7, is_duplicate: true }
}

/// The bots that do not search.
const SWIFT: [Grade; 4] = [Grade::Random, Grade::Clock, Grade::Greedy, Grade::Quick];

fn some_seats(SeatRange { least, most }: SeatRange) -> usize {
    usize::from(most.min(least + 1))
}

fn every_contest(is_duplicate: bool) -> Vec<Contest<AnyRules>> {
    let sets = catalog::kinds().into_iter().flat_map(|kind| kind.rule_sets);
    sets.map(|set| {
        let seats = some_seats(set.rules.seats());
        let bots: Vec<Grade> = SWIFT.into_iter().cycle().take(seats).collect();
        Contest { is_duplicate, ..contest(set.rules, set.hits, &bots) }
    })
    .collect()
}

#[test]
fn rotations_cover_all_seats_and_deals_differ() {
    for contest in every_contest(true) {
        assert_eq!(contest.rotations(), contest.bots.len());
        let deck = |deal| ChanceRng::new(contest.key(deal, DEAL)).draw(Request::Order(52));
        assert_ne!(deck(0), deck(1));
        let bots = contest.bots.len();
        for seat in 0..bots {
            let mut there: Vec<usize> =
                (0..bots).map(|rotation| contest.bots_by_seat(3, rotation)[seat]).collect();
            there.sort_unstable();
            assert_eq!(there, (0..bots).collect::<Vec<_>>());
        }
    }
}

/// Identical bots play each rotation of a deal to the same end at the same seats, so each of them
/// wins exactly its share of every deal. This holds only if the deals are the same.
#[test]
fn identical_bots_win_equal_shares() {
    for Contest { terms, bots, .. } in every_contest(true) {
        let alike = contest(terms.rules, None, &vec![Grade::Greedy; bots.len()]);
        let tally: ContestTally = alike.play_series::<AnyGame>(0);
        assert_eq!(tally.games(), alike.games_per_series());
        let wins: Vec<i128> = (0..bots.len()).map(|bot| tally.wins(bot)).collect();
        assert!(wins.iter().all(|one| *one == wins[0]), "{wins:?}");
        let share = tally.win_share(0).unwrap();
        assert_eq!(share.half_width, 0, "no deal differs from another: {share:?}");
    }
}

#[test]
fn series_are_deterministic_and_merge_in_any_order() {
    for contest in every_contest(true).into_iter().chain(every_contest(false)) {
        let series: Vec<ContestTally> =
            (0..2).map(|number| contest.play_series::<AnyGame>(number)).collect();
        assert_eq!(series[0], contest.play_series::<AnyGame>(0));
        assert_ne!(series[0], series[1]);
        let other = Contest { seed: 8, ..contest.clone() };
        assert_ne!(series[0], other.play_series::<AnyGame>(0));
        let mut sums =
            [ContestTally::new(contest.bots.len()), ContestTally::new(contest.bots.len())];
        series.iter().for_each(|tally| sums[0].merge(tally));
        series.iter().rev().for_each(|tally| sums[1].merge(tally));
        assert_eq!(sums[0], sums[1]);
        assert_eq!(sums[0].games(), 2 * contest.games_per_series());
        let ended: u64 = catalog::kinds()
            .iter()
            .filter(|kind| kind.name == contest.terms.rules.kind())
            .flat_map(|kind| kind.endings)
            .map(|ending| sums[0].games_ended_by(ending.name))
            .sum();
        assert_eq!(ended, sums[0].games());
    }
}

/// Receipts equal payments: the difference is the fee and the POTs not yet won.
#[test]
fn coins_are_conserved_except_for_the_fee() {
    for contest in every_contest(true) {
        let tally = contest.play_series::<AnyGame>(0);
        let bots = 0..contest.bots.len();
        let coins: i128 = bots.clone().map(|bot| tally.coin_sums(bot).0).sum();
        let pots: i128 = bots.map(|bot| tally.coin_sums(bot).1).sum();
        assert!(coins <= 0 && pots <= 0, "{coins} {pots}");
        assert_eq!(pots == 0, contest.terms.hits.is_none());
        let free = Contest {
            terms: Terms {
                price: Price { fee_basis_points: 0, ..contest.terms.price },
                hits: None,
                ..contest.terms.clone()
            },
            ..contest.clone()
        };
        let tally = free.play_series::<AnyGame>(0);
        let coins: i128 = (0..free.bots.len()).map(|bot| tally.coin_sums(bot).0).sum();
        assert_eq!(coins, 0, "without a fee nothing is lost");
    }
}

#[test]
fn without_duplicates_each_deal_is_played_once_and_seats_rotate() {
    for contest in every_contest(false) {
        assert_eq!(contest.play_series::<AnyGame>(0).games(), u64::from(DEALS_PER_SERIES));
        assert_ne!(contest.bots_by_seat(0, 0), contest.bots_by_seat(1, 0));
    }
}

#[test]
fn an_unknown_bot_name_yields_the_list_of_bots() {
    for grade in Grade::ALL {
        assert_eq!(grade.name().parse(), Ok(grade));
    }
    assert_eq!("strong:12".parse(), Ok(Grade::Strong { games: 12 }));
    assert!("strong:many".parse::<Grade>().is_err());
    let unknown = "gready".parse::<Grade>().unwrap_err();
    assert_eq!(unknown.to_string(), "the bots are random, clock, greedy, quick, strong");
}
