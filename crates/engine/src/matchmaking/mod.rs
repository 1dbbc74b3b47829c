//! Who plays with whom: from tickets that wait, tables that have room and the time, placements.
//!
//! A pure function, [`Round::placements`]: no I/O, no clock, no hash order, so that a round can be
//! repeated and tested by seeds. Whoever runs it carries the placements out, one round after the
//! other; a ticket that could not be placed is there again in the next round, and has waited
//! longer.
//!
//! A round fills tables with a POT first, whether somebody sits there or nobody does any more,
//! then tables with free seats, the fullest first, then new tables. The oldest ticket chooses
//! first. Two players fit each other if they share no [`ConflictKey`], if neither has blocked the other,
//! if they do not come from one network in a room that keeps those apart, if their ratings are within a
//! window that widens with the time that the longer waiting one of them has waited, and if they
//! have not just played together; the last one counts for nothing after [`REPEAT_MS`], since then
//! nobody else is there to play with.
//!
//! Bounds: [`ROOMS_MAX`] rooms, and a budget of comparisons, which bounds the time that a round
//! takes however many tickets fit nobody. Within the budget a round is complete: it leaves no
//! ticket for which a place or a full group was there. Beyond it, who is looked at closely goes
//! round from one [`Round::turn`] to the next, so that nobody starves behind others.

mod rating_list;
mod search;
mod summary;

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::table::{PlayerId, TableId, Timestamp};

use search::PlacementSearch;

/// The most rooms that a round can tell apart.
pub const ROOMS_MAX: usize = 64;

/// How far ratings may be apart at first, in thousandths.
pub const WINDOW: u32 = 3_000;

/// By how much that grows with each second of waiting.
pub const WINDOW_PER_SECOND: u32 = 1_000;

/// After so long skill keeps nobody apart.
pub const WINDOW_MS: u64 = 20_000;

/// For so long a ticket waits for others than those whom its player has just played with.
pub const REPEAT_MS: u64 = 3_000;

/// A wish to play. One player has one at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TicketId(pub Uuid);

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for TicketId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

/// Something that two players at one table must not have in common, such as a device: a digest,
/// so that nobody can read from it what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConflictKey(pub u64);

/// Rooms by their place in [`Round::seats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoomSet(u64);

impl RoomSet {
    /// With this room, if it is one of the first [`ROOMS_MAX`].
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

/// The players that one player has blocked. Each side carries its own list whole, and is compared with
/// the id of the other, so that no list of others displaces an entry.
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

/// A player, as far as others have to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub player: PlayerId,
    /// In thousandths.
    pub rating: i32,
    pub conflict_keys: Vec<ConflictKey>,
    /// The key of the network that the player comes from; `None` where it is unknown or counts nowhere.
    pub network: Option<ConflictKey>,
    pub blocked: BlockList,
}

impl Candidate {
    /// Returns a player whom nothing keeps apart from others.
    pub fn new(player: PlayerId, rating: i32) -> Self {
        let blocked = BlockList::default();
        Self { player, rating, conflict_keys: Vec::new(), network: None, blocked }
    }

    /// Returns whether the two may sit at one table, whatever their ratings.
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

/// A ticket that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub id: TicketId,
    pub who: Candidate,
    /// Any of these will do.
    pub rooms: RoomSet,
    /// Whom the player has just played with.
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
    /// Who sits there. Nobody, where a POT was left behind.
    pub companions: Vec<Candidate>,
}

/// Everything that a round knows.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The seats of a new table, by room; none for a room where no table is created.
    pub seats: &'a [u8],
    /// The rooms where players of one network do not meet.
    pub networks_apart: RoomSet,
    pub tables: &'a [OpenTable],
    pub tickets: &'a [Ticket],
    pub now: Timestamp,
    /// Counts the rounds.
    pub turn: u64,
}

/// Where players are to sit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementTarget {
    ExistingTable(TableId),
    /// At a new table of this room.
    NewTable {
        room: usize,
    },
}

/// Tickets whose players are to sit down together: all of them, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub target: PlacementTarget,
    pub tickets: Vec<TicketId>,
}

impl Round<'_> {
    /// Places as many tickets as it can, each once.
    pub fn placements(&self) -> Vec<Placement> {
        PlacementSearch::new(self).run()
    }
}

/// How far the ratings may be apart for somebody who has waited so long.
pub fn rating_window(waited_ms: u64) -> u32 {
    if waited_ms >= WINDOW_MS {
        return u32::MAX;
    }
    let seconds = u32::try_from(waited_ms / 1_000).unwrap_or(u32::MAX);
    WINDOW.saturating_add(seconds.saturating_mul(WINDOW_PER_SECOND))
}

/// Returns whether two tickets may come to one table of a room. This states the rule for callers that
/// carry placements out and for tests; the search has it in a quicker form.
pub fn tickets_fit(one: &Ticket, other: &Ticket, networks_apart: bool, now: Timestamp) -> bool {
    let waited_ms = now.ms_since(one.since).max(now.ms_since(other.since));
    let met = one.recent.contains(&other.who.player) || other.recent.contains(&one.who.player);
    fits_candidate(one, &other.who, networks_apart, waited_ms) && !(met && waited_ms < REPEAT_MS)
}

/// Returns whether a ticket fits a player who sits already, when the longer waiting one of them has
/// waited so long. It does not consider whom the player has just met.
pub fn fits_candidate(
    ticket: &Ticket,
    other: &Candidate,
    networks_apart: bool,
    waited_ms: u64,
) -> bool {
    ticket.who.may_meet(other, networks_apart)
        && ticket.who.rating.abs_diff(other.rating) <= rating_window(waited_ms)
}
