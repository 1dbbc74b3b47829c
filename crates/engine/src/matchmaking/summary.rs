//! A summary of a ticket in a few bytes that decides most comparisons. A round compares hundreds of
//! thousands of pairs, and most of them fail by a rating or by a common key, such as one address.
//! The full ticket is only read for pairs that pass.

use alloc::vec::Vec;

use crate::matchmaking::{ConflictKey, RoomSet, Ticket, rating_window};

/// The number of conflict keys in a summary: the most common ones.
const COMMON_MAX: usize = 64;

/// The minimum number of tickets that share a common key.
const COMMON_FROM: usize = 4;

/// The summary of a ticket.
#[derive(Clone, Copy, Debug)]
pub(super) struct TicketSummary {
    /// The bits of the common conflict keys, including networks.
    common: u64,
    rooms: RoomSet,
    rating: i32,
    /// The maximum difference of ratings after this ticket's waiting time.
    window: u32,
}

/// The common conflict keys that separate players in a room, as bits of [`TicketSummary`].
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyMask(u64);

impl TicketSummary {
    /// Returns the summaries of all tickets, in their order, and the bits of the keys that are
    /// networks.
    pub(super) fn summarize_all(tickets: &[Ticket], waited_ms: &[u64]) -> (Vec<Self>, KeyMask) {
        let common = most_common_keys(tickets);
        let place = |key: &ConflictKey| common.binary_search(key).ok();
        let bits = |ticket: &Ticket| {
            all_keys(ticket).filter_map(|key| place(&key)).fold(0, |bits, at| bits | 1 << at)
        };
        let networks = tickets.iter().filter_map(|ticket| place(&ticket.candidate.network?));
        let networks = KeyMask(networks.fold(0, |bits, at| bits | 1 << at));
        let summary = |(ticket, waited_ms): (&Ticket, &u64)| Self {
            common: bits(ticket),
            rooms: ticket.rooms,
            rating: ticket.candidate.rating,
            window: rating_window(*waited_ms),
        };
        (tickets.iter().zip(waited_ms).map(summary).collect(), networks)
    }

    pub(super) fn rating(&self) -> i32 {
        self.rating
    }

    pub(super) fn accepts_room(&self, room: usize) -> bool {
        self.rooms.contains(room)
    }

    /// Iterates over the indices of the ticket's common conflict keys in this mask.
    fn conflict_keys(&self, mask: KeyMask) -> impl Iterator<Item = usize> {
        let mut left = self.common & mask.0;
        core::iter::from_fn(move || {
            let key = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(key)
        })
    }

    /// Returns whether the summaries do not separate the two. A window widens with waiting, so the
    /// wider one is that of the player who has waited longer.
    pub(super) fn may_fit(&self, other: &Self, mask: KeyMask) -> bool {
        self.common & other.common & mask.0 == 0
            && self.rating.abs_diff(other.rating) <= self.window.max(other.window)
    }
}

impl KeyMask {
    /// Returns the keys that separate players in a room, given those that are networks.
    pub(super) fn for_room(networks: Self, networks_apart: bool) -> Self {
        if networks_apart { Self(u64::MAX) } else { Self(!networks.0) }
    }
}

/// The number of tickets that wait for one room, in total and by common conflict key, so that no
/// search runs among thousands that share a key.
#[derive(Clone, Debug)]
pub(super) struct KeyCounts {
    count: u32,
    mask: KeyMask,
    with_key: [u32; COMMON_MAX],
}

impl KeyCounts {
    pub(super) fn count_members<'a>(
        members: impl Iterator<Item = &'a TicketSummary>,
        mask: KeyMask,
    ) -> Self {
        let mut counts = Self { count: 0, mask, with_key: [0; COMMON_MAX] };
        for member in members {
            counts.count += 1;
            member.conflict_keys(mask).for_each(|key| counts.with_key[key] += 1);
        }
        counts
    }

    /// Removes a ticket from the counts.
    pub(super) fn remove(&mut self, member: &TicketSummary) {
        self.count = self.count.saturating_sub(1);
        for key in member.conflict_keys(self.mask) {
            self.with_key[key] = self.with_key[key].saturating_sub(1);
        }
    }

    /// Returns an upper bound of the number of other tickets that share no common key with this
    /// one.
    pub(super) fn max_partners(&self, member: &TicketSummary) -> u32 {
        let alike = member.conflict_keys(self.mask).map(|key| self.with_key[key]).max();
        self.count.saturating_sub(alike.unwrap_or(1).max(1))
    }
}

/// Returns all keys that may separate a ticket from another.
fn all_keys(ticket: &Ticket) -> impl Iterator<Item = ConflictKey> {
    ticket.candidate.conflict_keys.iter().copied().chain(ticket.candidate.network)
}

/// Returns the conflict keys that the most tickets share, in ascending order.
fn most_common_keys(tickets: &[Ticket]) -> Vec<ConflictKey> {
    let mut all: Vec<ConflictKey> = tickets.iter().flat_map(all_keys).collect();
    all.sort_unstable();
    let mut counted: Vec<(usize, ConflictKey)> = all
        .chunk_by(|one, other| one == other)
        .filter(|alike| alike.len() >= COMMON_FROM)
        .map(|alike| (alike.len(), alike[0]))
        .collect();
    counted.sort_unstable_by(|one, other| other.cmp(one));
    counted.truncate(COMMON_MAX);
    let mut common: Vec<ConflictKey> = counted.into_iter().map(|(_, key)| key).collect();
    common.sort_unstable();
    common
}
