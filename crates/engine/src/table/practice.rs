//! Practice tables (rule 8.7): one player and house bots, without coins.
//!
//! A practice table is created with its bots seated and never loses them, so a player who sits down
//! plays at once. The clock takes the part of the ledger: a game is opened and settled by a tick. A
//! tick is a line of the journal like any other, so it takes effect once even if several processes
//! find it due. The player may ask
//! the AI for hints.

use crate::game::Game;
use crate::table::Table;
use crate::table::id::PlayerId;
use crate::table::phase::Occupant;

/// A bot that belongs to a practice table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PracticeBot {
    pub player: PlayerId,
    pub name: alloc::string::String,
    /// The bot's avatar.
    pub avatar: alloc::string::String,
}

impl<G: Game> Table<G> {
    /// Seats these bots behind the first seat, as far as there are seats.
    #[must_use]
    pub fn with_bots(mut self, bots: impl IntoIterator<Item = PracticeBot>) -> Self {
        let at = self.at;
        for (seat, bot) in self.seats.iter_mut().skip(1).zip(bots) {
            *seat = Some(Occupant {
                player: bot.player,
                name: bot.name.into(),
                avatar: Some(bot.avatar.into()),
                bot: true,
                connection: None,
                away_since: at,
                left: false,
                missed_turns: 0,
            });
        }
        self
    }

    /// Returns whether only bots that belong to the table sit at it.
    pub fn is_deserted(&self) -> bool {
        self.occupants().all(|(_, occupant)| occupant.bot)
    }
}
