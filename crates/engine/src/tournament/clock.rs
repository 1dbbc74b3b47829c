//! The deadlines of a tournament.

use crate::table::Timestamp;
use crate::tournament::Tournament;
use crate::tournament::phase::Phase;

impl Tournament {
    /// Returns the time at which the clock changes the tournament if no input arrives before it.
    pub(super) fn clock_deadline(&self) -> Option<Timestamp> {
        let close = (self.phase.is_running() && self.pool.is_none()).then_some(self.late_until);
        let phase = match self.phase {
            Phase::Announced => self.terms.starts_at,
            Phase::Break { until } => Some(until),
            Phase::Arena { ends_at, next_pairing } => {
                let can_pair = self.waiting.len() >= usize::from(self.terms.game.seats);
                Some(if can_pair { next_pairing.min(ends_at) } else { ends_at })
            }
            Phase::Round | Phase::Ended | Phase::Cancelled { .. } => None,
        };
        [close, phase].into_iter().flatten().min()
    }

    /// Returns whether players may register at this time (rules 1.2 and 1.5).
    pub fn is_registration_open(&self, now: Timestamp) -> bool {
        match self.phase {
            Phase::Announced => self.terms.starts_at.is_none_or(|start| now < start),
            Phase::Break { .. } | Phase::Round | Phase::Arena { .. } => {
                self.pool.is_none() && now < self.late_until
            }
            Phase::Ended | Phase::Cancelled { .. } => false,
        }
    }
}
