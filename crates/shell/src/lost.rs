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
    before: BTreeSet<GameId>,
    now: BTreeSet<GameId>,
}

impl LostGames {
    /// A game has no table in this round. Whether it is to be voided: it had none in the last.
    pub fn seems_lost(&mut self, game: GameId) -> bool {
        self.now.insert(game);
        self.before.contains(&game)
    }

    /// Whether a game seemed lost in the last round.
    pub fn seemed_lost(&self, game: GameId) -> bool {
        self.before.contains(&game)
    }

    /// Every open game was looked at.
    pub fn end_round(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// Nothing may be concluded from a round that broke off.
    pub fn break_off(&mut self) {
        self.before.clear();
        self.now.clear();
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::GameId;
    use uuid::Uuid;

    use super::LostGames;

    #[test]
    fn a_game_is_lost_in_two_rounds_that_follow_each_other() {
        let game = GameId(Uuid::from_u128(1));
        let mut lost = LostGames::default();
        assert!(!lost.seems_lost(game));
        lost.end_round();
        lost.end_round();
        assert!(!lost.seems_lost(game), "it was there in between");
        lost.break_off();
        assert!(!lost.seems_lost(game), "a round broke off in between");
        lost.end_round();
        assert!(lost.seemed_lost(game) && lost.seems_lost(game));
    }
}
