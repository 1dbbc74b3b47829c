//! The phases of a tournament, and its tables in play.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::table::Timestamp;
use crate::tournament::id::TableNumber;
use crate::tournament::input::CancelReason;
use crate::tournament::keyed::Keyed;

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

/// A table in play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenTable {
    pub(super) number: TableNumber,
    /// The entrants by seat.
    pub(super) entrants: Vec<u32>,
    /// True once the host has opened the table.
    pub(super) is_open: bool,
    /// True once all games are scored, or the table has ended without them.
    pub(super) has_ended: bool,
    /// The points by game and seat.
    pub(super) points: Vec<Option<Vec<Coins>>>,
}

impl OpenTable {
    pub(super) fn new(number: TableNumber, entrants: Vec<u32>, games: u32) -> Self {
        let points = vec![None; games as usize];
        Self { number, entrants, is_open: false, has_ended: false, points }
    }

    pub(super) fn games(&self) -> u32 {
        u32::try_from(self.points.len()).unwrap_or(u32::MAX)
    }
}

impl Keyed for Arc<OpenTable> {
    type Key = TableNumber;

    fn key(&self) -> TableNumber {
        self.number
    }
}
