//! Matchmaking: placements from waiting tickets, tables with free seats, and the time.
//!
//! [`Round::placements`] is a pure function without I/O, clock or hash order, so a round can be
//! repeated and tested by seeds. The caller carries out the placements, one round after the other.
//! A ticket that could not be placed returns in the next round and has then waited longer.
//!
//! A round first fills tables with a POT, occupied or not, then tables with free seats, the fullest
//! first, and then creates new tables. The oldest ticket chooses first. Two players fit each other
//! if they share no [`ConflictKey`], if neither has blocked the other, if they do not share a
//! network in a room that separates players of one network, if their ratings are within a window
//! that widens with the waiting time of the player who has waited longer, and if they have not just
//! played together. The last condition is dropped after [`REPEAT_MS`], because then no other
//! opponents are available.
//!
//! Bounds: [`ROOMS_MAX`] rooms, and a budget of comparisons, which bounds the time of a round
//! regardless of the number of tickets that fit nobody. Within the budget a round is complete: it
//! leaves no ticket for which there was a seat or a full group. Beyond the budget, the thorough
//! search starts with another ticket in each round, selected by [`Round::turn`], so that no ticket
//! starves.

mod rating_list;
mod search;
mod summary;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::table::{PlayerId, TableId, Timestamp};

use search::PlacementSearch;

/// The maximum number of rooms that a round distinguishes.
pub const ROOMS_MAX: usize = 64;

/// The initial width of the rating window, in thousandths.
pub const WINDOW: u32 = 3_000;

/// The growth of the rating window with each second of waiting, in thousandths.
pub const WINDOW_PER_SECOND: u32 = 1_000;

/// The waiting time after which ratings no longer separate players, in milliseconds.
pub const WINDOW_MS: u64 = 20_000;

/// The waiting time during which a ticket is not placed with the player's recent opponents, in
/// milliseconds.
pub const REPEAT_MS: u64 = 3_000;

uuid_ids! {
    /// The id of a request for a seat. A player has one at a time.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    TicketId;
}

/// A key that two players at one table must not share, such as that of a device. It is a digest, so
/// that its origin cannot be read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConflictKey(pub u64);

/// A set of rooms, as indices of [`Round::seats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoomSet(u64);

impl RoomSet {
    /// Returns the set with this room, if it is one of the first [`ROOMS_MAX`].
    #[must_use]
    pub fn with(self, room: usize) -> Self {
        if room < ROOMS_MAX { Self(self.0 | 1 << room) } else { self }
    }

    pub fn contains(self, room: usize) -> bool {
        room < ROOMS_MAX && self.0 >> room & 1 == 1
    }
}

impl FromIterator<usize> for RoomSet {
    fn from_iter<I: IntoIterator<Item = usize>>(rooms: I) -> Self {
        rooms.into_iter().fold(Self::default(), Self::with)
    }
}

/// The players that one player has blocked. Each side carries its whole list, which is compared
/// with the id of the other, so that no list of others displaces an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<PlayerId>")]
pub struct BlockList(Vec<PlayerId>);

impl BlockList {
    pub fn contains(&self, player: PlayerId) -> bool {
        self.0.binary_search(&player).is_ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = PlayerId> {
        self.0.iter().copied()
    }
}

impl From<Vec<PlayerId>> for BlockList {
    fn from(mut players: Vec<PlayerId>) -> Self {
        players.sort_unstable();
        Self(players)
    }
}

impl FromIterator<PlayerId> for BlockList {
    fn from_iter<I: IntoIterator<Item = PlayerId>>(players: I) -> Self {
        Self::from(players.into_iter().collect::<Vec<_>>())
    }
}

/// The properties of a player that decide whether others fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub player: PlayerId,
    /// The rating in thousandths.
    pub rating: i32,
    pub conflict_keys: Vec<ConflictKey>,
    /// The key of the player's network; `None` if it is unknown or not used in any room.
    pub network: Option<ConflictKey>,
    pub blocked: BlockList,
}

impl Candidate {
    /// Creates a player whom nothing separates from others.
    pub fn new(player: PlayerId, rating: i32) -> Self {
        let blocked = BlockList::default();
        Self { player, rating, conflict_keys: Vec::new(), network: None, blocked }
    }

    /// Returns whether the two may sit at one table, regardless of their ratings.
    pub fn may_meet(&self, other: &Self, networks_apart: bool) -> bool {
        let is_same_network = self.network.is_some() && self.network == other.network;
        let are_kept_apart = self.player == other.player
            || self.conflict_keys.iter().any(|key| other.conflict_keys.contains(key))
            || (networks_apart && is_same_network)
            || self.blocked.contains(other.player)
            || other.blocked.contains(self.player);
        !are_kept_apart
    }
}

/// A waiting ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub id: TicketId,
    pub candidate: Candidate,
    /// The acceptable rooms.
    pub rooms: RoomSet,
    /// The players of the last game.
    pub recent: Vec<PlayerId>,
    pub since: Timestamp,
}

/// A table with free seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTable {
    pub id: TableId,
    pub room: usize,
    pub seats_free: u8,
    pub has_pot: bool,
    /// The seated players; none at a table where a POT was left behind.
    pub companions: Vec<Candidate>,
}

/// The input of one round.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The number of seats of a new table, by room; zero for a room in which no table is created.
    pub seats: &'a [u8],
    /// The rooms in which players of one network are separated.
    pub networks_apart: RoomSet,
    pub tables: &'a [OpenTable],
    pub tickets: &'a [Ticket],
    pub now: Timestamp,
    /// The number of the round.
    pub turn: u64,
}

/// The target of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementTarget {
    ExistingTable(TableId),
    /// A new table of this room.
    NewTable {
        room: usize,
    },
}

/// Tickets whose players sit down together: all of them or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub target: PlacementTarget,
    pub tickets: Vec<TicketId>,
}

impl Round<'_> {
    /// Places as many tickets as possible, each once.
    pub fn placements(&self) -> Vec<Placement> {
        PlacementSearch::new(self).run()
    }
}

/// Returns the maximum difference of ratings for a player who has waited this long.
pub fn rating_window(waited_ms: u64) -> u32 {
    if waited_ms >= WINDOW_MS {
        return u32::MAX;
    }
    let seconds = u32::try_from(waited_ms / 1_000).unwrap_or(u32::MAX);
    WINDOW.saturating_add(seconds.saturating_mul(WINDOW_PER_SECOND))
}

/// Returns whether two tickets may share a table of a room. This states the rule for callers that
/// carry out placements and for tests; the search uses a faster form.
pub fn tickets_fit(one: &Ticket, other: &Ticket, networks_apart: bool, now: Timestamp) -> bool {
    let waited_ms = now.ms_since(one.since).max(now.ms_since(other.since));
    let met = one.recent.contains(&other.candidate.player)
        || other.recent.contains(&one.candidate.player);
    fits_candidate(one, &other.candidate, networks_apart, waited_ms)
        && !(met && waited_ms < REPEAT_MS)
}

/// Returns whether a ticket fits a seated player, if the one who has waited longer has waited this
/// long. Recent opponents are not considered.
pub fn fits_candidate(
    ticket: &Ticket,
    other: &Candidate,
    networks_apart: bool,
    waited_ms: u64,
) -> bool {
    ticket.candidate.may_meet(other, networks_apart)
        && ticket.candidate.rating.abs_diff(other.rating) <= rating_window(waited_ms)
}
