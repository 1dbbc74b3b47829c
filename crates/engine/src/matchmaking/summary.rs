//! What of a ticket decides most comparisons, in a few bytes: a round compares hundreds of thousands
//! of pairs, and most of them fail by a rating or by a key that very many have, such as one
//! address. The rest of a ticket is looked at only where this lets a pair pass.

use alloc::vec::Vec;

use crate::matchmaking::{ConflictKey, RoomSet, Ticket, rating_window};

/// Conflict keys that a brief knows: those that the most tickets have.
const COMMON_MAX: usize = 64;

/// What fewer tickets have than this is not worth a place.
const COMMON_FROM: usize = 4;

/// A ticket in brief.
#[derive(Clone, Copy, Debug)]
pub(super) struct TicketSummary {
    /// A bit for each of the common conflict keys, networks among them.
    common: u64,
    rooms: RoomSet,
    rating: i32,
    /// How far the ratings may be apart for one that has waited so long.
    window: u32,
}

/// The common conflict keys that keep players of a room apart, as bits of [`TicketSummary`]s.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyMask(u64);

impl TicketSummary {
    /// Returns the briefs of all tickets, in their order, and the bits of the keys that are networks.
    pub(super) fn summarize_all(tickets: &[Ticket], waited_ms: &[u64]) -> (Vec<Self>, KeyMask) {
        let common = most_common_keys(tickets);
        let place = |key: &ConflictKey| common.binary_search(key).ok();
        let bits = |ticket: &Ticket| {
            all_keys(ticket).filter_map(|key| place(&key)).fold(0, |bits, at| bits | 1 << at)
        };
        let networks = tickets.iter().filter_map(|ticket| place(&ticket.who.network?));
        let networks = KeyMask(networks.fold(0, |bits, at| bits | 1 << at));
        let summary = |(ticket, waited_ms): (&Ticket, &u64)| Self {
            common: bits(ticket),
            rooms: ticket.rooms,
            rating: ticket.who.rating,
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

    /// Returns its common conflict keys of this mask, by number.
    fn conflict_keys(&self, mask: KeyMask) -> impl Iterator<Item = usize> {
        let mut left = self.common & mask.0;
        core::iter::from_fn(move || {
            let key = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(key)
        })
    }

    /// Returns whether nothing that is known in brief keeps the two apart. A window widens with waiting,
    /// so the wider one is that of the player who has waited longer.
    pub(super) fn may_fit(&self, other: &Self, mask: KeyMask) -> bool {
        self.common & other.common & mask.0 == 0
            && self.rating.abs_diff(other.rating) <= self.window.max(other.window)
    }
}

impl KeyMask {
    /// Returns the keys that count in a room, from those that are networks.
    pub(super) fn for_room(networks: Self, networks_apart: bool) -> Self {
        if networks_apart { Self(u64::MAX) } else { Self(!networks.0) }
    }
}

/// How many wait for one room, and with which common conflict keys: so that nobody searches among thousands
/// who all have the same one.
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

    /// Takes one of them out.
    pub(super) fn remove(&mut self, member: &TicketSummary) {
        self.count = self.count.saturating_sub(1);
        for key in member.conflict_keys(self.mask) {
            self.with_key[key] = self.with_key[key].saturating_sub(1);
        }
    }

    /// At most so many others share no common key with one of them.
    pub(super) fn max_partners(&self, member: &TicketSummary) -> u32 {
        let alike = member.conflict_keys(self.mask).map(|key| self.with_key[key]).max();
        self.count.saturating_sub(alike.unwrap_or(1).max(1))
    }
}

/// Returns all keys that may keep a ticket apart from another.
fn all_keys(ticket: &Ticket) -> impl Iterator<Item = ConflictKey> {
    ticket.who.conflict_keys.iter().copied().chain(ticket.who.network)
}

/// The conflict keys that the most tickets have, in their own order.
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
