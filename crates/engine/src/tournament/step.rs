//! The transitions of a tournament: one input at a time, applied as a whole or not at all.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::coins::Coins;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::Tournament;
use crate::tournament::entrant::{Entrant, EntrantState, Registration};
use crate::tournament::event::{Event, SeatedTable};
use crate::tournament::id::TableNumber;
use crate::tournament::input::{CancelReason, GameScore, Input, Line};
use crate::tournament::phase::Phase;
use crate::tournament::rejection::Rejection;
use crate::tournament::terms::Format;
use crate::tournament::transfer::{Payment, Transfer, TransferKey};

/// The result of an accepted input: the line for the journal, the tournament after it, and the
/// events for the list of results.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    pub line: Line,
    pub tournament: Tournament,
    pub events: Vec<Event>,
}

impl Tournament {
    /// Decides on an input at a time.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn decide(&self, now: Timestamp, input: Input) -> Result<Transition, Rejection> {
        let line = self.decide_line(now, input)?;
        let (tournament, events) = self.apply_line(&line)?;
        Ok(Transition { line, tournament, events })
    }

    /// Decides on an input at a time, without the tournament after it.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn decide_line(&self, now: Timestamp, input: Input) -> Result<Line, Rejection> {
        let at = now.max(self.at);
        self.check_input(at, &input)?;
        Ok(Line { at, input })
    }

    /// Returns the tournament after a line of its journal, with the events that follow.
    ///
    /// # Errors
    /// The reason for which the tournament refuses the line.
    pub fn apply_line(&self, line: &Line) -> Result<(Self, Vec<Event>), Rejection> {
        let mut next = self.clone();
        let events = next.advance(line)?;
        Ok((next, events))
    }

    /// Applies a line of the journal in place, as [`Tournament::apply_line`] does on a copy.
    ///
    /// # Errors
    /// The reason for which the tournament refuses the line; it has not changed.
    pub fn advance(&mut self, line: &Line) -> Result<Vec<Event>, Rejection> {
        let at = line.at.max(self.at);
        self.check_input(at, &line.input)?;
        self.at = at;
        let mut events = Vec::new();
        self.apply_input(&line.input, &mut events);
        let since = self.asked_since.unwrap_or(at);
        self.asked_since = self.has_unanswered().then_some(since);
        Ok(events)
    }

    /// Applies an input that has been checked.
    fn apply_input(&mut self, input: &Input, events: &mut Vec<Event>) {
        match input {
            Input::Register { player, name, pass, bot, conflict_keys } => {
                let is_free = *bot || self.terms.entry.price().is_zero();
                let payment = match (is_free, *pass) {
                    (true, _) => Payment::Free,
                    (false, true) => Payment::Pass,
                    (false, false) => Payment::Coins,
                };
                let player = *player;
                let is_bot = *bot;
                let registration = Registration { player, name, payment, is_bot, conflict_keys };
                self.register(&registration, events);
            }
            Input::Withdraw { player } => {
                let Ok((place, _)) = self.find_entrant(*player) else { return };
                self.withdraw(place, events);
            }
            Input::Pause { player } => {
                let Ok((place, _)) = self.find_entrant(*player) else { return };
                self.pause(place, events);
            }
            Input::Resume { player } => {
                let Ok((place, _)) = self.find_entrant(*player) else { return };
                self.at_place_mut(place).is_paused = false;
                events.push(Event::Resumed { player: *player });
                self.wait_for_table(place);
            }
            Input::TableOpened { table } => self.tables.open(*table),
            Input::GameScored { table, game, scores } => {
                self.score_game(*table, *game, scores, events);
            }
            Input::TableEnded { table } => {
                if self.phase.is_over() {
                    self.tables.remove(*table);
                    return;
                }
                events.push(Event::TableEnded { table: *table });
                self.end_table(*table, events);
            }
            Input::Cancel { reason } => self.cancel(*reason, events),
            Input::Transferred { transfer } => self.confirm_transfer(*transfer, events),
            Input::EntryRefused { player, number } => {
                self.account.drop_pending(TransferKey::Entry { player: *player, number: *number });
                let Ok((place, entrant)) = self.find_entrant(*player) else { return };
                if entrant.number == *number {
                    self.entrants.set_state(place, EntrantState::Withdrawn);
                    events.push(Event::Withdrawn { player: *player, number: *number });
                }
            }
            Input::Tick => self.run_clock(events),
        }
    }

    fn register(&mut self, registration: &Registration<'_>, events: &mut Vec<Event>) {
        let Registration { player, name, payment, is_bot, .. } = *registration;
        let earlier = self.entrant(player).map_or(0, |earlier| earlier.number);
        let number = earlier + 1;
        let place = self.entrants.add(Entrant::new(registration, number, self.at));
        let name = name.into();
        events.push(Event::Registered { player, name, is_bot, number, payment });
        let key = TransferKey::Entry { player, number };
        let player = Some(player);
        match payment {
            Payment::Free => self.enter(place, events),
            Payment::Coins => {
                let amount = self.terms.entry.price();
                self.account.request(Transfer { key, player, payment, amount });
            }
            Payment::Pass => {
                let amount = Coins::ZERO;
                self.account.request(Transfer { key, player, payment, amount });
            }
        }
    }

    /// Withdraws an entrant before the start (rule 1.4). An entry that the ledger has not confirmed
    /// is returned once it has.
    fn withdraw(&mut self, place: u32, events: &mut Vec<Event>) {
        let entrant = self.at_place(place);
        let is_held = entrant.state() == EntrantState::Entered;
        let player = entrant.player;
        let number = entrant.number;
        self.entrants.set_state(place, EntrantState::Withdrawn);
        events.push(Event::Withdrawn { player, number });
        if is_held {
            self.return_entry(place);
        }
    }

    /// Requests the return of an entry in the form in which it was paid.
    pub(super) fn return_entry(&mut self, place: u32) {
        let entrant = self.at_place(place);
        let key = entrant.return_key();
        self.request_return(key, entrant.player, entrant.payment);
    }

    fn request_return(&mut self, key: TransferKey, player: PlayerId, payment: Payment) {
        let amount = match payment {
            Payment::Coins => self.terms.entry.price(),
            Payment::Free | Payment::Pass => Coins::ZERO,
        };
        self.account.request(Transfer { key, player: Some(player), payment, amount });
    }

    /// Books a transfer. An entry counts from here on, unless it has come too late or has been
    /// withdrawn.
    fn confirm_transfer(&mut self, key: TransferKey, events: &mut Vec<Event>) {
        let Some(transfer) = self.account.confirm(key) else { return };
        events.push(Event::Transferred { transfer });
        let TransferKey::Entry { player, number } = key else { return };
        let Some(place) = self.entrants.place_of(player) else { return };
        let entrant = self.at_place(place);
        let is_current = entrant.number == number && entrant.state() == EntrantState::Pending;
        let is_early = self.phase == Phase::Announced;
        let is_open = is_early || self.phase.is_running() && self.pool.is_none();
        if is_current && is_open {
            self.enter(place, events);
            return;
        }
        if is_current {
            self.entrants.set_state(place, EntrantState::Withdrawn);
            events.push(Event::Withdrawn { player, number });
        }
        self.request_return(TransferKey::Return { player, number }, player, transfer.payment);
    }

    /// Counts an entry. A sit-and-go starts with the last one; a late entrant joins.
    fn enter(&mut self, place: u32, events: &mut Vec<Event>) {
        self.entrants.set_state(place, EntrantState::Entered);
        let entrant = self.at_place(place);
        let player = entrant.player;
        let number = entrant.number;
        events.push(Event::Entered { player, number });
        match self.phase {
            Phase::Announced => {
                let is_sit_and_go = matches!(self.terms.format, Format::SitAndGo { .. });
                if is_sit_and_go && self.entrants.entered() == self.terms.entrants.most {
                    self.start(events);
                }
            }
            Phase::Arena { .. } => self.wait_for_table(place),
            Phase::Break { .. } | Phase::Round => self.join_group(place, events),
            Phase::Ended | Phase::Cancelled { .. } => {}
        }
    }

    /// Starts the tournament, or cancels it if too few have entered (rule 2.2).
    fn start(&mut self, events: &mut Vec<Event>) {
        if self.entrants.entered() < self.terms.entrants.least {
            self.cancel(CancelReason::TooFew, events);
            return;
        }
        events.push(Event::Started);
        self.late_until = self.at.after_ms(self.terms.late_registration_ms);
        match self.terms.format {
            Format::Arena { duration_ms, pairing_ms } => self.start_arena(duration_ms, pairing_ms),
            variants!(Format: SitAndGo, KnockOut, Duplicate) => self.start_first_stage(events),
        }
        if self.terms.late_registration_ms == 0 {
            self.close_registration(events);
        }
        if !matches!(self.phase, Phase::Arena { .. }) {
            self.start_round(events);
        }
    }

    fn run_clock(&mut self, events: &mut Vec<Event>) {
        if self.phase.is_running() && self.pool.is_none() && self.late_until <= self.at {
            self.close_registration(events);
        }
        match self.phase {
            Phase::Announced => self.start(events),
            Phase::Break { until } if until <= self.at => self.start_round(events),
            Phase::Arena { ends_at, .. } if ends_at <= self.at => self.end(events),
            Phase::Arena { next_pairing, .. } if next_pairing <= self.at => self.pair(events),
            Phase::Break { .. }
            | Phase::Arena { .. }
            | Phase::Round
            | Phase::Ended
            | Phase::Cancelled { .. } => {}
        }
    }

    /// Returns the entrants of a table by seat.
    fn seated_entrants(&self, number: TableNumber) -> Vec<u32> {
        self.tables.get(number).map(|table| table.entrants.clone()).unwrap_or_default()
    }

    /// Notes the points of a game by seat, and scores it unless the scores follow from all tables.
    fn score_game(
        &mut self,
        number: TableNumber,
        game: u32,
        scores: &[GameScore],
        events: &mut Vec<Event>,
    ) {
        let by_player: BTreeMap<PlayerId, &GameScore> =
            scores.iter().map(|score| (score.player, score)).collect();
        let entrants = self.seated_entrants(number);
        let seated: Vec<GameScore> =
            entrants.iter().map(|place| *by_player[&self.at_place(*place).player]).collect();
        let points: Vec<Coins> = seated.iter().map(|score| score.points).collect();
        self.games_scored = self.games_scored.saturating_add(1);
        let terms = Arc::clone(&self.terms);
        for (place, points) in entrants.iter().zip(&points) {
            let entrant = self.at_place_mut(*place);
            entrant.games += 1;
            match terms.format {
                Format::SitAndGo { .. } | Format::KnockOut { .. } => {
                    entrant.standing.score += points.hundredths();
                }
                Format::Arena { .. } => entrant.standing.add_points(*points),
                // The points count at the end of the round.
                Format::Duplicate { .. } => {}
            }
        }
        if matches!(self.terms.format, Format::Arena { .. }) {
            self.score_arena_game(&entrants, &points);
        }
        let is_last = self.tables.note_points(number, game, points);
        let absent: Vec<bool> = seated.iter().map(|score| score.is_absent).collect();
        events.push(Event::GameScored { table: number, game, scores: seated });
        if matches!(self.terms.format, Format::Arena { .. }) {
            for (place, is_absent) in entrants.iter().zip(absent) {
                if is_absent && !self.at_place(*place).is_paused {
                    self.pause(*place, events);
                }
            }
        }
        if is_last {
            self.end_table(number, events);
        }
    }

    /// Ends a table, and the round with its last table.
    fn end_table(&mut self, number: TableNumber, events: &mut Vec<Event>) {
        self.tables.end(number);
        let entrants = self.seated_entrants(number);
        for place in &entrants {
            self.at_place_mut(*place).table = None;
        }
        if matches!(self.phase, Phase::Arena { .. }) {
            self.tables.remove(number);
            for place in entrants {
                self.wait_for_table(place);
            }
            return;
        }
        if self.tables.have_ended() {
            self.finish_round(events);
        }
    }

    /// Ends the tournament: the standings are final.
    pub(super) fn end(&mut self, events: &mut Vec<Event>) {
        if self.pool.is_none() {
            self.close_registration(events);
        }
        let places = self.places_where(Entrant::takes_part);
        self.give_places(places, 0, events);
        self.clear_tables();
        self.phase = Phase::Ended;
        events.push(Event::Ended { seed: self.seed });
    }

    /// Removes all tables.
    pub(super) fn clear_tables(&mut self) {
        let tables = core::mem::take(&mut self.tables);
        for table in tables.iter().filter(|table| !table.has_ended) {
            for place in &table.entrants {
                self.at_place_mut(*place).table = None;
            }
        }
        self.waiting.clear();
    }

    /// Returns the players at these places in the list of entrants.
    pub(super) fn players(&self, places: &[u32]) -> Vec<PlayerId> {
        places.iter().map(|place| self.at_place(*place).player).collect()
    }

    /// Seats entrants at new tables of a round, and notes their seats and opponents.
    pub(super) fn seat_tables(
        &mut self,
        round: u32,
        tables: Vec<Vec<u32>>,
        games: u32,
    ) -> Vec<SeatedTable> {
        let mut seated = Vec::with_capacity(tables.len());
        for entrants in tables {
            self.last_table += 1;
            let number = TableNumber { round, table: self.last_table };
            for (seat, place) in entrants.iter().enumerate() {
                let others = entrants.iter().filter(|other| *other != place);
                let entrant = self.at_place_mut(*place);
                entrant.table = Some(number);
                entrant.seat_counts[seat] += 1;
                for other in others {
                    entrant.note_opponent(*other);
                }
            }
            let players = self.players(&entrants);
            seated.push(SeatedTable { table: number, players });
            self.tables.add(number, entrants, games);
        }
        seated
    }
}
