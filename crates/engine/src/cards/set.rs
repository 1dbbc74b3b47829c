//! A set of cards as a bit mask: bit n is the card with index n.

use crate::cards::Card;

/// The 54 bits of all cards.
const ALL_BITS: u64 = (1 << Card::COUNT) - 1;

/// The 52 bits of the cards with a rank and a suit.
const STANDARD_BITS: u64 = (1 << Card::STANDARD_COUNT) - 1;

card_set! {
    /// A set of cards, serialized as the list of its cards in ascending order of index.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(with = "alloc::vec::Vec<Card>", extend("uniqueItems" = true, "maxItems" = 54)))]
    pub struct CardSet(u64) of Card;
}

impl CardSet {
    /// The set of all cards.
    pub const ALL: Self = Self(ALL_BITS);
    /// The set of a deck without jokers.
    pub const STANDARD: Self = Self(STANDARD_BITS);
    pub const JOKERS: Self = Self(ALL_BITS & !STANDARD_BITS);

    /// Returns the set of the cards whose bits are set; bits that belong to no card are ignored.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & ALL_BITS)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    pub const fn has_joker(self) -> bool {
        self.0 > STANDARD_BITS
    }

    /// Returns the cards that are not jokers.
    #[must_use]
    pub const fn naturals(self) -> Self {
        Self(self.0 & STANDARD_BITS)
    }

    #[must_use]
    pub const fn jokers(self) -> Self {
        Self(self.0 & !STANDARD_BITS)
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
