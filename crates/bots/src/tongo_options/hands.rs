//! Random hands for comparison with the own hand, with the sets of hands that hold a card or a
//! number, so that most hands need no evaluation of their own.

use bahay_engine::games::tongo_options::analysis::NUMBERS;
use bahay_engine::games::tongo_options::{Card, CardSet, Class, DiceCounts, Strength};

/// The number of random hands.
pub(super) const HANDS: usize = 128;

/// A set of the random hands, with one bit for each.
pub(super) type Hands = u128;

/// The set of all random hands.
pub(super) const ALL: Hands = Hands::MAX;

/// The sets of hands by the cards and numbers that they hold.
pub(super) struct Holders {
    of_card: [Hands; Card::COUNT as usize],
    of_number: [Hands; NUMBERS as usize],
}

impl Holders {
    pub(super) fn new(hands: &[CardSet; HANDS]) -> Self {
        let mut holders =
            Self { of_card: [0; Card::COUNT as usize], of_number: [0; NUMBERS as usize] };
        for (place, hand) in hands.iter().enumerate() {
            for card in hand.iter() {
                holders.of_card[usize::from(card.index())] |= 1 << place;
                holders.of_number[usize::from(card.number() - 1)] |= 1 << place;
            }
        }
        holders
    }

    /// Returns the hands that have a match of this class or a better one with a floor.
    pub(super) fn with_class(&self, class: Class, floor: CardSet, dice: &DiceCounts) -> Hands {
        floor.iter().fold(0, |all, card| {
            let [any, exact] = Class::with_dice(dice.count_of(card.number()));
            if any >= class {
                all | self.of_number[usize::from(card.number() - 1)]
            } else if exact >= class {
                all | self.of_card[usize::from(card.index())]
            } else {
                all
            }
        })
    }
}

/// Calls `each` with the index of every hand of the set.
pub(super) fn for_each_index(mut hands: Hands, mut each: impl FnMut(usize)) {
    while hands != 0 {
        each(hands.trailing_zeros() as usize);
        hands &= hands - 1;
    }
}

/// Returns the set of the hands that are weaker than `own`.
pub(super) fn weaker_hands(worth: &[Strength; HANDS], own: Strength) -> Hands {
    worth.iter().rev().fold(0, |all, one| all << 1 | Hands::from(*one < own))
}

#[cfg(test)]
mod tests {
    use super::{
        Card, CardSet, Class, DiceCounts, HANDS, Hands, Holders, Strength, for_each_index,
        weaker_hands,
    };
    use crate::tongo_options::odds::{below, next_word};
    use alloc::vec::Vec;

    fn some_cards(state: &mut u64, count: usize) -> CardSet {
        let mut cards = CardSet::EMPTY;
        while cards.len() < count {
            let card = Card::from_index(below(next_word(state), Card::COUNT));
            cards = card.map_or(cards, |card| cards.with(card));
        }
        cards
    }

    /// Hands outside the set of a class have no match of it, and are weaker than hands with one.
    #[test]
    fn hands_outside_the_set_of_a_class_have_no_match_of_it() {
        let classes = [Class::Pair, Class::ExactPair, Class::Chain, Class::ExactChain, Class::Four];
        let mut chance = 1;
        let mut named = 0;
        for cards in (0..4).cycle().take(400) {
            let hands: [CardSet; HANDS] = core::array::from_fn(|_| some_cards(&mut chance, 4));
            let floor = some_cards(&mut chance, cards);
            let dice: DiceCounts = (0..5).map(|_| 1 + below(next_word(&mut chance), 12)).collect();
            let holders = Holders::new(&hands);
            for class in classes {
                let with = holders.with_class(class, floor, &dice);
                for (place, hand) in hands.iter().enumerate() {
                    let best = Strength::from_hand(*hand, floor, &dice).class();
                    assert_eq!(
                        best.is_some_and(|best| best >= class),
                        with >> place & 1 == 1,
                        "{class:?}: {hand:?} with {floor:?}"
                    );
                }
                named += with.count_ones();
            }
        }
        assert!(named > 10_000);
    }

    #[test]
    fn a_set_of_hands_holds_their_indices() {
        let strength = |text: &str| {
            let card: Card = text.parse().unwrap();
            let cards = CardSet::only(card);
            Strength::from_hand(cards, cards, &DiceCounts::default())
        };
        let mut worth = [strength("5D"); HANDS];
        (worth[0], worth[127]) = (strength("4D"), strength("5H"));
        assert_eq!(weaker_hands(&worth, strength("5D")), 1 | 1 << 127);
        let mut places = Vec::new();
        for_each_index(1 | 1 << 64 | 1 << 127 as Hands, |place| places.push(place));
        assert_eq!(places, [0, 64, 127]);
    }
}
