//! Seats at a table, and sets of them. A table has two to eight seats, numbered from 0; play passes
//! to the next higher number and from the last seat to seat 0.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

/// The maximum number of seats of a table.
pub const SEATS_MAX: u8 = 8;

/// A seat at a table, below [`SEATS_MAX`], serialized as its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("maximum" = SEATS_MAX - 1)))]
pub struct Seat(u8);

impl Seat {
    /// Creates a seat; `None` for a number that no table has.
    pub const fn new(number: u8) -> Option<Self> {
        if number < SEATS_MAX { Some(Self(number)) } else { None }
    }

    pub const fn number(self) -> u8 {
        self.0
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the seat that plays after this one at a table of `seats` seats.
    #[must_use]
    pub const fn next(self, seats: u8) -> Self {
        Self((self.0 + 1) % seats)
    }

    /// Returns the seat that plays before this one at a table of `seats` seats.
    #[must_use]
    pub const fn previous(self, seats: u8) -> Self {
        Self((self.0 + seats - 1) % seats)
    }

    /// Returns every seat of a table of `seats` seats, in order.
    pub fn all(seats: u8) -> impl Iterator<Item = Self> + Clone {
        (0..seats.min(SEATS_MAX)).map(Self)
    }

    /// Returns the other seats of a table of `seats` seats in turn order, beginning after this one.
    pub fn others(self, seats: u8) -> impl Iterator<Item = Self> + Clone {
        (1..seats).map(move |steps| Self((self.0 + steps) % seats))
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}

impl<'de> Deserialize<'de> for Seat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u8::deserialize(deserializer)?)
            .ok_or_else(|| D::Error::custom("a seat is a number from 0 to 7"))
    }
}

/// A set of seats, serialized as the ascending list of their numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", extend("uniqueItems" = true)))]
pub struct SeatSet(u8);

bit_set!(SeatSet, Seat, number, new);

impl SeatSet {
    /// Returns the set of the first `seats` seats.
    pub const fn first_seats(seats: u8) -> Self {
        if seats >= SEATS_MAX { Self(u8::MAX) } else { Self((1 << seats) - 1) }
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'de> Deserialize<'de> for SeatSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Seat>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Seat, SeatSet};
    use alloc::vec::Vec;

    #[test]
    fn the_turn_passes_around_the_table() {
        let last = Seat::new(2).unwrap();
        assert_eq!(last.next(3).number(), 0);
        assert_eq!(last.next(3).previous(3), last);
        assert_eq!(last.others(3).map(Seat::number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(Seat::new(8), None);
    }

    #[test]
    fn a_set_is_the_ascending_list_of_its_seats() {
        let set: SeatSet = [2, 0].into_iter().filter_map(Seat::new).collect();
        assert_eq!(serde_json::to_string(&set).unwrap(), "[0,2]");
        assert_eq!(serde_json::from_str::<SeatSet>("[2,0]").unwrap(), set);
        assert!(serde_json::from_str::<SeatSet>("[9]").is_err());
        assert_eq!(set.without(Seat::new(0).unwrap()).len(), 1);
    }
}
