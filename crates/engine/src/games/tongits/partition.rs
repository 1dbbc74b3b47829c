//! The search for the best partition of a hand (rule 1.10).
//!
//! The search is exact and bounded. Each rank with three or more cards offers the choice of a set
//! or none, which gives at most 6 × 6 × 6 combinations for thirteen cards. Given the chosen sets,
//! the runs among the remaining cards need no search: covering every maximal run completely leaves
//! the fewest points, and its division into secret and other runs is arithmetic. Only combinations
//! that are equal in the first three criteria have their melds constructed and compared.
//!
//! Jokers are ignored here; `arrange` tries their positions.

use core::cmp::Ordering;

use arrayvec::ArrayVec;

use crate::cards::CardSet;
use crate::games::tongits::lanes::Lanes;
use crate::games::tongits::meld::lane_points;

/// A minimum length longer than any run, with which no run is secret.
const NO_RUN: u32 = 64;

/// The maximum number of disjoint melds in the longest hand, of seventeen cards.
pub(super) const MELDS_MAX: usize = 5;

/// The first three criteria as one number; a lower one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartitionKey(u32);

impl PartitionKey {
    const WORST: Self = Self(u32::MAX);

    const fn new(deadwood: u32, secrets: u32, melds: u32) -> Self {
        Self(deadwood << 16 | (255 - secrets) << 8 | (255 - melds))
    }

    /// Returns the key of the same partition with additional melds.
    pub(super) const fn with_melds(self, melds: u32) -> Self {
        Self(self.0 - melds)
    }

    pub(super) const fn deadwood(self) -> u32 {
        self.0 >> 16
    }

    pub(super) const fn secrets(self) -> u32 {
        255 - (self.0 >> 8 & 255)
    }

    pub(super) const fn melds(self) -> u32 {
        255 - (self.0 & 255)
    }
}

/// The possible sets of one rank, including none.
type SetChoices = ArrayVec<u64, 6>;

/// The best choice of sets found so far.
#[derive(Clone, Debug)]
pub(super) struct PartitionSearch {
    hand: u64,
    pub(super) key: PartitionKey,
    /// The number of cards in the shortest secret run.
    secret_run_min: u32,
    /// The chosen sets, in lanes; the chosen set of a rank consists of its cards in this mask.
    sets: u64,
}

impl PartitionSearch {
    pub(super) fn search_hand(hand: CardSet, secret_run_min: u8) -> Self {
        let hand = Lanes::from_cards(hand);
        let secret_run_min = if secret_run_min == 0 { NO_RUN } else { u32::from(secret_run_min) };
        let mut search = Self { hand: hand.0, key: PartitionKey::WORST, secret_run_min, sets: 0 };
        let ranks = hand.ranks_of_three();
        search.choose_sets(ranks, hand.run_cards().0, 0, 0, 0);
        search
    }

    /// Enumerates the choices for the remaining ranks, given the sets chosen of the earlier ones.
    fn choose_sets(&mut self, ranks: u16, run_cards: u64, sets: u64, fours: u32, count: u32) {
        if ranks == 0 {
            self.consider_sets(sets, fours, count);
            return;
        }
        let rank = ranks.trailing_zeros();
        let others = ranks & (ranks - 1);
        for set in set_choices(self.hand, rank, run_cards) {
            let is_four = u32::from(set == Lanes::from_rank(rank).0);
            let is_set = u32::from(set != 0);
            self.choose_sets(others, run_cards, sets | set, fours + is_four, count + is_set);
        }
    }

    fn consider_sets(&mut self, sets: u64, fours: u32, count: u32) {
        let rest = Lanes(self.hand & !sets);
        let runs = rest.run_cards().0;
        let deadwood = lane_points(Lanes(rest.0 & !runs));
        if deadwood > self.key.deadwood() {
            return;
        }
        let mut secrets = fours;
        let mut melds = count;
        for length in segments(runs).map(|(_, length)| length) {
            let split = RunSplit::new(length, self.secret_run_min);
            secrets += split.secrets;
            melds += split.melds;
        }
        let key = PartitionKey::new(deadwood, secrets, melds);
        let other = Self { key, sets, ..*self };
        if key < self.key || key == self.key && other.has_lesser_melds_than(self) {
            *self = other;
        }
    }

    /// Applies the fourth criterion to choices that are equal in the first three.
    fn has_lesser_melds_than(&self, other: &Self) -> bool {
        is_lesser_list(&self.partition(), &other.partition())
    }

    /// Returns the leftover cards of this choice.
    pub(super) const fn leftover(&self) -> Lanes {
        let rest = Lanes(self.hand & !self.sets);
        Lanes(rest.0 & !rest.run_cards().0)
    }

    /// Returns the melds of this choice, in ascending order of their lists of card indices.
    pub(super) fn partition(&self) -> ArrayVec<CardSet, MELDS_MAX> {
        let mut melds = ArrayVec::<CardSet, MELDS_MAX>::new();
        let mut sets = self.sets;
        while sets != 0 {
            let rank = sets.trailing_zeros() % 16;
            melds.push(Lanes(sets & Lanes::from_rank(rank).0).cards());
            sets &= !Lanes::from_rank(rank).0;
        }
        for (start, length) in segments(Lanes(self.hand & !self.sets).run_cards().0) {
            let mut from = start;
            for length in RunSplit::new(length, self.secret_run_min).lengths() {
                melds.push(Lanes(((1 << length) - 1) << from).cards());
                from += length;
            }
        }
        melds.sort_unstable_by(|a, b| order_of_melds(*a, *b));
        melds
    }
}

/// Returns the sets worth choosing of a rank with three or four cards; zero stands for no set.
///
/// A card that belongs to no run is left over unless a set contains it. A set without such a card
/// is therefore worse than the same set with it, and choosing no set is worse than a set of three
/// such cards.
fn set_choices(hand: u64, rank: u32, run_cards: u64) -> SetChoices {
    let cards = hand & Lanes::from_rank(rank).0;
    let only_in_set = Lanes(cards & !run_cards);
    let mut choices = SetChoices::new();
    if only_in_set.count_of_rank(rank) < 3 {
        choices.push(0);
    }
    choices.push(cards);
    let mut left_out = cards & run_cards;
    if cards == Lanes::from_rank(rank).0 {
        while left_out != 0 {
            choices.push(cards & !(left_out & left_out.wrapping_neg()));
            left_out &= left_out - 1;
        }
    }
    choices
}

/// Returns the maximal runs, each as the bit of its first card and its number of cards.
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

/// The division of a maximal run into the most secret runs, then into the most runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunSplit {
    length: u32,
    secret_run_min: u32,
    secrets: u32,
    melds: u32,
}

impl RunSplit {
    const fn new(length: u32, secret_run_min: u32) -> Self {
        let mut secrets = 0;
        let mut left = length;
        while left >= secret_run_min {
            left -= secret_run_min;
            secrets += 1;
        }
        Self { length, secret_run_min, secrets, melds: secrets + left / 3 }
    }

    /// Returns the lengths of the least list: the shortest runs first, and the last run with the
    /// remaining cards.
    fn lengths(self) -> impl Iterator<Item = u32> {
        let mut left = self.length;
        let shorts = self.melds - self.secrets;
        (0..self.melds).map(move |place| {
            let least = if place < shorts { 3 } else { self.secret_run_min };
            let length = if place + 1 == self.melds { left } else { least };
            left -= length;
            length
        })
    }
}

/// Returns whether the first of two lists with equally many melds precedes the second.
pub(super) fn is_lesser_list(ours: &[CardSet], theirs: &[CardSet]) -> bool {
    let mut pairs = ours.iter().zip(theirs);
    pairs.find(|(a, b)| a != b).is_some_and(|(a, b)| order_of_melds(*a, *b) == Ordering::Less)
}

/// Compares two different melds as lists of ascending indices. The lower card at the first
/// difference decides, and a prefix precedes the longer list.
pub(super) fn order_of_melds(a: CardSet, b: CardSet) -> Ordering {
    a.iter().cmp(b.iter())
}

#[cfg(test)]
mod tests {
    use super::{NO_RUN, RunSplit};
    use alloc::vec::Vec;

    /// Rule 1.6; no run is secret in classic.
    #[test]
    fn a_long_run_splits_into_the_most_secret_runs_then_into_the_most() {
        let with_secrets: [&[u32]; 11] =
            [&[3], &[4], &[5], &[6], &[7], &[3, 5], &[3, 6], &[5, 5], &[5, 6], &[5, 7], &[3, 5, 5]];
        let without: [&[u32]; 7] = [&[3], &[4], &[5], &[3, 3], &[3, 4], &[3, 5], &[3, 3, 3]];
        for (secret_run_min, table) in [(5, &with_secrets[..]), (NO_RUN, &without[..])] {
            for (length, expected) in (3..).zip(table) {
                let lengths: Vec<u32> = RunSplit::new(length, secret_run_min).lengths().collect();
                assert_eq!(lengths, *expected, "{length} cards, secret from {secret_run_min}");
            }
        }
    }
}
