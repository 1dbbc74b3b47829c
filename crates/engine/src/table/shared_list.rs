//! An append-only list that is cloned at every step of a table. Clones share all but the last few
//! items.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The maximum number of items that a clone owns.
const OWN: usize = 8;

/// A list of items in the order in which they were appended.
#[derive(Clone, PartialEq)]
pub struct SharedList<T> {
    /// The full chunks, which never change, so that clones share them.
    earlier: Option<Arc<Earlier<T>>>,
    last: ArrayVec<T, OWN>,
}

#[derive(PartialEq)]
struct Earlier<T> {
    before: Option<Arc<Self>>,
    items: ArrayVec<T, OWN>,
}

impl<T> SharedList<T> {
    pub fn push(&mut self, item: T) {
        if self.last.is_full() {
            let items = core::mem::take(&mut self.last);
            self.earlier = Some(Arc::new(Earlier { before: self.earlier.take(), items }));
        }
        self.last.push(item);
    }

    pub fn last(&self) -> Option<&T> {
        self.last.last()
    }

    /// Iterates over the items in the order in which they were appended.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut parts = Vec::new();
        let mut next = self.earlier.as_deref();
        while let Some(earlier) = next {
            parts.push(&earlier.items);
            next = earlier.before.as_deref();
        }
        parts.into_iter().rev().chain([&self.last]).flatten()
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self { earlier: None, last: ArrayVec::new() }
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        items.into_iter().for_each(|item| list.push(item));
        list
    }
}

impl<T: fmt::Debug> fmt::Debug for SharedList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Serialize> Serialize for SharedList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SharedList<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_does_not_change_a_clone() {
        for length in 0..40 {
            let list: SharedList<usize> = (0..length).collect();
            let mut longer = list.clone();
            longer.push(length);
            assert!(list.iter().copied().eq(0..length), "{list:?}");
            assert!(longer.iter().copied().eq(0..=length), "{longer:?}");
            assert_eq!((list == longer, longer.last()), (false, Some(&length)));
        }
    }

    #[test]
    fn a_shared_list_is_serialized_as_a_list() {
        let list: SharedList<u8> = (0..20).collect();
        let text = serde_json::to_string(&list).expect("numbers are JSON");
        assert_eq!(text, serde_json::to_string(&(0..20).collect::<Vec<u8>>()).expect("as above"));
        assert_eq!(serde_json::from_str::<SharedList<u8>>(&text).ok(), Some(list));
    }
}
