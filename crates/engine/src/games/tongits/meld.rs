//! Melds (rules 1.4, 1.6) and points (rule 1.9): what is a meld, what can be added to one, which
//! ones a hand holds. Everything is arithmetic on bits; nothing allocates. Which of a hand's
//! melds to take together is the question of `arrange`.

use crate::cards::{Card, CardSet, Rank};
use crate::games::tongits::lanes::Lanes;

/// Cards in the smallest meld (rule 1.4).
pub(super) const MELD_CARDS_MIN: usize = 3;

/// Cards in the shortest secret run (rule 1.6).
pub(super) const SECRET_RUN_CARDS_MIN: usize = 5;

/// What a card of rank ten or above counts (rule 1.9).
const POINTS_MAX: u8 = 10;

/// The aces in a card set.
const ACES: u64 = 1 | 1 << 13 | 1 << 26 | 1 << 39;

/// The kings in a card set.
const KINGS: u64 = ACES << 12;

/// The points of one card (rule 1.9).
pub const fn points(card: Card) -> u8 {
    let face = card.rank().index() + 1;
    if face < POINTS_MAX { face } else { POINTS_MAX }
}

/// The points of cards together.
pub const fn points_of(cards: CardSet) -> u32 {
    lane_points(Lanes::from_cards(cards))
}

/// Points by the binary digits of a card's points: a count for each digit, and no loop.
pub(super) const fn lane_points(lanes: Lanes) -> u32 {
    const fn with_digit(digit: u8) -> u64 {
        let mut mask = 0;
        let mut index = 0;
        while let Some(card) = Card::from_index(index) {
            if points(card) >> digit & 1 == 1 {
                mask |= Lanes::from_cards(CardSet::only(card)).0;
            }
            index += 1;
        }
        mask
    }
    const DIGITS: [u64; 4] = [with_digit(0), with_digit(1), with_digit(2), with_digit(3)];
    let cards = lanes.0;
    (cards & DIGITS[0]).count_ones()
        + 2 * (cards & DIGITS[1]).count_ones()
        + 4 * (cards & DIGITS[2]).count_ones()
        + 8 * (cards & DIGITS[3]).count_ones()
}

/// The four cards of a rank.
pub(super) const fn rank_cards(rank: Rank) -> CardSet {
    CardSet::from_bits(ACES << rank.index())
}

/// Whether the cards are exactly one meld (rule 1.4).
pub fn is_meld(cards: CardSet) -> bool {
    cards.len() >= MELD_CARDS_MIN && (is_of_one_rank(cards) || is_consecutive(cards))
}

/// Whether the cards are exactly one secret meld, were they concealed (rule 1.6).
pub fn is_secret(cards: CardSet) -> bool {
    if is_of_one_rank(cards) {
        cards.len() == 4
    } else {
        cards.len() >= SECRET_RUN_CARDS_MIN && is_consecutive(cards)
    }
}

/// Whether the hand holds a secret meld at all (rules 1.8, 4.2), whatever its arrangement.
pub const fn has_secret(hand: CardSet) -> bool {
    let lanes = Lanes::from_cards(hand);
    lanes.ranks_of_four() != 0 || lanes.has_run(5)
}

/// The cards that may be added to an exposed meld, one at a time (rule 3.5).
pub const fn additions(meld: CardSet) -> CardSet {
    let bits = meld.bits();
    if bits & bits >> 1 == 0 {
        // No two neighbours: a set. What is missing of its rank.
        match meld.first() {
            Some(card) => rank_cards(card.rank()).difference(meld),
            None => CardSet::EMPTY,
        }
    } else {
        let ends = bits << 1 & !ACES | bits >> 1 & !KINGS;
        CardSet::from_bits(ends & !bits)
    }
}

/// Every meld that the hand holds, each once; melds overlap.
pub fn for_each_meld(hand: CardSet, mut each: impl FnMut(CardSet)) {
    let lanes = Lanes::from_cards(hand);
    let mut ranks = lanes.ranks_of_three();
    while ranks != 0 {
        let set = Lanes(lanes.0 & Lanes::rank(ranks.trailing_zeros()).0).cards();
        each(set);
        if set.len() == 4 {
            set.iter().for_each(|card| each(set.without(card)));
        }
        ranks &= ranks - 1;
    }
    let mut starts = lanes.in_runs().0;
    while starts != 0 {
        let start = starts.trailing_zeros();
        let length = (lanes.0 >> start).trailing_ones();
        for length in 3..=length {
            each(Lanes(((1 << length) - 1) << start).cards());
        }
        starts &= starts - 1;
    }
}

/// Every choice of hand cards that forms a new meld with the discard (rule 3.2), each once.
pub(super) fn for_each_chow(hand: CardSet, discard: Card, mut each: impl FnMut(CardSet)) {
    let same_rank = rank_cards(discard.rank()).intersection(hand);
    if same_rank.len() >= 2 {
        each(same_rank);
    }
    if same_rank.len() == 3 {
        same_rank.iter().for_each(|card| each(same_rank.without(card)));
    }
    let (below, above) = neighbours(hand, discard);
    let index = u32::from(discard.index());
    for low in index - below..=index {
        for high in index..=index + above {
            if high - low >= 2 {
                let run = ((1_u64 << (high - low + 1)) - 1) << low;
                each(CardSet::from_bits(run).without(discard));
            }
        }
    }
}

/// Whether the hand can chow the discard (rule 3.2).
pub(super) fn can_chow(hand: CardSet, discard: Card) -> bool {
    let (below, above) = neighbours(hand, discard);
    below + above >= 2 || rank_cards(discard.rank()).intersection(hand).len() >= 2
}

/// How many cards the hand holds without a gap below and above a card in its suit.
fn neighbours(hand: CardSet, card: Card) -> (u32, u32) {
    let suit = Lanes::from_cards(hand).0 >> (16 * card.suit().index());
    // Bit 16 stands for the card; what is below it is shifted up to end at bit 15.
    let around = (suit & 0x1FFF) << (16 - card.rank().index());
    let above = (around >> 17).trailing_ones();
    let below = (around << 48).leading_ones();
    (below, above)
}

fn is_of_one_rank(cards: CardSet) -> bool {
    cards.first().is_some_and(|card| rank_cards(card.rank()).contains_all(cards))
}

/// Whether the cards are of one suit and without a gap.
fn is_consecutive(cards: CardSet) -> bool {
    let lanes = Lanes::from_cards(cards).0;
    let from_first = lanes >> lanes.trailing_zeros().min(63);
    from_first & (from_first + 1) == 0
}

#[cfg(test)]
mod tests {
    use super::{
        additions, can_chow, for_each_chow, for_each_meld, has_secret, is_meld, is_secret,
        points_of,
    };
    use crate::cards::{Card, CardSet};
    use alloc::vec::Vec;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    #[test]
    fn melds_are_sets_and_runs_with_the_ace_low() {
        for meld in ["7C 7D 7H", "7C 7D 7H 7S", "AS 2S 3S", "TD JD QD KD"] {
            assert!(is_meld(cards(meld)), "{meld}");
        }
        for not in
            ["", "7C", "7C 7D", "QS KS AS", "QC KC AD", "JC QC KC AD", "2H 3H 4D", "2H 4H 5H"]
        {
            assert!(!is_meld(cards(not)), "{not}");
        }
    }

    #[test]
    fn secret_melds_are_fours_and_runs_of_five() {
        for secret in ["7C 7D 7H 7S", "AS 2S 3S 4S 5S", "8D 9D TD JD QD KD"] {
            assert!(is_secret(cards(secret)) && has_secret(cards(secret)), "{secret}");
        }
        for not in ["7C 7D 7H", "AS 2S 3S 4S", "TC JC QC KC AD"] {
            assert!(!is_secret(cards(not)) && !has_secret(cards(not)), "{not}");
        }
        assert!(has_secret(cards("2C 2D 2H 2S KH")));
        assert!(!is_secret(cards("2C 2D 2H 2S KH")));
    }

    #[test]
    fn additions_keep_a_meld_a_meld_and_are_all_of_them() {
        for_each_meld(CardSet::ALL, |meld| {
            let expected: CardSet = Card::all()
                .filter(|card| !meld.contains(*card) && is_meld(meld.with(*card)))
                .collect();
            assert_eq!(additions(meld), expected, "{meld}");
        });
    }

    #[test]
    fn points_are_those_of_the_cards() {
        assert_eq!(points_of(CardSet::ALL), 4 * (45 + 40));
        assert_eq!(points_of(cards("AC 9D TH JS QC KC")), 50);
    }

    /// Against all subsets of hands of eight cards.
    #[test]
    fn melds_and_chows_of_a_hand_are_all_there_and_named_once() {
        for text in
            ["7C 7D 7H 7S 8H 9H TH 6H", "AC 2C 3C 4C 3D 3H QC KC", "TD JD QD KD AD AC AS AH"]
        {
            let hand: Vec<Card> = cards(text).iter().collect();
            let subsets: Vec<CardSet> = (0..1_u32 << hand.len())
                .map(|choice| {
                    (0..)
                        .zip(&hand)
                        .filter(move |(bit, _)| choice >> bit & 1 == 1)
                        .map(|(_, card)| *card)
                })
                .map(|chosen| chosen.collect())
                .collect();
            let mut found = Vec::new();
            for_each_meld(cards(text), |meld| found.push(meld));
            found.sort();
            let mut expected: Vec<CardSet> =
                subsets.iter().copied().filter(|subset| is_meld(*subset)).collect();
            expected.sort();
            assert_eq!(found, expected, "{text}");
            for discard in Card::all().filter(|card| !cards(text).contains(*card)) {
                let mut found = Vec::new();
                for_each_chow(cards(text), discard, |chow| found.push(chow));
                found.sort();
                let mut expected: Vec<CardSet> = subsets
                    .iter()
                    .copied()
                    .filter(|subset| is_meld(subset.with(discard)))
                    .collect();
                expected.sort();
                assert_eq!(found, expected, "{text} {discard}");
                assert_eq!(can_chow(cards(text), discard), !expected.is_empty());
            }
        }
    }
}
