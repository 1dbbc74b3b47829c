//! The two orders of a hand that clients offer: by suit, and by arrangement.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet, Suit};
use crate::games::tongits::arrange::Arrangement;
use crate::games::tongits::meld::points;
use crate::games::tongits::rules::Rules;

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
    leftover.sort_by_key(|card| core::cmp::Reverse((points(*card), card.rank(), card.suit())));
    if !leftover.is_empty() {
        groups.push(leftover);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{sort_by_arrangement, sort_by_suit};
    use crate::cards::{Card, CardSet};
    use alloc::vec::Vec;

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
