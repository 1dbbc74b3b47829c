//! Fairness of deals: frequencies of cards by position, of pairs of successive cards, and of rises,
//! counted over many deals and compared with fair shuffling.
//!
//! Each figure must lie within its 99 % range for fair deals. The series is fixed, so the outcome
//! is deterministic; `DEALS=10000000 cargo test --release -p bahay-engine --test engine deals`
//! lengthens it. Deals do not depend on the players, so the result also holds for seats that the AI
//! plays.

use std::fmt;
use std::ops::RangeInclusive;

use bahay_engine::chance::{ChanceAnswer, ChanceRng, Contribution, Key, Request, ServerSeed};
use bahay_engine::hex::Hex;

const CARDS: usize = 52;

/// A figure with its name and the range, in thousandths, in which it lies in 99 of 100 fair series.
struct Figure {
    name: &'static str,
    value: i128,
    fair: RangeInclusive<i128>,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, fair } = self;
        write!(f, "{name}: {value} thousandths, fair are {fair:?}")
    }
}

impl Figure {
    fn is_fair(&self) -> bool {
        self.fair.contains(&self.value)
    }
}

/// The counted frequencies.
struct DealFrequencies {
    deals: i128,
    /// By position and card.
    places: Vec<[i64; CARDS]>,
    /// The cards of the first two positions, and of the positions at which the second hand ends and
    /// the third begins.
    pairs: [Vec<[i64; CARDS]>; 2],
    /// Positions at which a higher card follows a lower one.
    rises: i128,
}

impl DealFrequencies {
    fn of(deals: impl Iterator<Item = Vec<u8>>) -> Self {
        let table = || vec![[0; CARDS]; CARDS];
        let mut tally = Self { deals: 0, places: table(), pairs: [table(), table()], rises: 0 };
        for deal in deals {
            tally.deals += 1;
            for (place, card) in deal.iter().enumerate() {
                tally.places[place][usize::from(*card)] += 1;
            }
            for (pairs, place) in tally.pairs.iter_mut().zip([0, 24]) {
                pairs[usize::from(deal[place])][usize::from(deal[place + 1])] += 1;
            }
            let rises = deal.windows(2).filter(|two| two[0] < two[1]).count();
            tally.rises += i128::try_from(rises).expect("fewer than there are cards");
        }
        tally
    }

    fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![self.places(), self.rises()];
        figures.extend(self.pairs.iter().map(|pairs| self.pairs(pairs)));
        figures
    }

    /// Both cards and positions sum to a constant, so 51² of the 52² cells are free, and the sum is
    /// too large by the factor 52/51.
    fn places(&self) -> Figure {
        let cells = self.places.iter().flatten();
        let sum = deviation(cells.copied(), 52, self.deals) * 51 / 52;
        // χ² with 2,601 degrees of freedom lies between these bounds in 99 of 100 cases.
        Figure { name: "cards by place", value: sum, fair: 2_418_900..=2_790_400 }
    }

    /// 52 × 51 equally likely pairs of cards: 2,651 degrees of freedom.
    fn pairs(&self, pairs: &[[i64; CARDS]]) -> Figure {
        let rows = pairs.iter().enumerate();
        let cells = rows.flat_map(|(first, row)| {
            let seconds = row.iter().enumerate().filter(move |(second, _)| *second != first);
            seconds.map(|(_, count)| *count)
        });
        let sum = deviation(cells, 52 * 51, self.deals);
        Figure { name: "pairs", value: sum, fair: 2_467_100..=2_842_200 }
    }

    /// A permutation of 52 has 25.5 rises on average, with a variance of 53/12; so the squared
    /// deviation in units of the variance is below 6.635 in 99 of 100 cases.
    fn rises(&self) -> Figure {
        let twice_off = 2 * self.rises - 51 * self.deals;
        let value = twice_off * twice_off * 12_000 / (4 * 53 * self.deals);
        Figure { name: "rises", value, fair: 0..=6_635 }
    }
}

/// Computes Σ (observed − expected)² ÷ expected over equally likely cells, in thousandths.
fn deviation(cells: impl Iterator<Item = i64>, kinds: i128, deals: i128) -> i128 {
    let off = cells.map(|seen| {
        let off = i128::from(seen) * kinds - deals;
        off * off
    });
    off.sum::<i128>() * 1_000 / (kinds * deals)
}

/// Returns the key of a numbered game, with seeds and game id as a house might draw them.
fn key(number: u64) -> Key {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let clients = [0, 1, 2].map(|seat| Contribution::from_text(format!("client {seat}")));
    ServerSeed(Hex(seed)).key(&u128::from(number).to_le_bytes(), &clients)
}

type Shuffle = fn(&mut ChanceRng) -> Vec<u8>;

/// Draws an order of 52 cards.
fn order(dice: &mut ChanceRng) -> Vec<u8> {
    match dice.draw(Request::Order(52)) {
        ChanceAnswer::Order(order) => order,
        ChanceAnswer::Number(_) => panic!("an order was asked for"),
    }
}

#[test]
fn deals_favour_nobody() {
    let deals = std::env::var("DEALS").map_or(300_000, |deals| deals.parse().expect("a number"));
    let tally =
        DealFrequencies::of((0..deals).map(|number| order(&mut ChanceRng::new(key(number)))));
    for figure in tally.figures() {
        println!("{figure}");
        assert!(figure.is_fair(), "{deals} deals: {figure}");
    }
}

/// The figures must detect a shuffle that swaps each card with any other instead of only with those
/// before it, one that rarely reaches the last card, and one that leaves a card in place slightly
/// too often.
#[test]
fn a_shuffle_that_favours_somebody_is_found() {
    let everywhere = |dice: &mut ChanceRng| {
        let mut order: Vec<u8> = (0..52).collect();
        for place in 0..CARDS {
            order.swap(place, dice.below(52));
        }
        order
    };
    let shy = |dice: &mut ChanceRng| {
        let mut order = order(dice);
        if dice.below(20) == 0 {
            let last = order.iter().position(|card| *card == 51).expect("each card is there");
            order.swap(last, 51);
        }
        order
    };
    let clinging = |dice: &mut ChanceRng| {
        let mut order = order(dice);
        if dice.below(10) == 0 && order[0] > order[1] {
            order.swap(0, 1);
        }
        order
    };
    let shuffles: [(&str, Shuffle); 3] =
        [("everywhere", everywhere), ("shy", shy), ("clinging", clinging)];
    for (name, shuffle) in shuffles {
        let tally = DealFrequencies::of(
            (0..100_000).map(|number| shuffle(&mut ChanceRng::new(key(number)))),
        );
        assert!(tally.figures().iter().any(|figure| !figure.is_fair()), "{name} passes for fair");
    }
}
