//! The clock of a page about a game. A game is played in the house's time, which stands while Redis
//! is away, and its operations are booked by the ledger's clock. A page with both would have two
//! clocks, so times of play are converted to the ledger's.

use crate::archive::GameState;
use crate::clock::Timestamp;
use crate::reports::Dossier;

/// Converts times of a game from the house's time to the ledger's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GameClock {
    /// The lead of the ledger's clock over the house's time when the game was opened.
    lead_ms: i64,
    /// The booking of the settlement, which no time of play is later than.
    settled_at_ms: Option<i64>,
}

impl GameClock {
    pub(super) fn new(Dossier { game, operations, .. }: &Dossier) -> Self {
        let booked_at = |kind: &str| {
            let key = format!("{kind}:{}", game.game);
            let row = operations.iter().find(|row| row.operation.key == key)?;
            Some(Timestamp::from(row.operation.booked_at).ms())
        };
        Self {
            lead_ms: booked_at("open").map_or(0, |at| at - game.opened_at_ms),
            settled_at_ms: booked_at("settle"),
        }
    }

    /// Converts a time of play.
    pub(super) fn to_ledger(self, house_ms: i64) -> Timestamp {
        let ms = house_ms.saturating_add(self.lead_ms);
        Timestamp::from_ms(self.settled_at_ms.map_or(ms, |settled_at| ms.min(settled_at)))
    }

    /// Converts the end of a game. That of a voided game is by the ledger's clock.
    pub(super) fn finish_to_ledger(self, state: GameState, ms: i64) -> Timestamp {
        match state {
            GameState::Voided => Timestamp::from_ms(ms),
            GameState::Open | GameState::Settled => self.to_ledger(ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GameClock, GameState};

    #[test]
    fn times_of_play_are_shown_by_the_clock_of_the_ledger() {
        let stalled = GameClock { lead_ms: 46_000, settled_at_ms: Some(100_000) };
        assert_eq!(stalled.to_ledger(1_000).ms(), 47_000);
        assert_eq!(stalled.finish_to_ledger(GameState::Settled, 50_000).ms(), 96_000);
        // The opening was booked late, so the lead is less than it seems.
        assert_eq!(stalled.finish_to_ledger(GameState::Settled, 60_000).ms(), 100_000);
        assert_eq!(stalled.finish_to_ledger(GameState::Voided, 60_000).ms(), 60_000);
        let open = GameClock { lead_ms: -5, settled_at_ms: None };
        assert_eq!(open.to_ledger(1_000).ms(), 995);
    }
}
