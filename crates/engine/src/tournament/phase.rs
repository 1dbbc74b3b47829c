//! The phases of a tournament.

use serde::{Deserialize, Serialize};

use crate::table::Timestamp;
use crate::tournament::input::CancelReason;

/// The phase of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TournamentPhase"))]
pub enum Phase {
    /// Players register.
    Announced,
    /// The next round begins at this time.
    Break {
        until: Timestamp,
    },
    /// The tables of a round play.
    Round,
    /// An arena tournament is played.
    Arena {
        ends_at: Timestamp,
        next_pairing: Timestamp,
    },
    Ended,
    Cancelled {
        reason: CancelReason,
    },
}

impl Phase {
    /// Returns whether no more games are played.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Cancelled { .. })
    }

    /// Returns whether the tournament has started and is not over.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Break { .. } | Self::Round | Self::Arena { .. })
    }
}
