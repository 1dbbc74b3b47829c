//! What of a ticket decides most comparisons, in a few bytes: a round compares hundreds of thousands
//! of pairs, and most of them fail by a rating or by a mark that very many have, such as one
//! address. The rest of a ticket is looked at only where this lets a pair pass.

use alloc::vec::Vec;

use crate::matchmaking::{Mark, RoomSet, Ticket, window};

/// Marks that a brief knows: those that the most tickets have.
const COMMON_MAX: usize = 64;

/// What fewer tickets have than this is not worth a place.
const COMMON_FROM: usize = 4;

/// A ticket in brief.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    /// A bit for each of the common marks.
    common: u64,
    rooms: RoomSet,
    rating: i32,
    /// How far the ratings may be apart for one that has waited so long.
    window: u32,
}

impl Brief {
    /// Of all tickets, in their order.
    pub(super) fn of_all(tickets: &[Ticket], waited_ms: &[u64]) -> Vec<Self> {
        let common = common(tickets);
        let place = |mark: &Mark| common.binary_search(mark).ok();
        let bits =
            |marks: &[Mark]| marks.iter().filter_map(place).fold(0, |bits, at| bits | 1 << at);
        let brief = |(ticket, waited_ms): (&Ticket, &u64)| Self {
            common: bits(&ticket.who.marks),
            rooms: ticket.rooms,
            rating: ticket.who.rating,
            window: window(*waited_ms),
        };
        tickets.iter().zip(waited_ms).map(brief).collect()
    }

    pub(super) fn rating(&self) -> i32 {
        self.rating
    }

    pub(super) fn wants(&self, room: usize) -> bool {
        self.rooms.contains(room)
    }

    /// Its common marks, by number.
    fn marks(&self) -> impl Iterator<Item = usize> {
        let mut left = self.common;
        core::iter::from_fn(move || {
            let mark = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(mark)
        })
    }

    /// Whether nothing that is known in brief keeps the two apart. A window widens with waiting, so
    /// the wider one is that of the one who has waited longer.
    pub(super) fn may_fit(&self, other: &Self) -> bool {
        self.common & other.common == 0
            && self.rating.abs_diff(other.rating) <= self.window.max(other.window)
    }
}

/// How many wait for one room, and with which common marks: so that nobody searches among thousands
/// who all have the same one.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    count: u32,
    with_mark: [u32; COMMON_MAX],
}

impl Crowd {
    pub(super) fn of<'a>(members: impl Iterator<Item = &'a Brief>) -> Self {
        let mut crowd = Self { count: 0, with_mark: [0; COMMON_MAX] };
        for member in members {
            crowd.count += 1;
            member.marks().for_each(|mark| crowd.with_mark[mark] += 1);
        }
        crowd
    }

    /// Takes one of them out.
    pub(super) fn remove(&mut self, member: &Brief) {
        self.count = self.count.saturating_sub(1);
        for mark in member.marks() {
            self.with_mark[mark] = self.with_mark[mark].saturating_sub(1);
        }
    }

    /// At most so many others share no common mark with one of them.
    pub(super) fn others_for(&self, member: &Brief) -> u32 {
        let alike = member.marks().map(|mark| self.with_mark[mark]).max();
        self.count.saturating_sub(alike.unwrap_or(1).max(1))
    }
}

/// The marks that the most tickets have, in their own order.
fn common(tickets: &[Ticket]) -> Vec<Mark> {
    let mut all: Vec<Mark> =
        tickets.iter().flat_map(|ticket| ticket.who.marks.iter().copied()).collect();
    all.sort_unstable();
    let mut counted: Vec<(usize, Mark)> = all
        .chunk_by(|one, other| one == other)
        .filter(|alike| alike.len() >= COMMON_FROM)
        .map(|alike| (alike.len(), alike[0]))
        .collect();
    counted.sort_unstable_by(|one, other| other.cmp(one));
    counted.truncate(COMMON_MAX);
    let mut common: Vec<Mark> = counted.into_iter().map(|(_, mark)| mark).collect();
    common.sort_unstable();
    common
}
