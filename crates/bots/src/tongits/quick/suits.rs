//! Permutations of the suits. No suit is worth more than another, so the value of a position is
//! invariant under them. A trained network is only approximately invariant, so that the mean over
//! all permutations is closer to the true value.

use bahay_engine::cards::{Card, CardSet, Suit};

/// The number of cards in a suit.
const RANKS: usize = Card::STANDARD_COUNT as usize / SUITS;

const SUITS: usize = Suit::ALL.len();

/// A permutation: the suit that replaces each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuitPermutation(pub [usize; SUITS]);

impl SuitPermutation {
    /// The identity.
    pub const IDENTITY: Self = Self([0, 1, 2, 3]);

    /// The number of permutations.
    pub const COUNT: u8 = 24;

    /// All permutations.
    pub const ALL: [Self; Self::COUNT as usize] = all_permutations();

    /// Returns the cards with their suits replaced.
    pub fn permute(self, cards: CardSet) -> CardSet {
        let moved = self.0.into_iter().enumerate().map(|(from, to)| {
            let ranks = cards.bits() >> (RANKS * from) & ((1 << RANKS) - 1);
            ranks << (RANKS * to)
        });
        CardSet::from_bits(moved.sum())
    }
}

const fn all_permutations() -> [SuitPermutation; SuitPermutation::COUNT as usize] {
    let mut all = [SuitPermutation::IDENTITY; SuitPermutation::COUNT as usize];
    let mut number = 0;
    let mut place = 0;
    while place < all.len() {
        let order = [number / 64, number / 16 % 4, number / 4 % 4, number % 4];
        let seen = 1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3];
        if seen == 15 {
            all[place] = SuitPermutation(order);
            place += 1;
        }
        number += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::SuitPermutation;
    use alloc::collections::BTreeSet;
    use bahay_engine::cards::{Card, CardSet, Suit};

    #[test]
    fn all_permutations_are_distinct() {
        let ways: BTreeSet<[usize; 4]> = SuitPermutation::ALL.iter().map(|suits| suits.0).collect();
        assert_eq!(ways.len(), 24);
        assert_eq!(SuitPermutation::ALL[0], SuitPermutation::IDENTITY);
        for suits in SuitPermutation::ALL {
            assert_eq!(suits.permute(CardSet::STANDARD), CardSet::STANDARD);
            for card in Card::all().filter(|card| !card.is_joker()) {
                let rank = card.rank().unwrap();
                let suit = card.suit().unwrap();
                let other = Suit::ALL[suits.0[usize::from(suit.index())]];
                let exchanged = suits.permute(CardSet::only(card));
                assert_eq!(exchanged, CardSet::only(Card::new(rank, other)));
            }
        }
    }
}
