//! The arrangement of a hand (rule 1.10): the partition into disjoint melds and leftover cards that
//! has the fewest leftover points, then the most secret melds, then the most melds, then the
//! lexicographically least list of melds. `partition` searches for it. Clients offer it as an order
//! of the hand, beside the order by suit.
//!
//! A joker of the hand (rule 11.1) is left over or belongs to a meld. Every potentially necessary
//! use of the jokers is tried, each with the best partition of the remaining cards; `joker`
//! enumerates them. A hand with two jokers and many melds has some hundreds of such uses.
//!
//! As docs/rules/tongits.md specifies, melds are lists of ascending card indices, sorted, and two
//! partitions compare as lists of such lists.

use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet, Suit};
use crate::games::tongits::joker::for_each_needed_part;
use crate::games::tongits::lanes::Lanes;
use crate::games::tongits::meld::{is_secret, lane_points, points};
use crate::games::tongits::partition::{
    MELDS_MAX, PartitionKey, PartitionSearch, is_lesser_list, order_of_melds,
};
use crate::games::tongits::rules::Rules;

/// The arrangement of a hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrangement {
    /// The melds, in ascending order of their lists of card indices.
    pub melds: ArrayVec<CardSet, MELDS_MAX>,
    pub leftover: CardSet,
    /// The points of the leftover cards (rule 1.11).
    pub deadwood: u32,
}

impl Arrangement {
    /// Returns the arrangement of a hand of at most seventeen cards. `secret_run_min` is the value
    /// of the rules.
    pub fn from_hand(hand: CardSet, secret_run_min: u8) -> Self {
        if hand.has_joker() {
            let best = JokerPartition::find_best(hand, secret_run_min);
            return Self::from_melds(hand, best.melds(hand.jokers()), best.key);
        }
        let best = PartitionSearch::search_hand(hand, secret_run_min);
        Self::from_melds(hand, best.partition(), best.key)
    }

    fn from_melds(hand: CardSet, melds: ArrayVec<CardSet, MELDS_MAX>, key: PartitionKey) -> Self {
        let melded = melds.iter().fold(CardSet::EMPTY, |sum, meld| sum.union(*meld));
        Self { melds, leftover: hand.difference(melded), deadwood: key.deadwood() }
    }

    /// Returns the number of secret melds (rules 1.6, 6.4) for the same `secret_run_min`.
    pub fn secret_melds(&self, secret_run_min: u8) -> u32 {
        self.iter_secret(secret_run_min).map(|_| 1).sum()
    }

    /// Returns the secret melds for the same `secret_run_min`.
    pub fn iter_secret(&self, secret_run_min: u8) -> impl Iterator<Item = CardSet> {
        self.melds.iter().copied().filter(move |meld| is_secret(*meld, secret_run_min))
    }
}

/// The figures of an arrangement without its melds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandSummary {
    pub leftover: CardSet,
    pub deadwood: u32,
    pub melds: u32,
    pub secret_melds: u32,
}

impl HandSummary {
    /// Computes the figures of a hand without jokers.
    pub fn from_hand(hand: CardSet, secret_run_min: u8) -> Self {
        let best = PartitionSearch::search_hand(hand, secret_run_min);
        Self {
            leftover: best.leftover().cards(),
            deadwood: best.key.deadwood(),
            melds: best.key.melds(),
            secret_melds: best.key.secrets(),
        }
    }
}

/// Returns the points of the leftover cards, without constructing the melds.
pub fn deadwood(hand: CardSet) -> u32 {
    if hand.has_joker() {
        return deadwood_with_jokers(hand.naturals(), hand.jokers().len());
    }
    lane_points(unmelded(hand))
}

/// Returns the leftover cards of a hand's arrangement if no run is secret.
pub fn leftover(hand: CardSet) -> CardSet {
    if hand.has_joker() { Arrangement::from_hand(hand, 0).leftover } else { unmelded(hand).cards() }
}

/// Returns the leftover cards of a hand without jokers if no run is secret. The points do not
/// depend on which runs are secret.
fn unmelded(hand: CardSet) -> Lanes {
    unmelded_without_choice(hand)
        .unwrap_or_else(|| PartitionSearch::search_hand(hand, 0).leftover())
}

/// Returns the cards that belong to no set and no run of a hand without jokers; `None` if a card
/// belongs to both, so that a choice is necessary.
fn unmelded_without_choice(hand: CardSet) -> Option<Lanes> {
    let lanes = Lanes::from_cards(hand);
    let runs = lanes.run_cards().0;
    let sets = Lanes::from_ranks(lanes.ranks_of_three()).0;
    let unmelded = Lanes(lanes.0 & !runs & !sets);
    (sets & lanes.0 & runs == 0).then_some(unmelded)
}

#[cold]
fn deadwood_with_jokers(naturals: CardSet, jokers: usize) -> u32 {
    let mut least = deadwood(naturals);
    for_each_needed_part(naturals, |part| {
        if least == 0 {
            return;
        }
        let rest = naturals.difference(part);
        least = least.min(deadwood(rest));
        if jokers > 1 {
            // Visit each pair of parts once.
            for_each_needed_part(rest, |next| {
                if least > 0 && part < next {
                    least = least.min(deadwood(rest.difference(next)));
                }
            });
        }
    });
    least
}

/// Returns whether the arrangement leaves over no card but jokers (rules 3.7, 11.1).
pub fn leaves_nothing(hand: CardSet) -> bool {
    if hand.has_joker() {
        return deadwood(hand) == 0;
    }
    let lanes = Lanes::from_cards(hand);
    let meldable = lanes.run_cards().0 | Lanes::from_ranks(lanes.ranks_of_three()).0;
    lanes.0 & !meldable == 0 && deadwood(hand) == 0
}

/// Groups the hand by suit, each group in ascending order; jokers form a group of their own.
pub fn sort_by_suit(hand: CardSet) -> Vec<Vec<Card>> {
    let of_suit = |suit| hand.iter().filter(|card| card.suit() == Some(suit)).collect::<Vec<_>>();
    let suits = Suit::ALL.into_iter().map(of_suit);
    let groups = suits.chain([hand.jokers().iter().collect()]);
    groups.filter(|group| !group.is_empty()).collect()
}

/// Groups the hand by arrangement (rule 1.10): the melds, then the leftover cards by descending
/// points. Secret runs are those of `kingdom`, because a hand alone does not determine the rules.
pub fn sort_by_arrangement(hand: CardSet) -> Vec<Vec<Card>> {
    let arrangement = Arrangement::from_hand(hand, Rules::kingdom().secret_run_min);
    let mut groups: Vec<Vec<Card>> =
        arrangement.melds.iter().map(|meld| meld.iter().collect()).collect();
    let mut leftover: Vec<Card> = arrangement.leftover.iter().collect();
    leftover.sort_by_key(|card| Reverse((points(*card), card.rank(), card.suit())));
    if !leftover.is_empty() {
        groups.push(leftover);
    }
    groups
}

/// A partition of a hand with jokers: the melds with a joker, and the partition of the other cards.
#[derive(Clone, Debug)]
struct JokerPartition {
    key: PartitionKey,
    /// The natural parts of the melds with a joker, in ascending order.
    parts: ArrayVec<CardSet, 2>,
    rest: PartitionSearch,
}

impl JokerPartition {
    #[cold]
    fn find_best(hand: CardSet, secret_run_min: u8) -> Self {
        let plan = |naturals: CardSet, parts: &[CardSet]| {
            let rest = PartitionSearch::search_hand(naturals, secret_run_min);
            let key = parts.iter().fold(rest.key, |key, _| key.with_melds(1));
            Self { key, parts: parts.iter().copied().collect(), rest }
        };
        let naturals = hand.naturals();
        let jokers = hand.jokers();
        let mut best = plan(naturals, &[]);
        for_each_needed_part(naturals, |part| {
            let rest = naturals.difference(part);
            best.replace_if_better(plan(rest, &[part]), jokers);
            if jokers.len() > 1 {
                for_each_needed_part(rest, |next| {
                    if order_of_melds(part, next) == Ordering::Less {
                        best.replace_if_better(plan(rest.difference(next), &[part, next]), jokers);
                    }
                });
            }
        });
        best
    }

    fn replace_if_better(&mut self, other: Self, jokers: CardSet) {
        let is_better = other.key < self.key
            || other.key == self.key && is_lesser_list(&other.melds(jokers), &self.melds(jokers));
        if is_better {
            *self = other;
        }
    }

    /// Returns the melds in ascending order; the joker with the lower index belongs to the first
    /// meld with a joker.
    fn melds(&self, jokers: CardSet) -> ArrayVec<CardSet, MELDS_MAX> {
        let mut melds = self.rest.partition();
        melds.extend(self.parts.iter().zip(jokers.iter()).map(|(part, joker)| part.with(joker)));
        melds.sort_unstable_by(|a, b| order_of_melds(*a, *b));
        melds
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Arrangement, HandSummary, deadwood, leaves_nothing, sort_by_arrangement, sort_by_suit,
    };
    use crate::cards::{Card, CardSet};
    use crate::chance::ChanceRng;
    use crate::games::tongits::meld::is_secret;
    use crate::games::tongits::test_cards::cards;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn check_arrangement(secret_run_min: u8, hand: &str, melds: &[&str], left: &str) {
        let arrangement = Arrangement::from_hand(cards(hand), secret_run_min);
        let found: Vec<_> = arrangement.melds.iter().map(ToString::to_string).collect();
        assert_eq!(found, melds, "{hand}");
        assert_eq!(arrangement.leftover, cards(left), "{hand}");
        assert_eq!(deadwood(cards(hand)), arrangement.deadwood, "{hand}");
        assert_eq!(leaves_nothing(cards(hand)), cards(left).naturals().is_empty(), "{hand}");
    }

    /// Rule 1.10, one criterion after the other.
    #[test]
    fn an_arrangement_meets_its_criteria_in_order() {
        let check = |hand, melds: &[&str], left| check_arrangement(5, hand, melds, left);
        check("7C 7D 7H 8H 9H TH", &["7C 7D 7H", "8H 9H TH"], "");
        check("2C 3C 4C 4D 4H KS", &["4C 4D 4H"], "2C 3C KS");
        check("3C 4C 5C 6C 6D 6H 6S", &["3C 4C 5C", "6C 6D 6H 6S"], "");
        check("2C 3C 4C 5C 6C 6D 6H 6S", &["2C 3C 4C 5C", "6C 6D 6H 6S"], "");
        check("AC 2C 3C 4C 5C 6C 7C 8C", &["AC 2C 3C", "4C 5C 6C 7C 8C"], "");
        check("AC 2C 3C 4C 5C 6C 7C 8C 9C", &["AC 2C 3C", "4C 5C 6C 7C 8C 9C"], "");
        check("AC 2C 3C AD 2D 3D AH 2H 3H", &["AC 2C 3C", "AD 2D 3D", "AH 2H 3H"], "");
        check("", &[], "");
    }

    /// Every second hand has ranks close together, so that choices arise.
    #[test]
    fn a_hand_summary_agrees_with_the_arrangement() {
        let mut dice = ChanceRng::from_number(1);
        for number in 0..4_000 {
            let ranks = [13, 4][number % 2];
            let mut hand = CardSet::EMPTY;
            for _ in 0..1 + dice.below(13) {
                let index = 13 * dice.below(4) + dice.below(ranks);
                hand = hand.with(Card::from_index(u8::try_from(index).unwrap()).unwrap());
            }
            for secret_run_min in [0, 5, 6] {
                let Arrangement { leftover, deadwood, melds } =
                    Arrangement::from_hand(hand, secret_run_min);
                let secret = melds.iter().filter(|meld| is_secret(**meld, secret_run_min)).count();
                let melds = u32::try_from(melds.len()).unwrap();
                let secret_melds = u32::try_from(secret).unwrap();
                let expected = HandSummary { leftover, deadwood, melds, secret_melds };
                assert_eq!(HandSummary::from_hand(hand, secret_run_min), expected, "{hand}");
                assert_eq!(super::deadwood(hand), deadwood, "{hand}");
                if secret_run_min == 0 {
                    assert_eq!(super::leftover(hand), leftover, "{hand}");
                }
            }
        }
    }

    /// Rules 1.10, 11.1.
    #[test]
    fn jokers_minimize_the_leftover_points() {
        let check = |hand, melds: &[&str], left| check_arrangement(0, hand, melds, left);
        check("KC KD 4S 5S X1", &["KC KD X1"], "4S 5S");
        check("KC KD 4S 5S X1 X2", &["KC KD X1", "4S 5S X2"], "");
        check("4S 5S KC KD X2", &["KC KD X2"], "4S 5S");
        check("5C 6C 7C X1", &["5C 6C 7C"], "X1");
        check("5C 6C 8C 9C X1 X2", &["5C 6C X1", "8C 9C X2"], "");
        check("5C 6C 7C 9C X1", &["5C 6C 7C 9C X1"], "");
        check("5C 6C 7C 9C X1 X2", &["5C 6C X1", "7C 9C X2"], "");
        check("X1 X2", &[], "X1 X2");
        check("9S X2", &[], "9S X2");
    }

    fn groups(text: &str) -> Vec<Vec<Card>> {
        let group =
            |text: &str| text.split_whitespace().map(|card| card.parse().unwrap()).collect();
        text.split('|').map(group).collect()
    }

    #[test]
    fn a_hand_is_sorted_in_both_orders() {
        let hand: CardSet = groups("7C 7D 7H 8H 9H TH KS AD 4D").concat().into_iter().collect();
        assert_eq!(sort_by_suit(hand), groups("7C | AD 4D 7D | 7H 8H 9H TH | KS"));
        assert_eq!(sort_by_arrangement(hand), groups("7C 7D 7H | 8H 9H TH | KS 4D AD"));
        let hand: CardSet = groups("X2 7C AD 7D 7H X1").concat().into_iter().collect();
        assert_eq!(sort_by_suit(hand), groups("7C | AD 7D | 7H | X1 X2"));
        assert_eq!(sort_by_arrangement(hand), groups("7C 7D 7H | AD X1 X2"));
        assert!(sort_by_suit(CardSet::EMPTY).is_empty());
        assert!(sort_by_arrangement(CardSet::EMPTY).is_empty());
    }
}
