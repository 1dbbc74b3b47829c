//! Melds with a joker (rule 11.1), represented by their *natural part*: the cards other than the
//! joker. Some card outside the natural part completes it to a meld in the joker's place; which one
//! is never fixed.
//!
//! No meld has two jokers, so that a natural part has at least two cards. Two cards of one rank
//! differ in suit, so that the natural part determines whether the meld is a set or a run.
//!
//! Functions are marked `cold` to keep the code path of hands without jokers short.

use crate::cards::{Card, CardSet};
use crate::games::tongits::lanes::Lanes;

/// The number of ranks in a suit and so the length of the longest run, which has no place for a
/// joker.
const RUN_CARDS_MAX: u32 = 13;

/// The maximum number of cards of a natural part that an arrangement may need; see
/// [`for_each_needed_part`].
const NEEDED_CARDS_MAX: u32 = 4;

/// Returns whether these natural cards and one joker form a meld.
#[cold]
pub(super) fn is_meld_with_joker(naturals: CardSet) -> bool {
    match part_shape(naturals) {
        PartShape::Set => matches!(naturals.len(), 2 | 3),
        PartShape::Run { span, cards } => {
            span == cards + 1 || span == cards && cards < RUN_CARDS_MAX
        }
        PartShape::None => false,
    }
}

/// Returns the natural cards that may be added to a meld with a joker, one at a time (rule 3.5).
#[cold]
pub(super) fn additions(naturals: CardSet) -> CardSet {
    let Some(first) = naturals.first() else { return CardSet::EMPTY };
    let near = |card: &Card| card.rank() == first.rank() || card.suit() == first.suit();
    let others = CardSet::STANDARD.difference(naturals).iter().filter(near);
    others.filter(|card| is_meld_with_joker(naturals.with(*card))).collect()
}

/// Calls `each` for the natural part of every meld with one joker that the hand holds, each once.
pub(super) fn for_each_part(hand: CardSet, each: impl FnMut(CardSet)) {
    for_each_part_up_to(hand, RUN_CARDS_MAX, each);
}

/// Calls `each` for the natural parts that the arrangement of a hand may need (rule 1.10); each has
/// at most four cards.
///
/// The omitted parts are never better. A joker beside cards that form a meld without it can be left
/// over instead, which leaves the same points, as many melds and a lesser list. If a run on one
/// side of the joker is long enough to do without its last card, it is a meld of its own, and the
/// joker with the remaining cards is another.
pub(super) fn for_each_needed_part(hand: CardSet, mut each: impl FnMut(CardSet)) {
    for_each_part_up_to(hand, NEEDED_CARDS_MAX, |part| {
        let is_needed = match part_shape(part) {
            PartShape::Run { span, cards } => span > cards || cards == 2,
            PartShape::Set => part.len() == 2,
            PartShape::None => false,
        };
        if is_needed {
            each(part);
        }
    });
}

/// Calls `each` for the natural parts of at most `cards_max` cards.
#[cold]
fn for_each_part_up_to(hand: CardSet, cards_max: u32, mut each: impl FnMut(CardSet)) {
    let hand = Lanes::from_cards(hand).0;
    for rank in 0..RUN_CARDS_MAX {
        let same = hand & Lanes::from_rank(rank).0;
        let mut chosen = same;
        while chosen != 0 {
            if matches!(chosen.count_ones(), 2 | 3) {
                each(Lanes(chosen).cards());
            }
            chosen = (chosen - 1) & same;
        }
    }
    let mut starts = hand;
    while starts != 0 {
        let start = starts.trailing_zeros();
        starts &= starts - 1;
        for_each_run_from(hand, start, cards_max, &mut each);
    }
}

/// Calls `each` for the parts of runs that begin with this card. The joker may stand for a card
/// that the hand also holds and uses elsewhere.
fn for_each_run_from(hand: u64, start: u32, cards_max: u32, each: &mut impl FnMut(CardSet)) {
    let suit_end = start / 16 * 16 + RUN_CARDS_MAX;
    for end in start + 1..suit_end.min(start + cards_max + 1) {
        let span = ((2_u64 << (end - start)) - 1) << start;
        let missing = span & !hand;
        if missing.count_ones() > 1 {
            return;
        }
        if missing >> end & 1 == 1 {
            continue;
        }
        let cards = end - start + 1;
        if missing != 0 {
            each(Lanes(span & !missing).cards());
            continue;
        }
        if cards <= cards_max.min(RUN_CARDS_MAX - 1) {
            each(Lanes(span).cards());
        }
        for gap in start + 1..end {
            each(Lanes(span & !(1 << gap)).cards());
        }
    }
}

/// The kind of meld that a natural part belongs to.
enum PartShape {
    Set,
    /// The number of cards of one suit, and the number of ranks from the first to the last.
    Run {
        span: u32,
        cards: u32,
    },
    None,
}

fn part_shape(naturals: CardSet) -> PartShape {
    let lanes = Lanes::from_cards(naturals).0;
    let cards = lanes.count_ones();
    if cards < 2 {
        return PartShape::None;
    }
    let first = lanes.trailing_zeros();
    let last = u64::BITS - 1 - lanes.leading_zeros();
    if first / 16 == last / 16 {
        PartShape::Run { span: last - first + 1, cards }
    } else if lanes & !Lanes::from_rank(first % 16).0 == 0 {
        PartShape::Set
    } else {
        PartShape::None
    }
}

#[cfg(test)]
mod tests {
    use super::{additions, for_each_needed_part, for_each_part, is_meld_with_joker};
    use crate::cards::{Card, CardSet};
    use crate::games::tongits::test_cards::{cards, subsets};
    use alloc::vec::Vec;

    /// An independent statement of rule 1.4, without jokers.
    fn is_natural_meld(cards: CardSet) -> bool {
        let indices: Vec<u8> = cards.iter().map(Card::index).collect();
        let set = indices.iter().all(|card| card % 13 == indices[0] % 13);
        let run = indices.windows(2).all(|two| two[1] == two[0] + 1 && two[1] / 13 == two[0] / 13);
        indices.len() >= 3 && (set || run)
    }

    /// An independent statement of rule 11.1: some other card completes the natural part to a meld.
    fn is_joker_meld_by_rule(naturals: CardSet) -> bool {
        let others = CardSet::STANDARD.difference(naturals);
        others.iter().any(|card| is_natural_meld(naturals.with(card)))
    }

    const HANDS: [&str; 6] = [
        "7C 7D 7H 7S 8H 9H TH 6H JH",
        "AC 2C 3C 4C 3D 3H QC KC",
        "TD JD QD KD AD AC AS AH 2D",
        "AS 3S 5S 7S 9S JS KS 2S 4S",
        "AC AD QC QD KC KD AH QH KH",
        "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD",
    ];

    #[test]
    fn natural_parts_become_melds_with_one_more_card() {
        for text in HANDS {
            let mut expected: Vec<CardSet> = subsets(cards(text))
                .into_iter()
                .filter(|part| is_joker_meld_by_rule(*part))
                .collect();
            expected.sort();
            for part in subsets(cards(text)) {
                assert_eq!(is_meld_with_joker(part), is_joker_meld_by_rule(part), "{part}");
            }
            let mut found = Vec::new();
            for_each_part(cards(text), |part| found.push(part));
            found.sort();
            assert_eq!(found, expected, "{text}");
            // With the hand's joker and one more card.
            for part in expected {
                let by_rule: CardSet = CardSet::STANDARD
                    .difference(part)
                    .iter()
                    .filter(|card| is_joker_meld_by_rule(part.with(*card)))
                    .collect();
                assert_eq!(additions(part), by_rule, "{part}");
            }
        }
    }

    #[test]
    fn needed_parts_are_a_subset() {
        let mut found = Vec::new();
        for_each_needed_part(cards("5C 5D 5H 6H 7H 8H"), |part| found.push(part));
        found.sort();
        let mut expected: Vec<CardSet> = [
            "5C 5D", "5C 5H", "5D 5H", "5H 6H", "6H 7H", "7H 8H", "5H 7H", "6H 8H", "5H 6H 8H",
            "5H 7H 8H",
        ]
        .into_iter()
        .map(cards)
        .collect();
        expected.sort();
        assert_eq!(found, expected);
    }

    /// The example of rule 11.1.
    #[test]
    fn the_position_of_a_joker_is_never_fixed() {
        assert_eq!(additions(cards("5S 7S")), cards("4S 6S 8S"));
        assert_eq!(additions(cards("5S 6S")), cards("3S 4S 7S 8S"));
        assert_eq!(additions(cards("AS 2S")), cards("3S 4S"));
        assert_eq!(additions(cards("9C 9D")), cards("9H 9S"));
        assert_eq!(additions(cards("9C 9D 9H")), CardSet::EMPTY);
    }
}
