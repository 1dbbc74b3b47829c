//! A set of cards in one word. On the wire it is the list of its cards by ascending index.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::games::tongo_assets::card::{ASSETS, Acquire, Card, TYPES};

/// Any cards, each at most once.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsCards"))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Card>", extend("uniqueItems" = true)))]
pub struct CardSet(u128);

const ASSET_BITS: u128 = (1 << ASSETS) - 1;
const TYPE_BITS: u128 = (1 << TYPES) - 1;
const WILD_BITS: u128 = kind_bits(Acquire::Wild);

impl CardSet {
    pub const EMPTY: Self = Self(0);

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
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn len(self) -> u8 {
        self.0.count_ones().to_le_bytes()[0]
    }

    /// Those that are assets.
    #[must_use]
    pub const fn assets(self) -> Self {
        Self(self.0 & ASSET_BITS)
    }

    /// Those that are acquire cards.
    #[must_use]
    pub const fn acquires(self) -> Self {
        Self(self.0 & !ASSET_BITS)
    }

    /// Those that are wild.
    #[must_use]
    pub const fn wilds(self) -> Self {
        Self(self.0 & WILD_BITS)
    }

    /// The first card of this kind.
    pub const fn first_of(self, kind: Acquire) -> Option<Card> {
        Self(self.0 & kind_bits(kind)).first()
    }

    /// The first copies of assets and the second ones, each by colour × 7 + number − 1.
    pub const fn copies(self) -> (u64, u64) {
        let first = self.0 & TYPE_BITS;
        let second = self.0 >> TYPES & TYPE_BITS;
        (first as u64, second as u64)
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
            left = Self(left.0 & (left.0 - 1));
            Some(card)
        })
    }
}

const fn kind_bits(kind: Acquire) -> u128 {
    let mut bits = 0;
    let mut index = ASSETS;
    while let Some(card) = Card::from_index(index) {
        if let Some(other) = card.kind()
            && other as u8 == kind as u8
        {
            bits |= 1 << index;
        }
        index += 1;
    }
    bits
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        cards.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Display for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, card) in self.iter().enumerate() {
            let space = if place > 0 { " " } else { "" };
            write!(f, "{space}{card}")?;
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
    /// A card named twice is refused: a set that shrinks unseen would hide a client's mistake.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cards = Vec::<Card>::deserialize(deserializer)?;
        let set: Self = cards.iter().copied().collect();
        if usize::from(set.len()) == cards.len() {
            Ok(set)
        } else {
            Err(D::Error::custom("a card is named twice"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CardSet;
    use crate::games::tongo_assets::card::{Acquire, Card};

    #[test]
    fn is_written_as_the_ascending_list_of_its_cards() {
        let set: CardSet = ["W0", "4Rb", "4Ra"].iter().map(|card| card.parse().unwrap()).collect();
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["4Ra","4Rb","W0"]"#);
        assert_eq!(serde_json::from_str::<CardSet>(r#"["W0","4Ra","4Rb"]"#).unwrap(), set);
        assert!(serde_json::from_str::<CardSet>(r#"["4Ra","4Ra"]"#).is_err());
    }

    #[test]
    fn a_set_knows_its_kinds() {
        let all: CardSet = Card::all().collect();
        assert_eq!((all.len(), all.assets().len(), all.wilds().len()), (128, 98, 14));
        assert_eq!(all.copies(), ((1 << 49) - 1, (1 << 49) - 1));
        let counts = [(Acquire::Free, "F0"), (Acquire::Reveal, "V0"), (Acquire::Dividend, "D0")];
        for (kind, first) in counts {
            assert_eq!(all.first_of(kind), first.parse().ok());
        }
        assert_eq!(all.first_of(Acquire::Audit), "X0".parse().ok());
    }
}
