//! A list with one item per seat, or per section of the table: at most eight, in a fixed array,
//! because a game is copied at every action. It serializes as a list.

use core::fmt;
use core::ops::{Index, IndexMut};

use arrayvec::ArrayVec;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use crate::seat::{SEATS_MAX, Seat};

/// The maximum number of seats, and of sections.
const MOST: usize = SEATS_MAX as usize;

/// A list with one item per seat, or per section.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline, with = "alloc::vec::Vec<T>", extend("maxItems" = MOST)))]
pub struct Ring<T> {
    items: [T; MOST],
    len: u8,
}

impl<T: Copy + Default> Ring<T> {
    /// Creates a list of `len` default items.
    ///
    /// # Panics
    /// If `len` exceeds the number of seats of a table.
    pub fn new(len: u8) -> Self {
        assert!(usize::from(len) <= MOST, "a table has at most eight seats and sections");
        Self { items: [T::default(); MOST], len }
    }

    pub fn as_slice(&self) -> &[T] {
        self.items.get(..usize::from(self.len)).unwrap_or_default()
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.items.get_mut(..usize::from(self.len)).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.as_slice().iter()
    }

    /// Iterates over the items with their seats.
    pub fn by_seat(&self) -> impl Iterator<Item = (Seat, &T)> {
        Seat::all(self.len).zip(self.as_slice())
    }

    /// Returns a list of the same length with mapped items.
    pub fn map<U: Copy + Default>(&self, mut to: impl FnMut(&T) -> U) -> Ring<U> {
        let mut mapped = Ring::new(self.len);
        for (target, item) in mapped.as_mut_slice().iter_mut().zip(self.as_slice()) {
            *target = to(item);
        }
        mapped
    }
}

impl<T: Copy + Default> Index<Seat> for Ring<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        &self.items[seat.index()]
    }
}

impl<T: Copy + Default> IndexMut<Seat> for Ring<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        &mut self.items[seat.index()]
    }
}

impl<T: Copy + Default> Index<u8> for Ring<T> {
    type Output = T;

    fn index(&self, section: u8) -> &T {
        &self.items[usize::from(section)]
    }
}

impl<T: Copy + Default> IndexMut<u8> for Ring<T> {
    fn index_mut(&mut self, section: u8) -> &mut T {
        &mut self.items[usize::from(section)]
    }
}

impl<T: Copy + Default + fmt::Debug> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl<T: Copy + Default + Serialize> Serialize for Ring<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.as_slice())
    }
}

impl<'de, T: Copy + Default + Deserialize<'de>> Deserialize<'de> for Ring<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = ArrayVec::<T, MOST>::deserialize(deserializer)?;
        let mut ring = Self::new(u8::try_from(read.len()).expect("at most eight"));
        ring.as_mut_slice().copy_from_slice(&read);
        Ok(ring)
    }
}
