//! The arrangement of a hand (rule 1.10): the one partition into disjoint melds and leftover
//! cards with the fewest leftover points, then the most secret melds, then the most melds, then
//! the least list of melds.
//!
//! Exact and bounded. A rank with three or more cards gives a set to choose or not; for each
//! combination of such choices (at most 6 × 6 × 6 for thirteen cards) the runs in what remains
//! follow without search: every maximal run is covered whole, which leaves the fewest points, and
//! how many secret and other runs it splits into is arithmetic. Only combinations that are equal
//! in all three numbers have their melds written out and compared.
//!
//! Read as docs/rules/tongits.md decides: melds are lists of ascending card indices, sorted, and
//! two partitions compare as lists of such lists.

use core::cmp::Ordering;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::cards::CardSet;
use crate::games::tongits::lanes::Lanes;
use crate::games::tongits::meld::{is_secret, lane_points};

/// The most disjoint melds in the longest hand: seventeen cards.
const MELDS_MAX: usize = 5;

/// The arrangement of a hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrangement {
    /// In ascending order of their lists of card indices.
    pub melds: ArrayVec<CardSet, MELDS_MAX>,
    pub leftover: CardSet,
    /// The points of the leftover cards (rule 1.11).
    pub deadwood: u32,
}

impl Arrangement {
    /// The arrangement of a hand of up to seventeen cards.
    pub fn of(hand: CardSet) -> Self {
        let best = Search::over(hand);
        let mut melds = best.partition();
        melds.sort_unstable_by(|a, b| order_of_melds(*a, *b));
        let melded = melds.iter().fold(CardSet::EMPTY, |sum, meld| sum.union(*meld));
        Self { melds, leftover: hand.difference(melded), deadwood: best.key.deadwood() }
    }

    /// The secret melds in it (rules 1.6, 6.4).
    pub fn secret_melds(&self) -> u32 {
        self.melds.iter().map(|meld| u32::from(is_secret(*meld))).sum()
    }
}

/// The points that the arrangement leaves, without writing its melds out.
pub fn deadwood(hand: CardSet) -> u32 {
    let lanes = Lanes::from_cards(hand);
    if lanes.ranks_of_three() == 0 {
        return lane_points(Lanes(lanes.0 & !lanes.in_runs().0));
    }
    Search::over(hand).key.deadwood()
}

/// Whether the arrangement leaves no card over (rule 3.7).
pub fn leaves_nothing(hand: CardSet) -> bool {
    let lanes = Lanes::from_cards(hand);
    let mut meldable = lanes.in_runs().0;
    let mut ranks = lanes.ranks_of_three();
    while ranks != 0 {
        meldable |= Lanes::rank(ranks.trailing_zeros()).0;
        ranks &= ranks - 1;
    }
    lanes.0 & !meldable == 0 && deadwood(hand) == 0
}

/// The first three criteria as one number: less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u32);

impl Key {
    const WORST: Self = Self(u32::MAX);

    const fn new(deadwood: u32, secrets: u32, melds: u32) -> Self {
        Self(deadwood << 16 | (255 - secrets) << 8 | (255 - melds))
    }

    const fn deadwood(self) -> u32 {
        self.0 >> 16
    }
}

/// A set that may be chosen of one rank, or none.
type Choices = ArrayVec<u64, 6>;

/// The best choice of sets found so far, and what it chose.
#[derive(Clone, Debug)]
struct Search {
    hand: u64,
    key: Key,
    /// The chosen sets, in lanes; a rank's set is what of it is here.
    sets: u64,
}

impl Search {
    fn over(hand: CardSet) -> Self {
        let hand = Lanes::from_cards(hand);
        let mut search = Self { hand: hand.0, key: Key::WORST, sets: 0 };
        let ranks = hand.ranks_of_three();
        search.choose(ranks, hand.in_runs().0, 0, 0, 0);
        search
    }

    /// Goes through the choices for the remaining ranks, given the sets chosen of earlier ones.
    fn choose(&mut self, ranks: u16, in_runs: u64, sets: u64, fours: u32, count: u32) {
        if ranks == 0 {
            self.consider(sets, fours, count);
            return;
        }
        let cards = self.hand & Lanes::rank(ranks.trailing_zeros()).0;
        let others = ranks & (ranks - 1);
        for set in choices(cards, in_runs) {
            let is_four = u32::from(set.count_ones() == 4);
            let is_set = u32::from(set != 0);
            self.choose(others, in_runs, sets | set, fours + is_four, count + is_set);
        }
    }

    fn consider(&mut self, sets: u64, fours: u32, count: u32) {
        let rest = Lanes(self.hand & !sets);
        let runs = rest.in_runs().0;
        let deadwood = lane_points(Lanes(rest.0 & !runs));
        if deadwood > self.key.deadwood() {
            return;
        }
        let (mut secrets, mut melds) = (fours, count);
        for length in segments(runs).map(|(_, length)| length) {
            let split = Split::of(length);
            secrets += split.secrets;
            melds += split.melds;
        }
        let key = Key::new(deadwood, secrets, melds);
        let other = Self { hand: self.hand, key, sets };
        if key < self.key || key == self.key && other.is_before(self) {
            *self = other;
        }
    }

    /// The fourth criterion, for choices equal in the first three.
    fn is_before(&self, other: &Self) -> bool {
        let [mut ours, mut theirs] = [self.partition(), other.partition()];
        ours.sort_unstable_by(|a, b| order_of_melds(*a, *b));
        theirs.sort_unstable_by(|a, b| order_of_melds(*a, *b));
        let mut pairs = ours.iter().zip(&theirs);
        pairs.find(|(a, b)| a != b).is_some_and(|(a, b)| order_of_melds(*a, *b) == Ordering::Less)
    }

    /// The melds of this choice, in no order.
    fn partition(&self) -> ArrayVec<CardSet, MELDS_MAX> {
        let mut melds = ArrayVec::new();
        let mut sets = self.sets;
        while sets != 0 {
            let rank = sets.trailing_zeros() % 16;
            melds.push(Lanes(sets & Lanes::rank(rank).0).cards());
            sets &= !Lanes::rank(rank).0;
        }
        for (start, length) in segments(Lanes(self.hand & !self.sets).in_runs().0) {
            let mut from = start;
            for length in Split::of(length).lengths() {
                melds.push(Lanes(((1 << length) - 1) << from).cards());
                from += length;
            }
        }
        melds
    }
}

/// The sets worth choosing of a rank with three or four cards; zero is none.
///
/// A card that is in no run is left over unless a set takes it. So a set that leaves such a card
/// is worse than the same set with it, and no set at all is worse than one when three are such.
fn choices(cards: u64, in_runs: u64) -> Choices {
    let only_in_set = cards & !in_runs;
    let mut choices = Choices::new();
    if only_in_set.count_ones() < 3 {
        choices.push(0);
    }
    choices.push(cards);
    let mut left_out = cards & in_runs;
    if cards.count_ones() == 4 {
        while left_out != 0 {
            choices.push(cards & !(left_out & left_out.wrapping_neg()));
            left_out &= left_out - 1;
        }
    }
    choices
}

/// Maximal runs as bit of the first card and number of cards.
fn segments(mut runs: u64) -> impl Iterator<Item = (u32, u32)> {
    core::iter::from_fn(move || {
        if runs == 0 {
            return None;
        }
        let start = runs.trailing_zeros();
        let length = (runs >> start).trailing_ones();
        runs &= !(((1 << length) - 1) << start);
        Some((start, length))
    })
}

/// How a maximal run splits: into the most runs of five or more, then into the most runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Split {
    length: u32,
    secrets: u32,
    melds: u32,
}

impl Split {
    /// After the secret runs at most four cards are left: one more run of three, or none.
    const fn of(length: u32) -> Self {
        let secrets = length / 5;
        Self { length, secrets, melds: secrets + (length - 5 * secrets) / 3 }
    }

    /// The least list: the shortest runs first, the last takes what is left.
    fn lengths(self) -> impl Iterator<Item = u32> {
        let mut left = self.length;
        let shorts = self.melds - self.secrets;
        (0..self.melds).map(move |place| {
            let least = if place < shorts { 3 } else { 5 };
            let length = if place + 1 == self.melds { left } else { least };
            left -= length;
            length
        })
    }
}

/// The order of two different melds as lists of ascending indices: where they first differ the
/// lesser card decides, and a list that is the other's beginning comes first.
fn order_of_melds(a: CardSet, b: CardSet) -> Ordering {
    a.iter().cmp(b.iter())
}

#[cfg(test)]
mod tests {
    use super::{Arrangement, Split, deadwood, leaves_nothing};
    use crate::cards::CardSet;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    fn check(hand: &str, melds: &[&str], left: &str) {
        let arrangement = Arrangement::of(cards(hand));
        let found: Vec<_> = arrangement.melds.iter().map(ToString::to_string).collect();
        assert_eq!(found, melds, "{hand}");
        assert_eq!(arrangement.leftover, cards(left), "{hand}");
        assert_eq!(deadwood(cards(hand)), arrangement.deadwood);
        assert_eq!(leaves_nothing(cards(hand)), left.is_empty());
    }

    /// Rule 1.10, one criterion after the other.
    #[test]
    fn the_fewest_points_then_secrets_then_melds_then_the_least_list() {
        check("7C 7D 7H 8H 9H TH", &["7C 7D 7H", "8H 9H TH"], "");
        check("2C 3C 4C 4D 4H KS", &["4C 4D 4H"], "2C 3C KS");
        check("3C 4C 5C 6C 6D 6H 6S", &["3C 4C 5C", "6C 6D 6H 6S"], "");
        check("2C 3C 4C 5C 6C 6D 6H 6S", &["2C 3C 4C 5C", "6C 6D 6H 6S"], "");
        check("AC 2C 3C 4C 5C 6C 7C 8C", &["AC 2C 3C", "4C 5C 6C 7C 8C"], "");
        check("AC 2C 3C 4C 5C 6C 7C 8C 9C", &["AC 2C 3C", "4C 5C 6C 7C 8C 9C"], "");
        check("AC 2C 3C AD 2D 3D AH 2H 3H", &["AC 2C 3C", "AD 2D 3D", "AH 2H 3H"], "");
        check("", &[], "");
    }

    #[test]
    fn a_long_run_splits_into_the_most_secret_runs_first() {
        let lengths = |length| Split::of(length).lengths().collect::<Vec<_>>();
        let table: &[&[u32]] = &[
            &[3],
            &[4],
            &[5],
            &[6],
            &[7],
            &[3, 5],
            &[3, 6],
            &[5, 5],
            &[5, 6],
            &[5, 7],
            &[3, 5, 5],
        ];
        for (length, expected) in (3..).zip(table) {
            assert_eq!(lengths(length), *expected, "{length}");
        }
    }
}
