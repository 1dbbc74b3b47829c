//! Practice tables (rule 8.7): one player and bots of the house, and no coins.
//!
//! A practice table is made with its bots in their seats, so it is never without them, and whoever
//! sits down plays at once. What the ledger is asked at other tables the clock does here: a game is
//! opened and settled by a tick, which is a line of the journal like any other, so it happens once
//! however many processes see that it is due. Who plays there may ask what the house's AI would play.

use alloc::vec;

use crate::coins::Coins;
use crate::game::{Game, Skill};
use crate::seat::Seat;
use crate::table::Table;
use crate::table::id::{GameId, PlayerId};
use crate::table::input::{GameEntropy, Rejection};
use crate::table::phase::{Occupant, Phase};
use crate::table::step::{Events, TableRejection};

/// A bot that belongs to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PracticeBot {
    pub player: PlayerId,
    pub name: alloc::string::String,
    /// The picture that it is shown by.
    pub avatar: alloc::string::String,
}

/// What the house's AI would play in a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint<A> {
    pub game: GameId,
    /// The prompt that the action answers.
    pub prompt: u32,
    pub action: A,
    /// How well the AI plays that says so.
    pub by: Skill,
}

impl<G: Game> Table<G> {
    /// The same table with these bots in the seats behind the first one, as far as there are any.
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

    /// What the house's AI would play now in the seat of this player, from what the seat sees.
    ///
    /// # Errors
    /// At a table where coins can be lost, and where the player is not asked.
    pub fn hint(&self, player: PlayerId) -> Result<Hint<G::Action>, TableRejection<G>> {
        let seat = self.require_seat(player)?;
        if !self.terms.practice {
            return Err(Rejection::NotPractice);
        }
        let Phase::Playing(playing) = &self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        if !playing.asked.seats.contains(seat) {
            return Err(Rejection::NotAsked);
        }
        // As well as for a player who is taken over.
        let by = Skill::Quick;
        let action = self.choose_action(playing, seat, by).ok_or(Rejection::NotAsked)?;
        let (game, prompt) = (playing.game, playing.asked.number);
        Ok(Hint { game, prompt, action, by })
    }

    /// Opens or settles a game for which nobody pays.
    pub(super) fn tick_practice(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        match &self.phase {
            Phase::Opening(opening) => {
                let stakes = vec![Coins::ZERO; opening.commitments.len()];
                self.begin_revealing(opening.game, &stakes, Coins::ZERO, events)
            }
            Phase::Settling(settling) => self.finish_settlement(settling.record.game, fresh, events),
            Phase::Waiting | Phase::Preparing(_) | Phase::Revealing(_) | Phase::Playing(_) => {
                Err(Rejection::NothingDue)
            }
        }
    }

    /// Nobody sits there but bots that belong to the table.
    pub fn is_deserted(&self) -> bool {
        Seat::all(self.seat_count()).filter_map(|seat| self.occupant(seat)).all(|who| who.bot)
    }
}
