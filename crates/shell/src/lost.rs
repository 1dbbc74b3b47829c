//! Open games in the ledger whose table is gone because Redis was emptied or lost keys. Nobody can
//! finish them, so they are voided, and every coin is refunded.
//!
//! A game counts as lost if in two consecutive rounds live state responds and does not have its
//! table, or has a table that is not in this game. A game is opened only after its table's journal
//! asks for it, and a settled game is no longer open, so neither looks lost. If a settlement comes
//! first, the ledger refuses to void the game.

use std::collections::BTreeSet;

use bahay_engine::table::GameId;

/// The state kept between two rounds.
#[derive(Debug, Default)]
pub struct LostGames {
    /// The games without a table in the last round.
    previous: BTreeSet<GameId>,
    current: BTreeSet<GameId>,
}

impl LostGames {
    /// Records that a game has no table in this round. Returns true if it had none in the last
    /// round either and must be voided.
    pub fn mark_missing(&mut self, game: GameId) -> bool {
        self.current.insert(game);
        self.previous.contains(&game)
    }

    /// Returns true if a game had no table in the last round.
    pub fn was_missing(&self, game: GameId) -> bool {
        self.previous.contains(&game)
    }

    /// Finishes a round in which every open game was checked.
    pub fn finish_round(&mut self) {
        self.previous = std::mem::take(&mut self.current);
    }

    /// Aborts a round, from which nothing may be concluded.
    pub fn abort_round(&mut self) {
        self.previous.clear();
        self.current.clear();
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::GameId;
    use uuid::Uuid;

    use super::LostGames;

    #[test]
    fn a_game_is_lost_after_two_consecutive_rounds() {
        let game = GameId(Uuid::from_u128(1));
        let mut lost = LostGames::default();
        assert!(!lost.mark_missing(game));
        lost.finish_round();
        lost.finish_round();
        assert!(!lost.mark_missing(game), "its table existed in the round between");
        lost.abort_round();
        assert!(!lost.mark_missing(game), "a round was aborted in between");
        lost.finish_round();
        assert!(lost.was_missing(game) && lost.mark_missing(game));
    }
}
