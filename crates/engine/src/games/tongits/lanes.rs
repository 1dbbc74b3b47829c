//! A set of cards with sixteen bits per suit, without jokers. The three bits above a king are
//! always zero, so that shifting cannot carry a run into the next suit and no masks are needed.

use crate::cards::CardSet;

/// The ranks of one suit in a card set.
const SUIT: u64 = (1 << 13) - 1;

/// The aces of all lanes.
const ACES: u64 = 0x0001_0001_0001_0001;

/// A card set with one suit per lane of sixteen bits: bit 16 × suit + rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(pub u64);

impl Lanes {
    /// All cards.
    pub const ALL: u64 = SUIT * ACES;

    #[inline]
    pub const fn from_cards(cards: CardSet) -> Self {
        let bits = cards.bits();
        Self(
            bits & SUIT
                | (bits & SUIT << 13) << 3
                | (bits & SUIT << 26) << 6
                | (bits & SUIT << 39) << 9,
        )
    }

    #[inline]
    pub const fn cards(self) -> CardSet {
        let lanes = self.0;
        CardSet::from_bits(
            lanes & SUIT
                | lanes >> 3 & SUIT << 13
                | lanes >> 6 & SUIT << 26
                | lanes >> 9 & SUIT << 39,
        )
    }

    /// Returns the four cards of a rank.
    #[inline]
    pub const fn from_rank(rank: u32) -> Self {
        Self(ACES << rank)
    }

    /// Returns all cards of the ranks whose bits are set.
    #[inline]
    pub const fn from_ranks(ranks: u16) -> Self {
        Self(ranks as u64 * ACES)
    }

    /// Returns the first cards of `length` consecutive cards of a suit.
    const fn run_starts(self, length: u8) -> u64 {
        let mut starts = self.0;
        let mut step = 1;
        while step < length {
            starts &= self.0 >> step;
            step += 1;
        }
        starts
    }

    /// Returns the cards that belong to a run of three or more.
    #[inline]
    pub const fn run_cards(self) -> Self {
        let starts = self.run_starts(3);
        Self(starts | starts << 1 | starts << 2)
    }

    #[inline]
    pub const fn has_run(self, length: u8) -> bool {
        self.run_starts(length) != 0
    }

    /// Returns the ranks of which at least two cards are present, one bit per rank.
    #[inline]
    pub const fn ranks_of_two(self) -> u16 {
        let [a, b, c, d] = self.suits();
        a & b | c & d | (a | b) & (c | d)
    }

    /// Returns the ranks of which at least three cards are present, one bit per rank.
    #[inline]
    pub const fn ranks_of_three(self) -> u16 {
        let [a, b, c, d] = self.suits();
        a & b & (c | d) | c & d & (a | b)
    }

    /// Returns the ranks of which all four cards are present, one bit per rank.
    #[inline]
    pub const fn ranks_of_four(self) -> u16 {
        let [a, b, c, d] = self.suits();
        a & b & c & d
    }

    /// Returns the number of cards of a rank.
    #[inline]
    pub const fn count_of_rank(self, rank: u32) -> u32 {
        // The highest lane of the product is the sum of all lanes.
        ((self.0 >> rank & ACES).wrapping_mul(ACES) >> 48) as u32
    }

    /// Returns the ranks of each suit.
    #[inline]
    pub const fn suits(self) -> [u16; 4] {
        let [a, b, c, d, e, f, g, h] = self.0.to_le_bytes();
        [
            u16::from_le_bytes([a, b]),
            u16::from_le_bytes([c, d]),
            u16::from_le_bytes([e, f]),
            u16::from_le_bytes([g, h]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Lanes;
    use crate::cards::{Card, CardSet};

    #[test]
    fn cards_round_trip_through_lanes() {
        for card in Card::all().filter(|card| !card.is_joker()) {
            let lanes = Lanes::from_cards(CardSet::only(card));
            let rank = card.rank().unwrap();
            let suit = card.suit().unwrap();
            assert_eq!(lanes.0, 1 << (16 * suit.index() + rank.index()));
            assert_eq!(lanes.cards(), CardSet::only(card));
        }
        assert_eq!(Lanes::from_cards(CardSet::JOKERS).0, 0);
        assert_eq!(Lanes::from_cards(CardSet::ALL).cards(), CardSet::STANDARD);
    }

    #[test]
    fn a_run_stays_in_its_suit() {
        let across: CardSet = [11, 12, 13, 14].into_iter().filter_map(Card::from_index).collect();
        assert_eq!(Lanes::from_cards(across).run_cards().0, 0);
        assert!(Lanes::from_cards(CardSet::ALL).has_run(13));
        assert!(!Lanes::from_cards(CardSet::ALL).has_run(14));
    }

    #[test]
    fn ranks_are_counted() {
        let cards: CardSet =
            [0, 13, 39, 12, 25, 38, 51].into_iter().filter_map(Card::from_index).collect();
        let lanes = Lanes::from_cards(cards);
        let counts: [u32; 13] =
            core::array::from_fn(|rank| lanes.count_of_rank(u32::try_from(rank).unwrap()));
        assert_eq!(counts, [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
        assert_eq!(lanes.ranks_of_three(), 1 << 12 | 1);
        let aces_and_kings = Lanes::from_rank(0).0 | Lanes::from_rank(12).0;
        assert_eq!(Lanes::from_ranks(1 << 12 | 1).0, aces_and_kings);
    }
}
