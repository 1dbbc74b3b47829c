//! The transitions of a table: one input at a time, applied as a whole or not at all.
//!
//! Order within a step: the input is checked, the state changes, chance and prompts follow until a
//! seat is prompted or the game is over, and finally takeovers by the AI that have begun or ended
//! are reported.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::chance::Commitment;
use crate::game::{Game, GameRules, Turn, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Event, Reason};
use crate::table::id::{GameId, PlayerId};
use crate::table::input::{GameEntropy, Input, Line, Rejection};
use crate::table::phase::{Occupant, Phase, Preparing, Settling};
use crate::table::record::ActionOrigin;
use crate::table::time::Timestamp;

/// The result of an accepted input: the line for the journal, the table after it, and the events
/// for its viewers.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition<G: Game> {
    pub line: Line<G::Action>,
    pub table: Table<G>,
    /// The complete events; [`Event::redact`] reduces each to the part that a viewer may see.
    pub events: Vec<Event<G::Event>>,
}

/// The result of an input: this value, or the reason for which the table refuses the input.
pub(super) type TableResult<G, T = ()> = Result<T, Rejection<<G as Game>::Refusal>>;
pub(super) type Events<G> = Vec<Event<<G as Game>::Event>>;

impl<G: Game> Table<G> {
    /// Decides on an input at a time. `fresh` is only called if the input begins the preparation of
    /// a new game.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn decide(
        &self,
        now: Timestamp,
        input: Input<G::Action>,
        fresh: impl FnOnce() -> GameEntropy,
    ) -> TableResult<G, Transition<G>> {
        let mut line = Line { at: now.max(self.at), input, fresh: None };
        let (table, events) = match self.apply_line(&line) {
            Err(Rejection::NeedsEntropy) => {
                line.fresh = Some(fresh());
                self.apply_line(&line)?
            }
            Ok(followed) => followed,
            Err(rejection) => return Err(rejection),
        };
        Ok(Transition { line, table, events })
    }

    /// Returns the table after a line of its journal, with the events that follow from the line.
    ///
    /// # Errors
    /// The reason for which the table refuses the line.
    pub fn apply_line(&self, line: &Line<G::Action>) -> TableResult<G, (Self, Events<G>)> {
        let mut table = self.clone();
        let mut events = Vec::new();
        table.at = line.at.max(self.at);
        table.apply_input(line, self.at, &mut events)?;
        let before = self.taken_over_seats();
        let after = table.taken_over_seats();
        for seat in before.union(after).iter() {
            if before.contains(seat) != after.contains(seat) {
                events.push(Event::Takeover { seat, on: after.contains(seat) });
            }
        }
        Ok((table, events))
    }

    /// Applies a line. `before` is the time of the previous line.
    fn apply_input(
        &mut self,
        line: &Line<G::Action>,
        before: Timestamp,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        match &line.input {
            Input::Sit { player, name, avatar, bot } => {
                let seat = self.find_free_seat(*player)?;
                let avatar = avatar.clone();
                self.seats[seat.index()] = Some(Occupant {
                    player: *player,
                    name: name.as_str().into(),
                    avatar: avatar.as_deref().map(Into::into),
                    bot: *bot,
                    connection: None,
                    away_since: self.at,
                    left: false,
                    missed_turns: 0,
                });
                let player = *player;
                let name = name.clone();
                let bot = *bot;
                events.push(Event::Sat { seat, player, name, avatar, bot });
                match &mut self.phase {
                    Phase::Waiting => self.regroup(line.fresh, events),
                    Phase::Preparing(preparing) => {
                        if bot {
                            preparing.ready = preparing.ready.with(seat);
                            events.push(Event::Ready { seat });
                        }
                        Ok(())
                    }
                    // A player who arrives during a game waits for the next one.
                    variants!(Phase: Opening, Revealing, Playing, Settling) => Ok(()),
                }
            }
            Input::Leave { player } => {
                let seat = self.require_seat(*player)?;
                if self.terms.tournament.is_some() {
                    return self.leave_tournament_table(seat, events);
                }
                if self.is_in_game(seat) && !self.terms.practice {
                    let has_left = &mut self.seat_mut(seat).left;
                    return if core::mem::replace(has_left, true) {
                        Err(Rejection::NotSeated)
                    } else {
                        Ok(())
                    };
                }
                self.vacate_seat(seat, Reason::Left, events);
                if self.terms.practice {
                    // Nobody else plays here and nothing is at stake, so the game ends with the
                    // player.
                    return self.regroup(line.fresh, events);
                }
                self.regroup_between_games(line.fresh, events)
            }
            Input::Connect { player, connection } => {
                let seat = self.require_seat(*player)?;
                let tolerated = self.terms.clocks.missed_turns_to_takeover.saturating_sub(1);
                let occupant = self.seat_mut(seat);
                let is_away = occupant.left || occupant.missed_turns > tolerated;
                let is_known = occupant.connection == Some(*connection) && !is_away;
                Self::require(!is_known, Rejection::AlreadyConnected)?;
                let was_away = occupant.connection.replace(*connection).is_none();
                occupant.left = false;
                // Returning takes the seat back and answers nothing. Missed countdowns still count,
                // so that nobody keeps the others waiting by returning again and again (rule 8.3).
                occupant.missed_turns = occupant.missed_turns.min(tolerated);
                if was_away {
                    events.push(Event::Presence { seat, connected: true });
                }
                Ok(())
            }
            Input::Disconnect { player, connection } => {
                let seat = self.require_seat(*player)?;
                let at = self.at;
                let occupant = self.seat_mut(seat);
                let is_current = occupant.connection == Some(*connection);
                Self::require(is_current, Rejection::OtherConnection)?;
                occupant.connection = None;
                occupant.away_since = at;
                events.push(Event::Presence { seat, connected: false });
                Ok(())
            }
            Input::Ready { player, game, commitment } => {
                self.mark_ready(*player, *game, *commitment, events)
            }
            Input::Reveal { player, game, text } => self.reveal_text(*player, *game, text, events),
            Input::Act { player, game, prompt, action } => {
                let seat = self.require_prompt(*player, *game, *prompt)?;
                let first_event = events.len();
                self.act(seat, ActionOrigin::Player, action, events)?;
                // An action that nobody else sees does not show that the player is back.
                let is_seen = |event: &Event<_>| event.redact::<G>(Viewer::Public).is_some();
                if events[first_event..].iter().any(is_seen) {
                    let occupant = self.seat_mut(seat);
                    occupant.left = false;
                    occupant.missed_turns = 0;
                }
                Ok(())
            }
            Input::TakeBack { player } => {
                let seat = self.require_seat(*player)?;
                Self::require(self.taken_over_seats().contains(seat), Rejection::NotTakenOver)?;
                let occupant = self.seat_mut(seat);
                Self::require(occupant.connection.is_some(), Rejection::OtherConnection)?;
                occupant.left = false;
                occupant.missed_turns = 0;
                Ok(())
            }
            Input::AiAction { player, game, prompt, action } => {
                let seat = self.require_prompt(*player, *game, *prompt)?;
                self.authorize_ai_action(seat, action)?;
                self.act(seat, ActionOrigin::Ai, action, events)
            }
            Input::Tick => self.tick(before, line.fresh, events),
            Input::Opened { game, stakes, pot } => {
                self.begin_revealing(*game, stakes, *pot, events)
            }
            Input::OpenFailed { game, seats } => {
                self.handle_open_failure(*game, *seats, line.fresh, events)
            }
            Input::Settled { game } => self.finish_settlement(*game, line.fresh, events),
            Input::PotRefunded { game, player, pot, shares } => {
                self.apply_pot_refund(*game, *player, *pot, shares, events)
            }
            Input::UpdateTerms { terms } => self.update_terms(terms, events),
            Input::Remove { player } => {
                let seat = self.require_seat(*player)?;
                if self.terms.tournament.is_some() {
                    return self.leave_tournament_table(seat, events);
                }
                // A player with a part in the POT cannot be removed during a game for the POT.
                let may_have_part = self.terms.private.is_some() && self.phase.is_running();
                let may_go = !self.is_in_game(seat) && !may_have_part;
                Self::require(may_go, Rejection::GameRunning)?;
                self.vacate_seat(seat, Reason::Removed, events);
                self.regroup_between_games(line.fresh, events)
            }
        }
    }

    pub(super) fn require_seat(&self, player: PlayerId) -> TableResult<G, Seat> {
        self.seat_of(player).ok_or(Rejection::NotSeated)
    }

    /// Checks that an input is about the present game.
    pub(super) fn check_game(present: GameId, game: GameId) -> TableResult<G> {
        Self::require(present == game, Rejection::OtherGame)
    }

    /// Rejects an input unless the condition holds.
    pub(super) fn require(holds: bool, otherwise: Rejection<G::Refusal>) -> TableResult<G> {
        if holds { Ok(()) } else { Err(otherwise) }
    }

    /// Returns whether the seat takes part in the running game.
    fn is_in_game(&self, seat: Seat) -> bool {
        seat.number() < self.seats_in_game()
    }

    pub(super) fn seat_mut(&mut self, seat: Seat) -> &mut Occupant {
        self.seats[seat.index()].as_mut().expect("the seat of a player is occupied")
    }

    fn find_free_seat(&self, player: PlayerId) -> TableResult<G, Seat> {
        Self::require(self.seat_of(player).is_none(), Rejection::AlreadySeated)?;
        Self::require(!self.closed && !self.has_ended(), Rejection::TableClosed)?;
        Self::require(self.terms.tournament.is_none(), Rejection::TableFull)?;
        Seat::all(self.seat_count())
            .find(|seat| self.occupant(*seat).is_none())
            .ok_or(Rejection::TableFull)
    }

    pub(super) fn vacate_seats(&mut self, seats: SeatSet, reason: Reason, events: &mut Events<G>) {
        seats.iter().for_each(|seat| self.vacate_seat(seat, reason, events));
    }

    /// Vacates a seat. Leaving the table ends the player's run of wins (rule 7.3).
    fn vacate_seat(&mut self, seat: Seat, reason: Reason, events: &mut Events<G>) {
        let Some(occupant) = self.seats[seat.index()].take() else { return };
        let player = occupant.player;
        if let Phase::Preparing(preparing) = &mut self.phase {
            // The next player in this seat has to become ready again.
            preparing.ready = preparing.ready.without(seat);
            preparing.commitments[seat.index()] = Commitment::NONE;
        }
        if self.crown.is_some_and(|crown| crown.player == player) {
            self.crown = None;
        }
        if self.last_winner == Some(player) {
            self.last_winner = None;
        }
        events.push(Event::Left { seat, player, reason });
        match reason {
            // The player does not leave by choice (rule 7.4).
            Reason::Removed | Reason::Closed => self.queue_refund(player),
            variants!(Reason: Left, NotReady, Absent, CannotPay, Finished) => {}
        }
        self.record_if_empty();
    }

    /// Regroups after a player has left, unless a game is running in which that player does not
    /// take part.
    fn regroup_between_games(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        if self.phase.is_running() { Ok(()) } else { self.regroup(fresh, events) }
    }

    /// Regroups between games. Continues the preparation of a game if enough players remain;
    /// otherwise applies the room's new terms and prepares the next game if there are enough
    /// players, or waits.
    pub(super) fn regroup(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let has_players = self.occupants().any(|(_, occupant)| !occupant.bot);
        if self.terms.tournament.is_some() {
            return self.regroup_tournament_table(fresh, events);
        }
        let goes_on = matches!(self.phase, Phase::Preparing(_)) && has_players && !self.closed;
        if goes_on && self.has_enough_players() {
            self.open_if_ready(events);
            return Ok(());
        }
        self.apply_pending_terms(events);
        if self.closed {
            self.vacate_seats(self.taken_seats(), Reason::Closed, events);
        }
        let bots = self.bots();
        let has_players = bots.len() < self.occupants().count();
        if !has_players && !self.terms.practice {
            // House bots keep players company, not each other. At a practice table they belong to
            // the table.
            self.vacate_seats(bots, Reason::Left, events);
        }
        if !has_players || !self.has_enough_players() {
            if !matches!(self.phase, Phase::Waiting) {
                self.phase = Phase::Waiting;
                // Each absence counts from now, as if every absent player had just left.
                let at = self.at;
                for occupant in self.seats.iter_mut().flatten() {
                    occupant.away_since = at;
                }
                events.push(Event::Waiting);
            }
            return Ok(());
        }
        self.prepare_game(bots, fresh, events)
    }

    /// Prepares the next game. The seats in `ready` need not become ready.
    pub(super) fn prepare_game(
        &mut self,
        ready: SeatSet,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let fresh = fresh.ok_or(Rejection::NeedsEntropy)?;
        let server_seed = self.next_seed(fresh.seed)?;
        for occupant in self.seats.iter_mut().flatten() {
            occupant.missed_turns = 0;
        }
        let deadline = self.at.after_ms(self.terms.clocks.prepare_ms);
        events.push(Event::Preparing {
            game: fresh.game,
            commitment: server_seed.commitment(),
            deadline_ms: deadline,
        });
        events.extend(ready.iter().map(|seat| Event::Ready { seat }));
        self.phase = Phase::Preparing(Preparing {
            game: fresh.game,
            server_seed,
            ready,
            commitments: vec![Commitment::NONE; self.seats.len()],
            deadline,
        });
        Ok(())
    }

    /// Returns whether enough players are seated for a game.
    pub(super) fn has_enough_players(&self) -> bool {
        self.occupants().count() >= usize::from(self.terms.rules.seats().least)
    }

    /// Returns the seat of a player who has to answer this prompt of this game.
    ///
    /// # Errors
    /// The reason why the player may not answer it.
    fn require_prompt(&self, player: PlayerId, game: GameId, prompt: u32) -> TableResult<G, Seat> {
        let seat = self.require_seat(player)?;
        let Phase::Playing(playing) = &self.phase else { return Err(Rejection::NoSuchPhase) };
        Self::check_game(playing.game, game)?;
        Self::require(playing.prompt.number == prompt, Rejection::StalePrompt)?;
        if playing.prompt.seats.contains(seat) { Ok(seat) } else { Err(Rejection::NotAsked) }
    }

    fn act(
        &mut self,
        seat: Seat,
        by: ActionOrigin,
        action: &G::Action,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let at = self.at;
        let Phase::Playing(playing) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        let mut happened = Vec::new();
        playing.act(at, seat, by, action, &mut happened).map_err(Rejection::Illegal)?;
        events.extend(happened.into_iter().map(|event| Event::Game { event }));
        self.advance(events)
    }

    /// Advances the game after a change: draws from chance, issues the next prompt, or settles.
    pub(super) fn advance(&mut self, events: &mut Events<G>) -> TableResult<G> {
        let at = self.at;
        let Phase::Playing(playing) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        loop {
            match playing.state.turn() {
                Turn::Chance(request) => {
                    let answer = playing.stream.draw(request);
                    let mut happened = Vec::new();
                    playing.state = playing.state.resolve(&answer, &mut happened);
                    Arc::make_mut(&mut playing.chance).push(answer);
                    events.extend(happened.into_iter().map(|event| Event::Game { event }));
                }
                Turn::Players(prompt) | Turn::Wait(prompt) => {
                    if prompt.number != playing.prompt.number {
                        playing.asked_at = at;
                    }
                    let is_new = prompt.countdown != playing.prompt.countdown;
                    playing.prompt = prompt;
                    if is_new {
                        playing.deadline = at.after_ms(prompt.countdown_ms);
                        events.push(Event::Countdown { deadline_ms: playing.deadline });
                        self.count_missed_countdowns();
                    }
                    return Ok(());
                }
                Turn::Over => break,
            }
        }
        self.count_missed_countdowns();
        let record = self.make_record().ok_or(Rejection::BadAnswer)?;
        events.push(Event::Over {
            game: record.game,
            settlement: record.settlement.clone(),
            server_seed: (!self.terms.has_shared_deals()).then_some(record.server_seed),
        });
        self.phase = Phase::Settling(Box::new(Settling { record, since: at }));
        Ok(())
    }

    /// Handles the passage of time since the previous line.
    fn tick(
        &mut self,
        before: Timestamp,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let is_due = self.phase_deadline().is_some_and(|deadline| deadline <= self.at);
        match &self.phase {
            Phase::Playing(playing) if playing.deadline <= self.at => self.play_defaults(events),
            // `apply_line` reports the takeover.
            Phase::Playing(_) if self.next_grace_end(before).is_some_and(|end| end <= self.at) => {
                Ok(())
            }
            _ if !is_due => Err(Rejection::NothingDue),
            Phase::Waiting if self.terms.tournament.is_some() => self.regroup(fresh, events),
            Phase::Preparing(_) if self.terms.tournament.is_some() => {
                self.open_without_unready_players(events);
                Ok(())
            }
            Phase::Waiting => {
                let late = |occupant: &Occupant| {
                    let absence_ms = self.terms.clocks.absence_ms;
                    occupant.connection.is_none()
                        && !occupant.bot
                        && occupant.away_since.after_ms(absence_ms) <= self.at
                };
                let absent = self.seats_where(late);
                self.vacate_seats(absent, Reason::Absent, events);
                self.end_if_due();
                self.regroup(fresh, events)
            }
            Phase::Preparing(preparing) => {
                let late = self.taken_seats().difference(preparing.ready);
                self.vacate_seats(late, Reason::NotReady, events);
                self.regroup(fresh, events)
            }
            // The commitment takes the place of a seed that was not revealed (rule 9.1).
            Phase::Revealing(_) => self.deal_game(events),
            Phase::Opening(_) if self.terms.opens_by_itself() => self.open_without_ledger(events),
            Phase::Settling(settling) if self.terms.practice => {
                self.finish_settlement(settling.record.game, fresh, events)
            }
            // Effects of their own retry an opening or a settlement and prompt the AI.
            Phase::Playing(_) | Phase::Opening(_) | Phase::Settling(_) => {
                Err(Rejection::NothingDue)
            }
        }
    }

    /// Plays the default action for every seat that has not answered at the end of the countdown,
    /// until another countdown begins (rule 8.2).
    fn play_defaults(&mut self, events: &mut Events<G>) -> TableResult<G> {
        let Phase::Playing(playing) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        let missed = playing.prompt;
        playing.missed = playing.missed.union(missed.seats);
        loop {
            let Phase::Playing(playing) = &self.phase else { return Ok(()) };
            if playing.prompt.countdown != missed.countdown {
                return Ok(());
            }
            let Some(seat) = playing.prompt.seats.iter().next() else {
                return self.expire_wait(events);
            };
            let action = playing
                .state
                .default_action(seat)
                .expect("a seat that is to act has a default action");
            self.act(seat, ActionOrigin::Clock, &action, events)?;
        }
    }

    /// Continues the game at the end of a countdown in which no seat was prompted.
    fn expire_wait(&mut self, events: &mut Events<G>) -> TableResult<G> {
        let Phase::Playing(playing) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        let mut happened = Vec::new();
        playing.state = playing.state.expire(&mut happened);
        events.extend(happened.into_iter().map(|event| Event::Game { event }));
        self.advance(events)
    }

    pub(super) fn finish_settlement(
        &mut self,
        game: GameId,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let Phase::Settling(settling) = &self.phase else { return Err(Rejection::NoSuchPhase) };
        let record = &settling.record;
        Self::check_game(record.game, game)?;
        self.pot = record.pot_after;
        self.crown = record.crown_after;
        self.last_winner =
            record.settlement.winner.and_then(|seat| Some(self.occupant(seat)?.player));
        events.push(Event::Settled { game, pot: self.pot, crown: self.crown });
        if self.terms.tournament.is_some() {
            self.tournament_games += 1;
        } else {
            self.vacate_left_seats(events);
        }
        self.regroup(fresh, events)
    }

    pub(super) fn vacate_left_seats(&mut self, events: &mut Events<G>) {
        self.vacate_seats(self.seats_where(|occupant| occupant.left), Reason::Left, events);
    }
}
