//! Games that are open in the ledger and have lost their table: Redis was emptied, or lost keys.
//! Nobody can finish them, so they are voided, and every coin goes back.
//!
//! A game counts as lost when in two rounds, one after the other, live state answers and does not
//! have its table, or has a table that is not in this game. A game is opened only after its table's
//! journal says that it is to be, and a settled one is no longer open, so neither looks lost; and if
//! a settlement is faster, the ledger refuses to void.

use std::collections::BTreeSet;

use bahay_engine::table::GameId;

/// What is kept from one round to the next.
#[derive(Debug, Default)]
pub struct LostGames {
    /// Games that seemed lost in the last round.
    previous: BTreeSet<GameId>,
    current: BTreeSet<GameId>,
}

impl LostGames {
    /// A game has no table in this round. Whether it is to be voided: it had none in the last.
    pub fn mark_missing(&mut self, game: GameId) -> bool {
        self.current.insert(game);
        self.previous.contains(&game)
    }

    /// Whether a game seemed lost in the last round.
    pub fn was_missing(&self, game: GameId) -> bool {
        self.previous.contains(&game)
    }

    /// Every open game was looked at.
    pub fn finish_round(&mut self) {
        self.previous = std::mem::take(&mut self.current);
    }

    /// Nothing may be concluded from a round that broke off.
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
