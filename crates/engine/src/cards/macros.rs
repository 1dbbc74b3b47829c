//! Macros for the cards of every game: their notation, and sets of them as bit masks. They are
//! macros because sets are used in constants.

/// Implements formatting, parsing and serialization of a card by its `letters`, its `FromStr` and its
/// `from_index`, and defines the error for an invalid text. A card is text in formats that people
/// read, and its index in binary ones.
macro_rules! card_text {
    (
        $card:ty, $example:literal;
        $(#[$about:meta])*
        pub struct $error:ident = $sentence:literal;
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $error;

        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str($sentence)
            }
        }

        impl core::error::Error for $error {}

        impl core::fmt::Display for $card {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str($crate::cards::text(self.letters().as_ref()))
            }
        }

        impl core::fmt::Debug for $card {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }

        impl serde::Serialize for $card {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str($crate::cards::text(self.letters().as_ref()))
                } else {
                    serializer.serialize_u8(self.index())
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $card {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Notation;
                impl serde::de::Visitor<'_> for Notation {
                    type Value = $card;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str($example)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$card, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                if deserializer.is_human_readable() {
                    return deserializer.deserialize_str(Notation);
                }
                let index = u8::deserialize(deserializer)?;
                Self::from_index(index)
                    .ok_or_else(|| serde::de::Error::custom("no card has this index"))
            }
        }
    };
}

/// Defines a set of cards in which bit n is the card with index n. It serializes as the list of its
/// cards in ascending order of index. Its functions are inlined into other crates, whose AI
/// computes with sets.
macro_rules! card_set {
    (
        $(#[$about:meta])*
        pub struct $set:ident($bits:ty) of $card:ty;
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $set($bits);

        bit_set!($set, $card, index, from_index);

        impl core::fmt::Display for $set {
            /// Formats the cards separated by spaces, as in scenarios and logs.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                for (place, card) in self.iter().enumerate() {
                    let space = if place > 0 { " " } else { "" };
                    write!(f, "{space}{card}")?;
                }
                Ok(())
            }
        }

        impl core::fmt::Debug for $set {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{{{self}}}")
            }
        }

        impl<'de> serde::Deserialize<'de> for $set {
            /// Rejects a duplicate card, because a set that silently shrinks would hide a client's
            /// mistake.
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let cards = alloc::vec::Vec::<$card>::deserialize(deserializer)?;
                let set: Self = cards.iter().copied().collect();
                if set.len() == cards.len() {
                    Ok(set)
                } else {
                    Err(serde::de::Error::custom("a card is named twice"))
                }
            }
        }
    };
}
