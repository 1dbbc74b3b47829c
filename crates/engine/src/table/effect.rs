//! The effects that a table requires from its host. They are derived from the table's state, so any
//! process can run them, repeatedly, until the answer is in the journal.

use alloc::vec;
use alloc::vec::Vec;

use crate::game::Game;
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::id::{GameId, PlayerId};
use crate::table::phase::{Opening, Phase};
use crate::table::pot_refund::PotRefund;
use crate::table::record::Record;
use crate::table::time::Timestamp;

/// A task that the host has to run for a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect<'a, G: Game> {
    /// The ledger takes antes and stakes; the answer is `Input::Opened` or `Input::OpenFailed`.
    Open(&'a Opening),
    /// The ledger settles the game and stores its record; the answer is `Input::Settled`.
    Settle(&'a Record<G>),
    /// The tournament stores the record of a game at its table, with the number of the game from 1
    /// and the seats that the AI plays at its end; the answer is `Input::Settled`.
    Report { record: &'a Record<G>, number: u32, absent: SeatSet },
    /// The ledger refunds coins of the POT; the answer is `Input::PotRefunded`. No game is opened
    /// before the answer.
    RefundPot(PotRefund),
    /// The AI chooses an action for this seat; the answer is `Input::AiAction`.
    ChooseAction { seat: Seat, player: PlayerId, game: GameId, prompt: u32 },
    /// The deadline has passed; the answer is `Input::Tick`.
    Tick,
}

impl<G: Game> Table<G> {
    /// Returns the time of the next check of [`Table::effects`] if no input arrives before it. The
    /// deadline of an opening, a settlement or a refund, each of which is due at once, is the time
    /// of its next retry. A practice table opens and settles games by itself, and a table of a
    /// tournament opens them, so there the clock drives the phase.
    pub fn deadline(&self) -> Option<Timestamp> {
        let retry_ms = self.terms.clocks.retry_ms;
        let returned = self.next_pot_refund().map(|due| due.since.after_ms(retry_ms));
        [self.phase_deadline(), returned].into_iter().flatten().min()
    }

    /// Returns the deadline of the phase alone, without that of a POT refund.
    pub(super) fn phase_deadline(&self) -> Option<Timestamp> {
        let clocks = &self.terms.clocks;
        let retry_unless = |by_itself| if by_itself { 0 } else { clocks.retry_ms };
        match &self.phase {
            Phase::Waiting if self.terms.tournament.is_some() => (!self.closed).then_some(self.at),
            Phase::Waiting => {
                [self.absence_deadline(), self.end_deadline()].into_iter().flatten().min()
            }
            Phase::Preparing(preparing) => Some(preparing.deadline),
            Phase::Opening(opening) => {
                Some(opening.since.after_ms(retry_unless(self.terms.opens_by_itself())))
            }
            Phase::Revealing(revealing) => Some(revealing.deadline),
            Phase::Settling(settling) => {
                Some(settling.since.after_ms(retry_unless(self.terms.practice)))
            }
            Phase::Playing(playing) => {
                let ai_times = playing.prompt.seats.iter().filter_map(|seat| self.ai_acts_at(seat));
                ai_times.chain(self.next_grace_end(self.at)).chain([playing.deadline]).min()
            }
        }
    }

    /// Returns the effects that are due now.
    pub fn effects(&self, now: Timestamp) -> Vec<Effect<'_, G>> {
        let returned = self.next_pot_refund().map(Effect::RefundPot);
        match &self.phase {
            Phase::Opening(_) if self.terms.opens_by_itself() => vec![Effect::Tick],
            Phase::Settling(_) if self.terms.practice => vec![Effect::Tick],
            // The opening reports the balance of the POT, so the refund comes first.
            Phase::Opening(opening) => vec![returned.unwrap_or(Effect::Open(opening))],
            Phase::Settling(settling) if self.terms.tournament.is_some() => {
                let number = self.tournament_games + 1;
                let absent = self.taken_over_seats();
                vec![Effect::Report { record: &settling.record, number, absent }]
            }
            Phase::Settling(settling) => vec![Effect::Settle(&settling.record)],
            Phase::Waiting | Phase::Preparing(_) => {
                let is_due = self.phase_deadline().is_some_and(|deadline| deadline <= now);
                returned.into_iter().chain(is_due.then_some(Effect::Tick)).collect()
            }
            Phase::Revealing(revealing) => {
                let is_due = revealing.deadline <= now;
                is_due.then_some(Effect::Tick).into_iter().collect()
            }
            Phase::Playing(playing) => {
                // The end of a grace comes first because it changes which actions the AI may play.
                let grace_end = self.next_grace_end(self.at);
                if playing.deadline <= now || grace_end.is_some_and(|end| end <= now) {
                    return vec![Effect::Tick];
                }
                let game = playing.game;
                let prompt = playing.prompt.number;
                let is_due = |seat: &Seat| self.ai_acts_at(*seat).is_some_and(|at| at <= now);
                let choose_action = |seat| {
                    let player = self.occupant(seat)?.player;
                    Some(Effect::ChooseAction { seat, player, game, prompt })
                };
                playing.prompt.seats.iter().filter(is_due).filter_map(choose_action).collect()
            }
        }
    }

    /// Returns the time at which the player who has been away longest loses a seat at a waiting
    /// table.
    fn absence_deadline(&self) -> Option<Timestamp> {
        self.occupants()
            .filter(|(_, occupant)| occupant.connection.is_none() && !occupant.bot)
            .map(|(_, occupant)| occupant.away_since.after_ms(self.terms.clocks.absence_ms))
            .min()
    }
}
