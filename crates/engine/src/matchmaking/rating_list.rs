//! The waiting tickets of one room in order of rating, as a linked list from which any ticket is
//! removed in constant time. A search outward from a ticket therefore never visits placed tickets.

use alloc::vec;
use alloc::vec::Vec;

/// The index that stands for no neighbour.
const NONE: u32 = u32::MAX;

/// The list of one room. Tickets are identified by their index in the round.
#[derive(Clone, Debug)]
pub(super) struct RatingList {
    /// The next lower and the next higher ticket, by ticket.
    neighbours: Vec<[u32; 2]>,
}

/// The direction of a step from a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Down,
    Up,
}

impl RatingList {
    /// Creates a list from all tickets of the room in ascending order of rating; `count` is the
    /// number of tickets of all rooms.
    pub(super) fn new(by_rating: &[u32], count: usize) -> Self {
        let mut neighbours = vec![[NONE; 2]; count];
        for pair in by_rating.windows(2) {
            let [low, high] = [pair[0], pair[1]];
            neighbours[low as usize][1] = high;
            neighbours[high as usize][0] = low;
        }
        Self { neighbours }
    }

    pub(super) fn next(&self, ticket: u32, direction: Direction) -> Option<u32> {
        let next = self.neighbours[ticket as usize][direction as usize];
        (next != NONE).then_some(next)
    }

    /// Removes a ticket. A ticket of another room has no neighbours, so nothing changes.
    pub(super) fn remove(&mut self, ticket: u32) {
        let [low, high] = core::mem::replace(&mut self.neighbours[ticket as usize], [NONE; 2]);
        if low != NONE {
            self.neighbours[low as usize][1] = high;
        }
        if high != NONE {
            self.neighbours[high as usize][0] = low;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, RatingList};

    #[test]
    fn a_removed_ticket_is_skipped() {
        let mut list = RatingList::new(&[3, 0, 2], 4);
        assert_eq!(list.next(0, Direction::Down), Some(3));
        list.remove(0);
        assert_eq!(list.next(3, Direction::Up), Some(2));
        assert_eq!(list.next(2, Direction::Down), Some(3));
        list.remove(1);
        list.remove(3);
        assert_eq!(list.next(2, Direction::Down), None);
    }
}
