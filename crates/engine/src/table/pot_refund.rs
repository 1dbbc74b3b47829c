//! What goes out of the POT of a private table, back to those who paid it (rule 7.4).
//!
//! Nobody but its host decides who comes to such a table, so coins are not left there for whoever
//! comes next. Who is sent away, or has to go because the house closes, takes along what it has
//! paid since the POT was last won. When nobody has sat there for as long as the terms say, the
//! table ends, and everybody gets that.
//!
//! How much that is the ledger says: the table knows who is to be paid, and after which game. Both
//! together name a return, so it is done once, also where the table's last lines were lost. While
//! one is due no game is opened, so the POT is always what the ledger last said.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::game::Game;
use crate::table::Table;
use crate::table::event::Event;
use crate::table::id::{GameId, PlayerId};
use crate::table::input::Rejection;
use crate::table::phase::Phase;
use crate::table::step::{Events, TableRejection};
use crate::table::time::Timestamp;

/// Coins that the ledger is to give back out of the POT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PotRefund {
    /// The last game that was opened at the table.
    pub game: GameId,
    /// Whose part goes back; everybody's, where there is none.
    pub player: Option<PlayerId>,
    pub since: Timestamp,
}

/// What somebody gets back out of a POT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PotShare"))]
pub struct Share {
    pub player: PlayerId,
    pub amount: Coins,
}

/// What a table knows of its returns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PotRefunds {
    /// The last game that was opened: what is in the POT was paid until then.
    last_game: Option<GameId>,
    /// Who has taken a part along since then, and has none in the POT any more.
    taken_by: Vec<PlayerId>,
    /// What the ledger is to do, in this order.
    due: Vec<PotRefund>,
    /// Since when nobody sits there; meaningless while somebody does.
    empty_since: Timestamp,
    /// Nobody sits down any more.
    pub(super) has_ended: bool,
}

impl<G: Game> Table<G> {
    /// The table has come to its end: its POT goes back, and nobody sits down any more.
    pub fn has_ended(&self) -> bool {
        self.pot_refunds.has_ended
    }

    /// What the ledger is to give back next.
    pub(super) fn next_pot_refund(&self) -> Option<PotRefund> {
        self.pot_refunds.due.first().copied()
    }

    /// When the table ends, if nobody comes before.
    pub(super) fn end_deadline(&self) -> Option<Timestamp> {
        let private = self.terms.private?;
        let is_over = self.pot_refunds.has_ended || !self.pot_refunds.due.is_empty();
        let is_left = self.occupants().next().is_none() && !self.pot.is_zero();
        let ends = || self.pot_refunds.empty_since.after_ms(private.ends_after_ms);
        (is_left && !is_over).then(ends)
    }

    /// A game has been opened, so its antes are in the POT.
    pub(super) fn record_antes(&mut self, game: GameId) {
        if self.terms.private.is_some() {
            self.pot_refunds.last_game = Some(game);
            self.pot_refunds.taken_by.clear();
        }
    }

    /// A player goes who is to take its part of the POT along.
    pub(super) fn queue_refund(&mut self, player: PlayerId) {
        let has_part = self.terms.private.is_some()
            && !self.pot.is_zero()
            && !self.pot_refunds.taken_by.contains(&player);
        if let Some(game) = self.pot_refunds.last_game.filter(|_| has_part) {
            self.pot_refunds.taken_by.push(player);
            self.pot_refunds.due.push(PotRefund { game, player: Some(player), since: self.at });
        }
    }

    /// Somebody has gone.
    pub(super) fn record_if_empty(&mut self) {
        if self.occupants().next().is_none() {
            self.pot_refunds.empty_since = self.at;
        }
    }

    /// Ends the table, if that is due.
    pub(super) fn end_if_due(&mut self) {
        if self.end_deadline().is_none_or(|deadline| deadline > self.at) {
            return;
        }
        self.pot_refunds.has_ended = true;
        if let Some(game) = self.pot_refunds.last_game {
            self.pot_refunds.due.push(PotRefund { game, player: None, since: self.at });
        }
    }

    /// The ledger has given coins back.
    pub(super) fn apply_pot_refund(
        &mut self,
        game: GameId,
        player: Option<PlayerId>,
        pot: Coins,
        shares: &[Share],
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        let is_due = self.next_pot_refund().is_some_and(|due| (due.game, due.player) == (game, player));
        let is_running = matches!(self.phase, Phase::Playing(_) | Phase::Settling(_));
        if !is_due || is_running || pot.is_negative() {
            return Err(Rejection::BadAnswer);
        }
        self.pot_refunds.due.remove(0);
        self.pot = pot;
        events.push(Event::PotRefunded { pot, shares: shares.to_vec() });
        Ok(())
    }
}
