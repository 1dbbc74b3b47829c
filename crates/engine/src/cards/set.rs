//! A set of cards as a bit mask: bit n is the card with index n.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::cards::Card;

/// The 54 bits that are cards.
const ALL_BITS: u64 = (1 << Card::COUNT) - 1;

/// The 52 bits that are cards with a rank and a suit.
const STANDARD_BITS: u64 = (1 << Card::STANDARD_COUNT) - 1;

/// A set of cards. On the wire it is the list of its cards by ascending index.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Card>", extend("uniqueItems" = true, "maxItems" = 54)))]
pub struct CardSet(u64);

impl CardSet {
    pub const EMPTY: Self = Self(0);
    /// Every card that there is.
    pub const ALL: Self = Self(ALL_BITS);
    /// A deck without jokers.
    pub const STANDARD: Self = Self(STANDARD_BITS);
    pub const JOKERS: Self = Self(ALL_BITS & !STANDARD_BITS);

    /// The cards whose bits are set; bits that are no card are ignored.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & ALL_BITS)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    pub const fn only(card: Card) -> Self {
        Self(1 << card.index())
    }

    pub const fn contains(self, card: Card) -> bool {
        self.0 >> card.index() & 1 == 1
    }

    pub const fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    #[must_use]
    pub const fn with(self, card: Card) -> Self {
        Self(self.0 | 1 << card.index())
    }

    #[must_use]
    pub const fn without(self, card: Card) -> Self {
        Self(self.0 & !(1 << card.index()))
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn has_joker(self) -> bool {
        self.0 > STANDARD_BITS
    }

    /// The cards that are no jokers.
    #[must_use]
    pub const fn naturals(self) -> Self {
        Self(self.0 & STANDARD_BITS)
    }

    #[must_use]
    pub const fn jokers(self) -> Self {
        Self(self.0 & !STANDARD_BITS)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The card with the least index.
    pub const fn first(self) -> Option<Card> {
        if self.0 == 0 { None } else { Card::from_index(self.0.trailing_zeros().to_le_bytes()[0]) }
    }

    /// By ascending index.
    pub fn iter(self) -> impl Iterator<Item = Card> + Clone {
        let mut left = self;
        core::iter::from_fn(move || {
            let card = left.first()?;
            left = left.without(card);
            Some(card)
        })
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        cards.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Display for CardSet {
    /// Cards with a space between, as in scenarios and logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, card) in self.iter().enumerate() {
            if place > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{card}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

impl Serialize for CardSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for CardSet {
    /// A card named twice is refused: a set that silently shrinks would hide a client's mistake.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cards = Vec::<Card>::deserialize(deserializer)?;
        let set: Self = cards.iter().copied().collect();
        if set.len() == cards.len() {
            Ok(set)
        } else {
            Err(D::Error::custom("a card is named twice"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CardSet;
    use crate::cards::Card;
    use alloc::string::ToString;

    #[test]
    fn is_written_as_the_ascending_list_of_its_cards() {
        let set: CardSet = ["KS", "AC", "7H"].iter().map(|card| card.parse().unwrap()).collect();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["AC","7H","KS"]"#);
        assert_eq!(serde_json::from_str::<CardSet>(r#"["KS","7H","AC"]"#).unwrap(), set);
        assert_eq!(set.to_string(), "AC 7H KS");
    }

    #[test]
    fn a_card_named_twice_is_refused() {
        assert!(serde_json::from_str::<CardSet>(r#"["KS","KS"]"#).is_err());
    }

    #[test]
    fn all_holds_every_card_once() {
        assert_eq!(Card::all().collect::<CardSet>(), CardSet::ALL);
        assert_eq!(CardSet::ALL.len(), 54);
        assert_eq!(CardSet::from_bits(u64::MAX), CardSet::ALL);
        assert_eq!(CardSet::ALL.naturals(), CardSet::STANDARD);
        assert_eq!(CardSet::ALL.jokers().to_string(), "X1 X2");
        assert!(CardSet::ALL.has_joker() && CardSet::JOKERS.has_joker());
        assert!(!CardSet::STANDARD.has_joker());
    }
}
