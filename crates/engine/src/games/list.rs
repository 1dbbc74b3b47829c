//! A short list in a fixed array, so that a game is copied without traversal or allocation: values
//! by seat, dice, decks, piles. It serializes as a list.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::seat::SEATS_MAX;

/// A list with one item for each seat of a game.
pub type BySeat<T> = List<T, { SEATS_MAX as usize }>;

/// A list of at most `N` items.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline, with = "Vec<T>", description = "", extend("maxItems" = N)))]
pub struct List<T, const N: usize> {
    /// The items; those beyond `len` are stale.
    things: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    pub fn new() -> Self {
        Self { things: [T::default(); N], len: 0 }
    }

    /// Appends an item.
    ///
    /// # Panics
    /// If the list is full.
    pub fn push(&mut self, thing: T) {
        let place = self.things.get_mut(usize::from(self.len));
        *place.expect("the capacity suffices for every item") = thing;
        self.len += 1;
    }

    /// Removes the last item.
    pub(super) fn pop(&mut self) -> Option<T> {
        let last = *self.last()?;
        self.len -= 1;
        Some(last)
    }

    /// Removes the first `count` items.
    pub(super) fn drop_first(&mut self, count: usize) {
        let count = count.min(self.len());
        self.things.copy_within(count.., 0);
        self.len -= u8::try_from(count).expect("no more than there are");
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.things.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.things.get_mut(..usize::from(self.len)).unwrap_or_default()
    }
}

impl<T: Copy + Default, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for List<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        let mut list = Self::new();
        things.into_iter().for_each(|thing| list.push(thing));
        list
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Serialize, const N: usize> Serialize for List<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Deserialize<'de> + Copy + Default, const N: usize> Deserialize<'de> for List<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let things = Vec::<T>::deserialize(deserializer)?;
        if things.len() > N {
            return Err(D::Error::custom(alloc::format!("a list of more than {N}")));
        }
        Ok(things.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::List;

    #[test]
    fn unused_places_do_not_affect_equality() {
        let mut list: List<u8, 4> = [3, 1, 2].into_iter().collect();
        list.drop_first(1);
        assert_eq!(*list, [1, 2]);
        assert_eq!(list, [1, 2].into_iter().collect());
        assert_eq!(serde_json::to_string(&list).unwrap(), "[1,2]");
        assert_eq!(serde_json::from_str::<List<u8, 4>>("[1,2]").unwrap(), list);
        assert!(serde_json::from_str::<List<u8, 4>>("[1,2,3,4,5]").is_err());
    }
}
