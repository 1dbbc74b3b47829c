//! Absence of players and takeover by the AI (rule 8.3).
//!
//! A player whose connection is lost is *away* for [`Clocks::grace_ms`](crate::table::Clocks).
//! Within that grace the seat remains the player's: the AI answers only in the last second of a
//! countdown, makes no commitment, and the countdown counts as missed. After the grace, and at once
//! for a player who has left or has missed too many countdowns, the seat is taken over. The end of
//! a grace is a tick, a line of its own in the journal, so that viewers are notified when it
//! happens.

use crate::game::{Game, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::input::Rejection;
use crate::table::phase::{Occupant, Phase, Playing};
use crate::table::step::TableResult;
use crate::table::time::Timestamp;

/// The time before the end of a countdown at which the AI answers for a player who is away, in
/// milliseconds.
const LAST_MS: u32 = 1_000;

impl<G: Game> Table<G> {
    /// Returns the seats that the AI plays (rules 8.3 and 8.6); empty between games.
    pub fn taken_over_seats(&self) -> SeatSet {
        self.playing_seats_where(|occupant| {
            self.is_ai_seat(occupant) || self.grace_end(occupant).is_some_and(|end| end <= self.at)
        })
    }

    /// Returns the seats whose players are away within the grace of rule 8.3; empty between games.
    pub fn away_seats(&self) -> SeatSet {
        let is_away =
            |occupant: &Occupant| self.grace_end(occupant).is_some_and(|end| end > self.at);
        self.playing_seats_where(is_away)
    }

    /// Returns the time at which the AI answers for a prompted seat; `None` for a seat that is not
    /// prompted or whose player is connected.
    pub(super) fn ai_acts_at(&self, seat: Seat) -> Option<Timestamp> {
        let Phase::Playing(playing) = &self.phase else { return None };
        let occupant = self.occupant(seat).filter(|_| playing.prompt.seats.contains(seat))?;
        let since = if self.is_ai_seat(occupant) {
            playing.asked_at
        } else {
            playing.asked_at.max(self.grace_end(occupant)?)
        };
        Some(since.after_ms(self.terms.clocks.think_ms).min(playing.return_deadline()))
    }

    /// Returns the first end of a grace after this time among the players of the running game.
    pub(super) fn next_grace_end(&self, after: Timestamp) -> Option<Timestamp> {
        let occupants = Seat::all(self.seats_in_game()).filter_map(|seat| self.occupant(seat));
        let ends = occupants.filter_map(|occupant| self.grace_end(occupant));
        ends.filter(|end| *end > after).min()
    }

    /// Checks that the AI may play this action now, and records that a player who is away misses
    /// the countdown.
    ///
    /// # Errors
    /// [`Rejection::NotTakenOver`] if the player of the seat is connected, and, if the player is
    /// away, before the last second of the countdown or for a commitment.
    pub(super) fn authorize_ai_action(&mut self, seat: Seat, action: &G::Action) -> TableResult<G> {
        if self.taken_over_seats().contains(seat) {
            return Ok(());
        }
        let is_due = self.ai_acts_at(seat).is_some_and(|at| at <= self.at);
        let Phase::Playing(playing) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        let view = playing.state.view(Viewer::Seat(seat));
        Self::require(is_due && !G::is_commitment(&view, action), Rejection::NotTakenOver)?;
        playing.missed = playing.missed.with(seat);
        Ok(())
    }

    /// Counts the finished countdown for the seats that have missed it.
    pub(super) fn count_missed_countdowns(&mut self) {
        let Phase::Playing(playing) = &mut self.phase else { return };
        let missed = core::mem::replace(&mut playing.missed, SeatSet::EMPTY);
        for seat in missed.iter() {
            let occupant = self.seat_mut(seat);
            occupant.missed_turns = occupant.missed_turns.saturating_add(1);
        }
    }

    /// Returns whether a game need not wait for the player: the player has left, or has been away
    /// for longer than the grace.
    pub(super) fn is_absent(&self, occupant: &Occupant) -> bool {
        let grace_end = || occupant.away_since.after_ms(self.terms.clocks.grace_ms);
        occupant.left || (occupant.connection.is_none() && grace_end() <= self.at)
    }

    /// Returns whether the AI plays the seat even if its player is connected.
    fn is_ai_seat(&self, occupant: &Occupant) -> bool {
        let missed_max = self.terms.clocks.missed_turns_to_takeover;
        occupant.bot || occupant.left || occupant.missed_turns >= missed_max
    }

    /// Returns the time at which the grace of an absent player ends; `None` if the player is
    /// connected or the AI plays the seat in any case.
    fn grace_end(&self, occupant: &Occupant) -> Option<Timestamp> {
        let is_away = occupant.connection.is_none() && !self.is_ai_seat(occupant);
        is_away.then(|| occupant.away_since.after_ms(self.terms.clocks.grace_ms))
    }

    /// Returns the seats of the running game whose occupants meet the condition.
    fn playing_seats_where(&self, is_meant: impl Fn(&Occupant) -> bool) -> SeatSet {
        self.seats_where(is_meant).intersection(SeatSet::first_seats(self.seats_in_game()))
    }
}

impl<G: Game> Playing<G> {
    /// Returns the time until which an absent player may return: a second before the countdown
    /// ends, but no earlier than half of the countdown.
    fn return_deadline(&self) -> Timestamp {
        self.deadline.before_ms(LAST_MS.min(self.prompt.countdown_ms / 2))
    }
}
