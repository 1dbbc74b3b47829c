//! Observation and action spaces for learning programs: a seat's view as integers at fixed
//! positions, and its actions as numbers of a fixed list.
//!
//! Both are derived from a view, so that neither reveals more than the seat knows. The *tensor* of
//! a view is the concatenation of all [`Field`]s; its length does not depend on the number of
//! seats. Seats in it are relative to the viewer: 0 is the viewer, 1 the next to play. The number
//! of an action is its index in [`Spaces::action_names`]. An action with a free parameter, such as
//! a price, has no number unless it is listed as legal.
//!
//! Deliberately absent: floating-point numbers. Each field states its maximum, by which a client
//! can normalize.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::game::GameKind;
use crate::seat::{SEATS_MAX, Seat, SeatSet};

/// A named range of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The name, in snake case.
    pub name: &'static str,
    /// The number of values.
    pub len: usize,
    /// The maximum value; the minimum is zero.
    pub most: i16,
    /// The meaning, as documentation.
    pub about: &'static str,
}

/// A game with observation and action spaces.
pub trait Spaces: GameKind {
    /// The fields of a tensor, in order.
    const FIELDS: &'static [Field];

    /// Returns the names of all numbered actions, in the order of their numbers. The names are
    /// distinct.
    fn action_names() -> Vec<String>;

    /// Returns the number of a listed legal action of the viewer. Some numbers stand for several
    /// actions; the documentation of the game names them.
    fn action_number(view: &Self::View, action: &Self::Action) -> Option<u16>;

    /// Writes the values of all fields.
    fn write_tensor(view: &Self::View, tensor: &mut Tensor<'_>);
}

/// Creates a field from its name, length, maximum and meaning.
pub const fn field(name: &'static str, len: usize, most: i16, about: &'static str) -> Field {
    Field { name, len, most, about }
}

/// Returns the length of a game's tensors.
pub fn tensor_len<G: Spaces>() -> usize {
    G::FIELDS.iter().map(|field| field.len).sum()
}

/// Formats the indices of a choice as bits, such as `0+2`.
pub fn choice_text(choice: u16) -> String {
    let chosen = (0..u16::BITS).filter(|place| choice >> place & 1 == 1);
    let chosen: Vec<String> = chosen.map(|place| format!("{place}")).collect();
    if chosen.is_empty() { "nothing".into() } else { chosen.join("+") }
}

/// A writer of a tensor's values, one field after the other.
#[derive(Debug)]
pub struct Tensor<'a>(pub &'a mut Vec<i16>);

impl Tensor<'_> {
    /// Appends one value; a value above the maximum of `i16` is clamped.
    pub fn push_number(&mut self, number: u32) {
        self.0.push(i16::try_from(number).unwrap_or(i16::MAX));
    }

    pub fn push_flag(&mut self, flag: bool) {
        self.0.push(i16::from(flag));
    }

    /// Appends one value for each of the `len` lowest bits.
    pub fn push_bits(&mut self, bits: u64, len: u8) {
        let zeros = self.push_zeros(len);
        let mut left = bits;
        while left != 0 {
            if let Some(number) = zeros.get_mut(left.trailing_zeros() as usize) {
                *number = 1;
            }
            left &= left - 1;
        }
    }

    /// Appends a one-hot encoding: `len` zeros, except a one at `place` if there is one.
    pub fn push_one_hot(&mut self, place: Option<u8>, len: u8) {
        let zeros = self.push_zeros(len);
        if let Some(number) = place.and_then(|place| zeros.get_mut(usize::from(place))) {
            *number = 1;
        }
    }

    /// Appends `len` zeros and returns them.
    fn push_zeros(&mut self, len: u8) -> &mut [i16] {
        let begin = self.0.len();
        self.0.resize(begin + usize::from(len), 0);
        &mut self.0[begin..]
    }
}

/// The seats of a game relative to a viewer.
#[derive(Clone, Copy, Debug)]
pub struct SeatRotation {
    pub viewer: Seat,
    /// The number of seats in the game.
    pub seats: u8,
}

impl SeatRotation {
    /// Returns the order of the seats from the viewer on; a viewer without a seat counts from the
    /// first.
    pub fn from_viewer(viewer: Option<Seat>, seats: u8) -> Self {
        const FIRST: Seat = Seat::new(0).expect("every table has seat 0");
        Self { viewer: viewer.unwrap_or(FIRST), seats }
    }

    /// Returns the distance of a seat from the viewer in the order of play.
    pub const fn offset_of(self, seat: Seat) -> u8 {
        (seat.number() + self.seats - self.viewer.number()) % self.seats
    }

    /// Returns every seat, the viewer first.
    pub fn seats(self) -> impl Iterator<Item = Seat> + Clone {
        [self.viewer].into_iter().chain(self.viewer.others(self.seats))
    }

    /// Writes a number for each seat that a table can have; zero for seats that do not play.
    pub fn write_numbers(self, tensor: &mut Tensor<'_>, mut number: impl FnMut(Seat) -> u32) {
        self.seats().for_each(|seat| tensor.push_number(number(seat)));
        (self.seats..SEATS_MAX).for_each(|_| tensor.push_number(0));
    }

    /// Writes a one-hot encoding of a seat over all seats that a table can have.
    pub fn write_one_hot(self, tensor: &mut Tensor<'_>, seat: Option<Seat>) {
        tensor.push_one_hot(seat.map(|seat| self.offset_of(seat)), SEATS_MAX);
    }

    /// Writes a flag for each seat that a table can have.
    pub fn write_flags(self, tensor: &mut Tensor<'_>, seats: SeatSet) {
        self.write_numbers(tensor, |seat| u32::from(seats.contains(seat)));
    }
}
