//! A game in the form that programs which learn want: what a seat sees as whole numbers in fixed
//! places, and what it may do as numbers of a fixed list.
//!
//! Both are made of a view, so that neither knows more than the seat. The *tensor* of a view is the
//! numbers of all [`Field`]s, one field after the other; it is equally long for any number of seats.
//! Seats in it are counted from the viewer: 0 is itself, 1 who plays after it. An action's number is
//! its place in [`Spaces::action_names`]. Where numbers of the rules are free, as a price is, an
//! action that is not listed as legal has none.
//!
//! Deliberately absent: floating-point numbers. Each field says the most that it holds, by which
//! whoever wants fractions divides.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::game::GameKind;
use crate::seat::{SEATS_MAX, Seat, SeatSet};

/// Some numbers of a tensor that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// In snake case.
    pub name: &'static str,
    /// How many numbers it has.
    pub len: usize,
    /// The greatest number in it; the least is zero.
    pub most: i16,
    /// What it means, for people.
    pub about: &'static str,
}

/// A game that has such a form.
pub trait Spaces: GameKind {
    /// What a tensor consists of, in order.
    const FIELDS: &'static [Field];

    /// The name of every action that has a number, by number. Each name is there once.
    fn action_names() -> Vec<String>;

    /// The number of an action of the viewer, which is one of those listed as legal. Some numbers
    /// stand for several actions: the page of the game says which.
    fn action_number(view: &Self::View, action: &Self::Action) -> Option<u16>;

    /// Writes the numbers of all fields.
    fn write_tensor(view: &Self::View, tensor: &mut Tensor<'_>);
}

/// A field by its name, length, most and meaning.
pub const fn field(name: &'static str, len: usize, most: i16, about: &'static str) -> Field {
    Field { name, len, most, about }
}

/// The length of a game's tensors.
pub fn tensor_len<G: Spaces>() -> usize {
    G::FIELDS.iter().map(|field| field.len).sum()
}

/// Where the numbers of a tensor are written, one field after the other.
#[derive(Debug)]
pub struct Tensor<'a>(pub &'a mut Vec<i16>);

impl Tensor<'_> {
    /// One number; a greater one than fits is written as the greatest that does.
    pub fn push_number(&mut self, number: u32) {
        self.0.push(i16::try_from(number).unwrap_or(i16::MAX));
    }

    pub fn push_flag(&mut self, flag: bool) {
        self.0.push(i16::from(flag));
    }

    /// A number for each of the lowest bits.
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

    /// Zeros, but one at the place, if there is one.
    pub fn push_one_hot(&mut self, place: Option<u8>, len: u8) {
        let zeros = self.push_zeros(len);
        if let Some(number) = place.and_then(|place| zeros.get_mut(usize::from(place))) {
            *number = 1;
        }
    }

    /// So many zeros at the end.
    fn push_zeros(&mut self, len: u8) -> &mut [i16] {
        let begin = self.0.len();
        self.0.resize(begin + usize::from(len), 0);
        &mut self.0[begin..]
    }
}

/// The seats of a game as one of them counts them.
#[derive(Clone, Copy, Debug)]
pub struct SeatRotation {
    pub viewer: Seat,
    /// How many play.
    pub seats: u8,
}

impl SeatRotation {
    /// How many places after the viewer a seat plays.
    pub const fn offset_of(self, seat: Seat) -> u8 {
        (seat.number() + self.seats - self.viewer.number()) % self.seats
    }

    /// Every seat, the viewer first.
    pub fn seats(self) -> impl Iterator<Item = Seat> + Clone {
        [self.viewer].into_iter().chain(self.viewer.others(self.seats))
    }

    /// A number for each seat that a table can have; zero where nobody plays.
    pub fn write_numbers(self, tensor: &mut Tensor<'_>, mut number: impl FnMut(Seat) -> u32) {
        self.seats().for_each(|seat| tensor.push_number(number(seat)));
        (self.seats..SEATS_MAX).for_each(|_| tensor.push_number(0));
    }

    /// Zeros for the seats that a table can have, but one at this seat, if there is one.
    pub fn write_one_hot(self, tensor: &mut Tensor<'_>, seat: Option<Seat>) {
        tensor.push_one_hot(seat.map(|seat| self.offset_of(seat)), SEATS_MAX);
    }

    /// A flag for each seat that a table can have.
    pub fn write_flags(self, tensor: &mut Tensor<'_>, seats: SeatSet) {
        self.write_numbers(tensor, |seat| u32::from(seats.contains(seat)));
    }
}
