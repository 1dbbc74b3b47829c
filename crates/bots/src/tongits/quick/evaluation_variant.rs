//! The network and the suit permutation with which the positions of one sampled game are evaluated.
//! They are the same for all actions in a game and vary between games, so that all networks and
//! permutations contribute equally over many games at no extra cost.

use bahay_engine::cards::Card;

use crate::tongits::quick::NETWORKS;
use crate::tongits::quick::suits::SuitPermutation;

/// The variant of one sampled game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationVariant {
    /// The index of the network.
    pub network: usize,
    pub suits: SuitPermutation,
}

impl EvaluationVariant {
    /// Derives a variant from the cards of a game. All variants are about equally frequent.
    pub fn from_cards(cards: &[Card]) -> Self {
        let sum = cards.iter().fold(0, |sum, card| (sum * 53 + usize::from(card.index())) % 65_521);
        let ways = SuitPermutation::ALL.len();
        Self { network: sum / ways % NETWORKS, suits: SuitPermutation::ALL[sum % ways] }
    }
}

#[cfg(test)]
mod tests {
    use super::EvaluationVariant;
    use crate::tongits::quick::NETWORKS;
    use crate::tongits::quick::suits::SuitPermutation;
    use alloc::vec::Vec;
    use bahay_engine::cards::{Card, CardSet};

    #[test]
    fn variants_are_equally_frequent() {
        let deck: Vec<Card> = CardSet::STANDARD.iter().collect();
        let mut word = 1_u64;
        let mut counts = [[0; SuitPermutation::COUNT as usize]; NETWORKS];
        let each = 1_000;
        for pile in 0..each * SuitPermutation::ALL.len() * NETWORKS {
            let mut cards = deck.clone();
            let drawn = |_| {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                cards.swap_remove((word >> 40) as usize % cards.len())
            };
            let pile: Vec<Card> = (0..1 + pile % 20).map(drawn).collect();
            let variant = EvaluationVariant::from_cards(&pile);
            let way = SuitPermutation::ALL.iter().position(|way| *way == variant.suits).unwrap();
            counts[variant.network][way] += 1;
        }
        // The expectation is a thousand for each, with a standard error of 31.
        let mut all = counts.as_flattened().iter();
        assert!(all.all(|count| (850..=1_150).contains(count)), "{counts:?}");
    }
}
