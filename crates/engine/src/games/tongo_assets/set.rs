//! A set of cards in one word, serialized as the list of its cards in ascending order of index.

use crate::games::tongo_assets::card::{ASSETS, Acquire, Card, TYPES};

card_set! {
    /// A set of cards.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsCards"))]
    #[cfg_attr(feature = "schema", schemars(with = "alloc::vec::Vec<Card>", extend("uniqueItems" = true, "maxItems" = 128)))]
    pub struct CardSet(u128) of Card;
}

const ASSET_BITS: u128 = (1 << ASSETS) - 1;
const TYPE_BITS: u128 = (1 << TYPES) - 1;
const WILD_BITS: u128 = kind_bits(Acquire::Wild);

impl CardSet {
    /// Returns the number of cards, in the type of public counts.
    pub const fn count(self) -> u8 {
        self.0.count_ones().to_le_bytes()[0]
    }

    /// Returns the assets of the set.
    #[must_use]
    pub const fn assets(self) -> Self {
        Self(self.0 & ASSET_BITS)
    }

    /// Returns the acquire cards of the set.
    #[must_use]
    pub const fn acquires(self) -> Self {
        Self(self.0 & !ASSET_BITS)
    }

    /// Returns the wilds of the set.
    #[must_use]
    pub const fn wilds(self) -> Self {
        Self(self.0 & WILD_BITS)
    }

    /// Returns the first card of this kind.
    pub const fn first_of(self, kind: Acquire) -> Option<Card> {
        Self(self.0 & kind_bits(kind)).first()
    }

    /// Returns the assets by copy, each as a mask with the bit colour × 7 + number − 1.
    pub const fn copies(self) -> (u64, u64) {
        let first = self.0 & TYPE_BITS;
        let second = self.0 >> TYPES & TYPE_BITS;
        (first as u64, second as u64)
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
