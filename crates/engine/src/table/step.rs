//! How a table changes: one input at a time, whole or not at all.
//!
//! Order within a step: the input is checked, the state changes, chance and prompts follow until
//! somebody is to act or the game is over, and last the seats are looked at whose player the AI
//! has replaced or given way to.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::chance::Commitment;
use crate::game::{Game, Turn, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Event, Reason};
use crate::table::id::{GameId, PlayerId};
use crate::table::input::{GameEntropy, Input, Line, Rejection};
use crate::table::phase::{Occupant, Phase, Preparing, Settling};
use crate::table::record::{ActionOrigin, Record};
use crate::table::time::Timestamp;

/// An accepted input: what to write down, the table after it, and what its viewers are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition<G: Game> {
    pub line: Line<G::Action>,
    pub table: Table<G>,
    /// Complete; [`Event::redact`] makes of each what a viewer may see.
    pub events: Vec<Event<G::Event>>,
}

pub(super) type TableRejection<G> = Rejection<<G as Game>::Refusal>;
pub(super) type Events<G> = Vec<Event<<G as Game>::Event>>;

impl<G: Game> Table<G> {
    /// Takes an input at a time. `fresh` is asked only when a new game begins to be prepared.
    pub fn decide(
        &self,
        now: Timestamp,
        input: Input<G::Action>,
        fresh: impl FnOnce() -> GameEntropy,
    ) -> Result<Transition<G>, TableRejection<G>> {
        let mut line = Line { at: now.max(self.at), input, fresh: None };
        let (table, events) = match self.follow(&line) {
            Err(Rejection::NeedsEntropy) => {
                line.fresh = Some(fresh());
                self.follow(&line)?
            }
            Ok(followed) => followed,
            Err(rejection) => return Err(rejection),
        };
        Ok(Transition { line, table, events })
    }

    /// The table after a line of its journal, and what that line means to its viewers.
    pub fn follow(&self, line: &Line<G::Action>) -> Result<(Self, Events<G>), TableRejection<G>> {
        let mut table = self.clone();
        let mut events = Vec::new();
        table.at = line.at.max(self.at);
        table.apply_line(line, self.at, &mut events)?;
        let (before, after) = (self.taken_over_seats(), table.taken_over_seats());
        for seat in before.union(after).iter() {
            if before.contains(seat) != after.contains(seat) {
                events.push(Event::Takeover { seat, on: after.contains(seat) });
            }
        }
        Ok((table, events))
    }

    /// Applies a line. `before` is the time of the line before it.
    fn apply_line(
        &mut self,
        line: &Line<G::Action>,
        before: Timestamp,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
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
                let (player, name, bot) = (*player, name.clone(), *bot);
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
                    // Who comes while a game goes on waits for the next one.
                    Phase::Opening(_)
                    | Phase::Revealing(_)
                    | Phase::Playing(_)
                    | Phase::Settling(_) => Ok(()),
                }
            }
            Input::Leave { player } => {
                let seat = self.require_seat(*player)?;
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
                    // Nobody else plays there, and nothing is at stake: the game ends with it.
                    return self.regroup(line.fresh, events);
                }
                self.regroup_between_games(line.fresh, events)
            }
            Input::Connect { player, connection } => {
                let seat = self.require_seat(*player)?;
                let tolerated = self.terms.clocks.missed_turns_to_takeover.saturating_sub(1);
                let occupant = self.seat_mut(seat);
                let is_away = occupant.left || occupant.missed_turns > tolerated;
                if occupant.connection == Some(*connection) && !is_away {
                    return Err(Rejection::AlreadyConnected);
                }
                let was_away = occupant.connection.replace(*connection).is_none();
                occupant.left = false;
                // Coming back takes the seat back and answers nothing: what was missed is missed, so
                // that nobody keeps the others waiting by coming again and again (rule 8.3).
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
                if occupant.connection != Some(*connection) {
                    return Err(Rejection::OtherConnection);
                }
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
                let told = events.len();
                self.act(seat, ActionOrigin::Player, action, events)?;
                // What nobody else sees happen does not show that the player is back.
                let is_seen = |event: &Event<_>| event.redact::<G>(Viewer::Public).is_some();
                if events[told..].iter().any(is_seen) {
                    let occupant = self.seat_mut(seat);
                    occupant.left = false;
                    occupant.missed_turns = 0;
                }
                Ok(())
            }
            Input::TakeBack { player } => {
                let seat = self.require_seat(*player)?;
                if !self.taken_over_seats().contains(seat) {
                    return Err(Rejection::NotTakenOver);
                }
                let occupant = self.seat_mut(seat);
                if occupant.connection.is_none() {
                    return Err(Rejection::OtherConnection);
                }
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
            Input::Opened { game, stakes, pot } => self.begin_revealing(*game, stakes, *pot, events),
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
                // Whoever has a part in the POT does not go while it is played for.
                let may_have_part = self.terms.private.is_some() && self.phase.is_running();
                if self.is_in_game(seat) || may_have_part {
                    return Err(Rejection::GameRunning);
                }
                self.vacate_seat(seat, Reason::Removed, events);
                self.regroup_between_games(line.fresh, events)
            }
        }
    }

    pub(super) fn require_seat(&self, player: PlayerId) -> Result<Seat, TableRejection<G>> {
        self.seat_of(player).ok_or(Rejection::NotSeated)
    }

    /// Whether the seat plays in a game that goes on.
    fn is_in_game(&self, seat: Seat) -> bool {
        seat.number() < self.seats_in_game()
    }

    pub(super) fn seat_mut(&mut self, seat: Seat) -> &mut Occupant {
        self.occupant_mut(seat).expect("a seat that was found by its player is taken")
    }

    fn find_free_seat(&self, player: PlayerId) -> Result<Seat, TableRejection<G>> {
        if self.seat_of(player).is_some() {
            return Err(Rejection::AlreadySeated);
        }
        if self.closed || self.has_ended() {
            return Err(Rejection::TableClosed);
        }
        Seat::all(self.seat_count())
            .find(|seat| self.occupant(*seat).is_none())
            .ok_or(Rejection::TableFull)
    }

    /// Frees a seat. Leaving the table breaks the player's run of wins (rule 7.3).
    pub(super) fn vacate_seat(&mut self, seat: Seat, reason: Reason, events: &mut Events<G>) {
        let Some(occupant) = self.seats[seat.index()].take() else {
            return;
        };
        let player = occupant.player;
        if let Phase::Preparing(preparing) = &mut self.phase {
            // Whoever sits down there next is asked anew.
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
            // Not by the player's own will (rule 7.4).
            Reason::Removed | Reason::Closed => self.queue_refund(player),
            Reason::Left | Reason::NotReady | Reason::Absent | Reason::CannotPay => {}
        }
        self.record_if_empty();
    }

    /// After somebody went who does not play in a game that may go on.
    fn regroup_between_games(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        if self.phase.is_running() { Ok(()) } else { self.regroup(fresh, events) }
    }

    /// Between games: goes on preparing a game where enough players are left for it; else takes the
    /// room's new terms, and prepares the next game when enough players are there, or waits.
    pub(super) fn regroup(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        let has_players = self.occupants().any(|(_, occupant)| !occupant.bot);
        let goes_on = matches!(self.phase, Phase::Preparing(_)) && has_players && !self.closed;
        if goes_on && self.has_enough_players() {
            self.open_if_ready(events);
            return Ok(());
        }
        self.apply_pending_terms(events);
        if self.closed {
            let taken: SeatSet = self.occupants().map(|(seat, _)| seat).collect();
            taken.iter().for_each(|seat| self.vacate_seat(seat, Reason::Closed, events));
        }
        let bots = self.bots();
        let has_players = bots.len() < self.occupants().count();
        if !has_players && !self.terms.practice {
            // They keep players company, not each other. At a practice table they belong to it.
            bots.iter().for_each(|seat| self.vacate_seat(seat, Reason::Left, events));
        }
        if !has_players || !self.has_enough_players() {
            if !matches!(self.phase, Phase::Waiting) {
                self.phase = Phase::Waiting;
                // Who waits has as long as one who has just gone away.
                let at = self.at;
                for occupant in self.seats.iter_mut().flatten() {
                    occupant.away_since = at;
                }
                events.push(Event::Waiting);
            }
            return Ok(());
        }
        let fresh = fresh.ok_or(Rejection::NeedsEntropy)?;
        for occupant in self.seats.iter_mut().flatten() {
            occupant.missed_turns = 0;
        }
        let deadline = self.at.after_ms(self.terms.clocks.prepare_ms);
        events.push(Event::Preparing {
            game: fresh.game,
            commitment: fresh.seed.commitment(),
            deadline_ms: deadline,
        });
        events.extend(bots.iter().map(|seat| Event::Ready { seat }));
        self.phase = Phase::Preparing(Preparing {
            game: fresh.game,
            server_seed: fresh.seed,
            ready: bots,
            commitments: vec![Commitment::NONE; self.seats.len()],
            deadline,
        });
        Ok(())
    }

    /// Whether a game can begin with those who sit here.
    pub(super) fn has_enough_players(&self) -> bool {
        self.occupants().count() >= usize::from(G::seats(&self.terms.rules).least)
    }

    /// Whether this player is to answer this prompt of this game, and from which seat.
    fn require_prompt(&self, player: PlayerId, game: GameId, prompt: u32) -> Result<Seat, TableRejection<G>> {
        let seat = self.require_seat(player)?;
        let Phase::Playing(playing) = &self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        if playing.game != game {
            return Err(Rejection::OtherGame);
        }
        if playing.asked.number != prompt {
            return Err(Rejection::StalePrompt);
        }
        if playing.asked.seats.contains(seat) { Ok(seat) } else { Err(Rejection::NotAsked) }
    }

    fn act(
        &mut self,
        seat: Seat,
        by: ActionOrigin,
        action: &G::Action,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        let at = self.at;
        let Phase::Playing(playing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        let mut happened = Vec::new();
        playing.act(at, seat, by, action, &mut happened).map_err(Rejection::Illegal)?;
        events.extend(happened.into_iter().map(|event| Event::Game { event }));
        self.advance(events)
    }

    /// After a change in the game: lets chance decide, asks the next question, or settles.
    pub(super) fn advance(&mut self, events: &mut Events<G>) -> Result<(), TableRejection<G>> {
        let at = self.at;
        let Phase::Playing(playing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
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
                    if prompt.number != playing.asked.number {
                        playing.asked_at = at;
                    }
                    let is_new = prompt.countdown != playing.asked.countdown;
                    playing.asked = prompt;
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
        let record = self.build_record().ok_or(Rejection::BadAnswer)?;
        events.push(Event::Over {
            game: record.game,
            settlement: record.settlement.clone(),
            server_seed: record.server_seed,
        });
        self.phase = Phase::Settling(Box::new(Settling { record, since: at }));
        Ok(())
    }

    /// The record of the game that is over; `None` if it is not, or an amount does not fit.
    fn build_record(&self) -> Option<Record<G>> {
        let Phase::Playing(playing) = &self.phase else {
            return None;
        };
        Record::from_table(self, playing)
    }

    /// Takes note that time has passed since the line before.
    fn tick(
        &mut self,
        before: Timestamp,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> Result<(), TableRejection<G>> {
        let is_due = self.phase_deadline().is_some_and(|deadline| deadline <= self.at);
        match &self.phase {
            Phase::Playing(playing) if playing.deadline <= self.at => self.play_defaults(events),
            // `follow` tells of the takeover.
            Phase::Playing(_) if self.next_grace_end(before).is_some_and(|end| end <= self.at) => {
                Ok(())
            }
            _ if !is_due => Err(Rejection::NothingDue),
            Phase::Waiting => {
                let late = |occupant: &Occupant| {
                    let absence_ms = self.terms.clocks.absence_ms;
                    occupant.connection.is_none()
                        && !occupant.bot
                        && occupant.away_since.after_ms(absence_ms) <= self.at
                };
                let absent: SeatSet =
                    self.occupants().filter(|(_, who)| late(who)).map(|(seat, _)| seat).collect();
                absent.iter().for_each(|seat| self.vacate_seat(seat, Reason::Absent, events));
                self.end_if_due();
                self.regroup(fresh, events)
            }
            Phase::Preparing(preparing) => {
                let ready = preparing.ready;
                let late: SeatSet =
                    self.occupants().map(|(seat, _)| seat).collect::<SeatSet>().difference(ready);
                late.iter().for_each(|seat| self.vacate_seat(seat, Reason::NotReady, events));
                self.regroup(fresh, events)
            }
            // Who has not revealed is dealt with the commitment (rule 9.1).
            Phase::Revealing(_) => self.deal_game(events),
            Phase::Opening(_) | Phase::Settling(_) if self.terms.practice => {
                self.tick_practice(fresh, events)
            }
            // An opening or a settlement is retried by its effect; the AI is asked by its own.
            Phase::Playing(_) | Phase::Opening(_) | Phase::Settling(_) => {
                Err(Rejection::NothingDue)
            }
        }
    }

    /// The countdown is over: plays the default for every seat that owes an answer, until another
    /// countdown begins (rule 8.2).
    fn play_defaults(&mut self, events: &mut Events<G>) -> Result<(), TableRejection<G>> {
        let Phase::Playing(playing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        let missed = playing.asked;
        playing.missed = playing.missed.union(missed.seats);
        loop {
            let Phase::Playing(playing) = &self.phase else {
                return Ok(());
            };
            if playing.asked.countdown != missed.countdown {
                return Ok(());
            }
            let Some(seat) = playing.asked.seats.iter().next() else {
                return self.expire_wait(events);
            };
            let action =
                playing.state.default_action(seat).expect("a seat that is asked has a default");
            self.act(seat, ActionOrigin::Clock, &action, events)?;
        }
    }

    /// The countdown is over, and nobody is to act.
    fn expire_wait(&mut self, events: &mut Events<G>) -> Result<(), TableRejection<G>> {
        let Phase::Playing(playing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
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
    ) -> Result<(), TableRejection<G>> {
        let Phase::Settling(settling) = &self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        let record = &settling.record;
        if record.game != game {
            return Err(Rejection::OtherGame);
        }
        self.pot = record.pot_after;
        self.crown = record.crown_after;
        self.last_winner =
            record.settlement.winner.and_then(|seat| Some(self.occupant(seat)?.player));
        events.push(Event::Settled { game, pot: self.pot, crown: self.crown });
        self.vacate_left_seats(events);
        self.regroup(fresh, events)
    }

    pub(super) fn vacate_left_seats(&mut self, events: &mut Events<G>) {
        for seat in Seat::all(self.seat_count()) {
            if self.occupant(seat).is_some_and(|occupant| occupant.left) {
                self.vacate_seat(seat, Reason::Left, events);
            }
        }
    }
}
