//! The macro for sets as bit masks.

/// Implements a set in which bit n is the item with index n. It serializes as the list of its items
/// in ascending order of index. Its functions are inlined into other crates, whose AI computes with
/// sets.
macro_rules! bit_set {
    ($set:ty, $item:ty, $index:ident, $from:ident) => {
        impl $set {
            pub const EMPTY: Self = Self(0);

            #[inline]
            pub const fn only(item: $item) -> Self {
                Self(1 << item.$index())
            }

            #[inline]
            pub const fn contains(self, item: $item) -> bool {
                self.0 >> item.$index() & 1 == 1
            }

            #[inline]
            pub const fn contains_all(self, other: Self) -> bool {
                other.0 & !self.0 == 0
            }

            #[must_use]
            #[inline]
            pub const fn with(self, item: $item) -> Self {
                Self(self.0 | 1 << item.$index())
            }

            #[must_use]
            #[inline]
            pub const fn without(self, item: $item) -> Self {
                Self(self.0 & !(1 << item.$index()))
            }

            #[must_use]
            #[inline]
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            #[must_use]
            #[inline]
            pub const fn intersection(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }

            #[must_use]
            #[inline]
            pub const fn difference(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            #[inline]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            #[inline]
            pub const fn len(self) -> usize {
                self.0.count_ones() as usize
            }

            /// Returns the item with the lowest index.
            #[inline]
            pub const fn first(self) -> Option<$item> {
                if self.0 == 0 {
                    return None;
                }
                <$item>::$from(self.0.trailing_zeros().to_le_bytes()[0])
            }

            /// Iterates over the items in ascending order of index.
            #[inline]
            pub fn iter(self) -> impl Iterator<Item = $item> + Clone {
                let mut left = self;
                core::iter::from_fn(move || {
                    let item = left.first()?;
                    left = Self(left.0 & (left.0 - 1));
                    Some(item)
                })
            }
        }

        impl FromIterator<$item> for $set {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                items.into_iter().fold(Self::EMPTY, Self::with)
            }
        }

        impl serde::Serialize for $set {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter())
            }
        }
    };
}
