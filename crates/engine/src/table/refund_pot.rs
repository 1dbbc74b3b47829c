//! Refunds of the POT of a private table to those who paid it (rule 7.4).
//!
//! The host alone decides who comes to such a table, so coins must not be left there for later
//! guests. A player who is removed, or has to leave because the house closes, receives what it has
//! paid since the POT was last won. If the table stays empty for the time set by its terms, it ends
//! and every payer receives a refund.
//!
//! The ledger determines the amounts; the table knows who is to be paid, and after which game. Both
//! together identify a refund, so it is made once even if the table's last lines were lost. No game
//! is opened while a refund is due, so the POT always has the balance that the ledger last
//! reported.

use crate::coins::Coins;
use crate::game::Game;
use crate::table::Table;
use crate::table::event::Event;
use crate::table::id::{GameId, PlayerId};
use crate::table::input::Rejection;
use crate::table::phase::Phase;
use crate::table::pot_refund::{PotRefund, Share};
use crate::table::step::{Events, TableResult};
use crate::table::time::Timestamp;

impl<G: Game> Table<G> {
    /// Returns whether the table has ended: its POT is refunded, and nobody may sit down any more.
    pub fn has_ended(&self) -> bool {
        self.pot_refunds.has_ended
    }

    /// Returns the next refund that the ledger has to make.
    pub(super) fn next_pot_refund(&self) -> Option<PotRefund> {
        self.pot_refunds.due.first().copied()
    }

    /// Returns the time at which the table ends if it stays empty.
    pub(super) fn end_deadline(&self) -> Option<Timestamp> {
        let private = self.terms.private?;
        let is_over = self.pot_refunds.has_ended || !self.pot_refunds.due.is_empty();
        let is_left = self.occupants().next().is_none() && !self.pot.is_zero();
        let ends = || self.pot_refunds.empty_since.after_ms(private.ends_after_ms);
        (is_left && !is_over).then(ends)
    }

    /// Records that the antes of a game have been paid into the POT.
    pub(super) fn record_antes(&mut self, game: GameId) {
        if self.terms.private.is_some() {
            self.pot_refunds.last_game = Some(game);
            self.pot_refunds.taken_by.clear();
        }
    }

    /// Queues the refund of a leaving player's part of the POT.
    pub(super) fn queue_refund(&mut self, player: PlayerId) {
        let has_part = self.terms.private.is_some()
            && !self.pot.is_zero()
            && !self.pot_refunds.taken_by.contains(&player);
        if let Some(game) = self.pot_refunds.last_game.filter(|_| has_part) {
            self.pot_refunds.taken_by.push(player);
            self.pot_refunds.due.push(PotRefund { game, player: Some(player), since: self.at });
        }
    }

    /// Records the time if the table has become empty.
    pub(super) fn record_if_empty(&mut self) {
        if self.occupants().next().is_none() {
            self.pot_refunds.empty_since = self.at;
        }
    }

    /// Ends the table if its deadline has passed.
    pub(super) fn end_if_due(&mut self) {
        if self.end_deadline().is_none_or(|deadline| deadline > self.at) {
            return;
        }
        self.pot_refunds.has_ended = true;
        if let Some(game) = self.pot_refunds.last_game {
            self.pot_refunds.due.push(PotRefund { game, player: None, since: self.at });
        }
    }

    /// Applies a refund that the ledger has made.
    pub(super) fn apply_pot_refund(
        &mut self,
        game: GameId,
        player: Option<PlayerId>,
        pot: Coins,
        shares: &[Share],
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let is_due =
            self.next_pot_refund().is_some_and(|due| (due.game, due.player) == (game, player));
        let is_running = matches!(self.phase, Phase::Playing(_) | Phase::Settling(_));
        Self::require(is_due && !is_running && !pot.is_negative(), Rejection::BadAnswer)?;
        self.pot_refunds.due.remove(0);
        self.pot = pot;
        events.push(Event::PotRefunded { pot, shares: shares.to_vec() });
        Ok(())
    }
}
