//! The slots of a section: seven for assets and three for acquire cards, each full or empty.

use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::games::tongo_assets::card::Card;
use crate::games::tongo_assets::rules::{ACQUIRE_SLOTS, SLOTS};

/// A set of a section's asset slots, serialized as the ascending list of their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsSlots"))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<u8>", extend("uniqueItems" = true, "maxItems" = 7)))]
pub struct SlotSet(u8);

impl SlotSet {
    pub const EMPTY: Self = Self(0);

    pub const fn contains(self, slot: u8) -> bool {
        slot < SLOTS && self.0 >> slot & 1 == 1
    }

    pub const fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns the set with this slot.
    ///
    /// # Panics
    /// If there is no such slot.
    #[must_use]
    pub const fn with(self, slot: u8) -> Self {
        assert!(slot < SLOTS, "a section has seven slots");
        Self(self.0 | 1 << slot)
    }

    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn len(self) -> u8 {
        self.0.count_ones().to_le_bytes()[0]
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the slots in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> + Clone {
        (0..SLOTS).filter(move |slot| self.contains(*slot))
    }

    /// Iterates over the subsets with `wanted` slots, in ascending order of bits.
    pub(super) fn choices(self, wanted: u8) -> impl Iterator<Item = Self> {
        let all = self;
        (0..1_u8 << SLOTS)
            .map(Self)
            .filter(move |some| some.len() == wanted && all.contains_all(*some))
    }
}

impl FromIterator<u8> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u8>>(slots: I) -> Self {
        slots.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl Serialize for SlotSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for SlotSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slots = Vec::<u8>::deserialize(deserializer)?;
        if slots.iter().any(|slot| *slot >= SLOTS) {
            return Err(D::Error::custom("a slot is a number from 0 to 6"));
        }
        let set: Self = slots.iter().copied().collect();
        if usize::from(set.len()) == slots.len() {
            Ok(set)
        } else {
            Err(D::Error::custom("a slot is named twice"))
        }
    }
}

/// The public state of a section: the full slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsSection"))]
pub struct Section {
    /// The slots that hold an asset.
    pub slots: SlotSet,
    /// The number of acquire cards.
    pub acquires: u8,
}

/// The assets in a section's seven slots; `null` for an empty slot.
pub type Assets = [Option<Card>; SLOTS as usize];

/// The face-down cards of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsHiddenSection"))]
pub struct HiddenSection {
    pub assets: Assets,
    /// The acquire cards; the first one present is the next.
    pub acquires: [Option<Card>; ACQUIRE_SLOTS as usize],
}

impl HiddenSection {
    /// Returns the public state of the section.
    pub fn public_section(&self) -> Section {
        let full = (0..).zip(&self.assets).filter(|(_, asset)| asset.is_some());
        let acquires = self.acquires.iter().flatten().map(|_| 1).sum();
        Section { slots: full.map(|(slot, _)| slot).collect(), acquires }
    }

    /// Takes the section's next acquire card (rule 3.3).
    pub(super) fn take_acquire(&mut self) -> Option<Card> {
        self.acquires.iter_mut().find_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::SlotSet;

    #[test]
    fn slots_are_written_as_a_list_and_chosen_from() {
        let slots: SlotSet = [6, 0, 3].into_iter().collect();
        assert_eq!(serde_json::to_string(&slots).unwrap(), "[0,3,6]");
        assert_eq!(serde_json::from_str::<SlotSet>("[6,0,3]").unwrap(), slots);
        assert_eq!(slots.choices(2).count(), 3);
        assert_eq!(slots.choices(3).collect::<alloc::vec::Vec<_>>(), [slots]);
    }
}
