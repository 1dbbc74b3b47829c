//! The entrants of a tournament, with their scores.

use alloc::string::String;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::matchmaking::ConflictKey;
use crate::seat::SEATS_MAX;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::id::TableNumber;
use crate::tournament::transfer::{Payment, TransferKey};

/// The number of recent opponents that an entrant is kept apart from (rule 2.5).
pub(super) const RECENT_MAX: usize = 8;

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EntrantState {
    /// The ledger has not confirmed the entry.
    Pending,
    /// The player takes part.
    Entered,
    /// The player lost at a cut.
    Eliminated,
    /// The player withdrew, could not pay, or entered too late.
    Withdrawn,
}

/// A player who has registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entrant {
    pub player: PlayerId,
    pub name: String,
    pub is_bot: bool,
    pub payment: Payment,
    /// The number of the player's entries, of which only the last counts.
    pub number: u32,
    pub state: EntrantState,
    /// True if the player of an arena tournament is not paired.
    pub is_paused: bool,
    pub(super) conflict_keys: Vec<ConflictKey>,
    /// The table at which the entrant plays.
    pub table: Option<TableNumber>,
    pub(super) standing: Standing,
    pub(super) group: u32,
    /// The games won in a row in an arena tournament.
    pub(super) streak: u32,
    /// The rounds without a table.
    pub(super) byes: u32,
    /// The number of rounds in each seat.
    pub(super) seat_counts: [u32; SEATS_MAX as usize],
    /// The indices of the last opponents, the latest last.
    pub(super) recent: ArrayVec<u32, RECENT_MAX>,
    pub(super) waits_since: Timestamp,
    pub(super) games: u32,
}

/// The values by which entrants are ranked, the greatest first: the stage reached, the score in it,
/// and the tie-break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Standing {
    /// The index of the stage.
    pub stage: u32,
    /// The score: hundredths of a point by rounds, points in an arena tournament, ten-thousandths
    /// in a duplicate.
    pub score: i64,
    /// The points of all games in an arena tournament or a duplicate; zero in a knock-out.
    pub tie_break: Coins,
}

impl Standing {
    /// Adds points to the sum that decides between equal scores.
    pub(super) fn add_points(&mut self, points: Coins) {
        self.tie_break = self.tie_break.checked_add(points).expect("scores are bounded");
    }
}

impl Entrant {
    pub(super) fn takes_part(&self) -> bool {
        self.state == EntrantState::Entered
    }

    /// Returns whether the entrant has entered and not withdrawn.
    pub(super) fn is_ranked(&self) -> bool {
        matches!(self.state, EntrantState::Entered | EntrantState::Eliminated)
    }

    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Returns the number of games that have been scored.
    pub fn games(&self) -> u32 {
        self.games
    }

    pub(super) fn return_key(&self) -> TransferKey {
        TransferKey::Return { player: self.player, number: self.number }
    }

    /// Notes an opponent, and forgets the earliest one beyond the bound.
    pub(super) fn note_opponent(&mut self, opponent: u32) {
        if self.recent.is_full() {
            self.recent.remove(0);
        }
        self.recent.push(opponent);
    }
}
