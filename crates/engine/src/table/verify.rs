//! Verification of a record against itself: commitment, deal, every action and the settlement. It
//! trusts nothing in the record but the seeds and the actions, and recomputes everything else.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::chance::{Contribution, Stream};
use crate::coins::Coins;
use crate::game::{Game, GameRules, Refusal, Turn};
use crate::seat::Seat;
use crate::table::event::Crown;
use crate::table::outcome::TableOutcome;
use crate::table::record::{ActionOrigin, FORMAT, Record, RecordedAction};
use crate::table::terms::Spectators;
use crate::table::time::Timestamp;
use crate::table::version::{self, ENGINES};

/// The summary of a valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifySummary {
    pub actions: usize,
}

/// A replayed game after one of its steps.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, G: Game> {
    pub at: Timestamp,
    /// The action that led here; `None` for the deal and for the end of a countdown in which no
    /// seat was prompted.
    pub taken: Option<&'a RecordedAction<G::Action>>,
    /// The complete events of the step, including those of chance; redact them for a viewer.
    pub events: &'a [G::Event],
    pub state: &'a G,
}

/// The first violation in a record, with the rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRecordError {
    /// The index of the action, from 0, if the violation is in one.
    pub action: Option<usize>,
    /// The number of the rule on the rules page.
    pub rule: String,
    pub message: String,
}

impl fmt::Display for InvalidRecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.action {
            Some(action) => write!(f, "action {action}: {} (rule {})", self.message, self.rule),
            None => write!(f, "{} (rule {})", self.message, self.rule),
        }
    }
}

impl core::error::Error for InvalidRecordError {}

fn fail<T>(rule: &str, message: impl Into<String>) -> Result<T, InvalidRecordError> {
    Err(InvalidRecordError { action: None, rule: rule.into(), message: message.into() })
}

fn fail_at_action<T>(
    action: usize,
    rule: &str,
    message: impl Into<String>,
) -> Result<T, InvalidRecordError> {
    Err(InvalidRecordError { action: Some(action), rule: rule.into(), message: message.into() })
}

fn check(holds: bool, rule: &str, message: &str) -> Result<(), InvalidRecordError> {
    if holds { Ok(()) } else { fail(rule, message) }
}

impl<G: Game> Record<G> {
    /// Recomputes everything that follows from the seeds, the terms and the actions.
    ///
    /// # Errors
    /// The first difference, in the order: form, commitment, deal, actions, outcome, settlement.
    pub fn verify(&self) -> Result<VerifySummary, InvalidRecordError> {
        self.verify_form()?;
        let committed = self.server_seed.commitment() == self.commitment;
        check(committed, "9.1", "the commitment is not the SHA-256 of the server seed")?;
        let revealed = self.clients.iter().all(Contribution::is_valid);
        check(revealed, "9.1", "a client's text or seed is not that of its commitment")?;
        let state = self.replay(|_| ())?;
        let Some(outcome) = state.outcome() else {
            return fail("3.8", "the actions end before the game does");
        };
        check(outcome == self.outcome, "6", "the outcome is not that of the actions")?;
        self.verify_settlement()?;
        Ok(VerifySummary { actions: self.actions.len() })
    }

    fn verify_form(&self) -> Result<(), InvalidRecordError> {
        let seats = self.players.len();
        let fits = u8::try_from(seats).is_ok_and(|seats| self.terms.rules.seats().contains(seats));
        check(self.format == FORMAT, "9.5", "the record is of another format")?;
        let is_known =
            ENGINES.into_iter().any(|engine| version::engine_name(engine) == self.engine);
        check(is_known, "9.5", "the record is of an unknown version of the engine")?;
        let kind = self.terms.rules.kind();
        check(self.kind == kind, "9.5", "the record is of another game")?;
        check(fits, "1.1", "the players are not one a seat")?;
        check(self.terms.rules.check().is_ok(), "9.5", "no game can be dealt by its rules")?;
        let per_bet = self.terms.rules.counts_per_bet();
        let is_sound = self.terms.price.count_price(per_bet).is_ok();
        check(is_sound, "6.7", "a count has no price in whole hundredths")?;
        check(self.clients.len() == seats, "9.2", "the client seeds are not one a seat")?;
        check(self.stakes.len() == seats, "6.9", "the stakes are not one a seat")?;
        let is_covered = self.terms.allows_stakes(&self.stakes);
        check(is_covered, "6.9", "a stake is not the one that the rules ask for")?;
        self.verify_players()?;
        self.verify_tournament()?;
        self.verify_pot()?;
        let starter_seat = self.starter.is_none_or(|seat| seat.index() < seats);
        check(starter_seat, "2.2", "the starter is no seat of this table")
    }

    /// Checks that each seat has a player of its own, that house bots are played by the AI, and
    /// that they took no part in the deal (rules 8.6 and 9.1).
    fn verify_players(&self) -> Result<(), InvalidRecordError> {
        let players = &self.players;
        let twice = players.iter().enumerate().any(|(index, one)| players[..index].contains(one));
        check(!twice, "1.1", "a player sits on two seats")?;
        let is_seat = self.bots.iter().all(|bot| bot.index() < players.len());
        check(is_seat, "8.6", "a bot sits on no seat of this game")?;
        let takes_part = |bot: Seat| self.clients.get(bot.index()) != Some(&Contribution::none());
        check(!self.bots.iter().any(takes_part), "8.6", "a bot took part in the deal")?;
        let by_player = |taken: &RecordedAction<G::Action>| {
            taken.by == ActionOrigin::Player && self.bots.contains(taken.seat)
        };
        match self.actions.iter().position(by_player) {
            Some(index) => fail_at_action(index, "8.6", "a bot is played by the AI"),
            None => Ok(()),
        }
    }

    /// Checks that a game of a tournament was played by the players of its table, and for points
    /// alone.
    fn verify_tournament(&self) -> Result<(), InvalidRecordError> {
        let Some(tournament) = &self.terms.tournament else { return Ok(()) };
        let are_theirs = self.players == tournament.players;
        check(are_theirs, "1.1", "the players are not those of the tournament's table")?;
        let terms = &self.terms;
        let is_other = terms.hits.is_some() || terms.private.is_some() || terms.practice;
        let is_free = terms.price.fee_basis_points == 0;
        check(!is_other && is_free, "9.5", "a table of a tournament is played for points alone")?;
        if !self.terms.has_shared_deals() {
            return Ok(());
        }
        let games = u32::try_from(tournament.commitments.len());
        check(games == Ok(tournament.games), "9.1", "the deal commitments are not one a game")?;
        let is_shown = tournament.commitments.contains(&self.commitment);
        check(is_shown, "9.1", "the commitment is none of those that all tables show")?;
        let takes_part = |client: &Contribution| *client != Contribution::none();
        let is_free = !self.clients.iter().any(takes_part);
        check(is_free, "9.1", "a client took part in a deal that all tables play")?;
        check(self.starter.is_none(), "9.4", "an earlier game decided who begins a shared deal")?;
        let is_watched = self.terms.spectators != Spectators::Nobody;
        check(!is_watched, "9.5", "a table of a shared deal is watched")
    }

    /// Checks that the POT holds this game's antes, and that a player of the table can hold the
    /// crown (rules 7.1 and 7.2).
    fn verify_pot(&self) -> Result<(), InvalidRecordError> {
        let Some(hits) = self.terms.hits else {
            let is_empty = self.pot_before.is_zero() && self.crown_before.is_none();
            return check(is_empty, "7.1", "there is no POT at this table, and no crown");
        };
        let mut antes = self.stakes.iter().map(|_| self.terms.ante());
        let antes = antes.try_fold(Coins::ZERO, |sum, ante| sum.checked_add(ante?));
        let is_paid = antes.is_some_and(|antes| self.pot_before >= antes);
        check(is_paid, "7.1", "the POT does not hold the antes of this game")?;
        let can_be = |crown: Crown| {
            (1..hits.to_win).contains(&crown.wins) && self.players.contains(&crown.player)
        };
        let is_sound = self.crown_before.is_none_or(can_be);
        check(is_sound, "7.2", "the crown before is none that a player here can have")
    }

    /// Replays the record's actions on the deal that follows from its seeds, passes the game after
    /// each step to `show`, and returns the last state.
    ///
    /// # Errors
    /// The first action or answer of chance that does not follow.
    pub fn replay(&self, mut show: impl FnMut(Step<'_, G>)) -> Result<G, InvalidRecordError> {
        let key = self.server_seed.key(&self.terms.deal_id(self.game), &self.clients);
        let mut stream = Stream::new(key);
        let seats = u8::try_from(self.players.len());
        let seats = seats.ok().filter(|seats| self.terms.rules.seats().contains(*seats));
        let Some(seats) = seats else { return fail("1.1", "the players are not one a seat") };
        let mut state = G::new(&self.terms.rules, seats, self.starter);
        let mut actions = self.actions.iter().enumerate();
        let mut chance = self.chance.iter();
        let mut at = self.opened_at;
        let mut countdown = (u32::MAX, at);
        let mut taken_last = None;
        let mut events = Vec::new();
        loop {
            if let Some(prompt) = state.turn().prompt()
                && countdown.0 != prompt.countdown
            {
                countdown = (prompt.countdown, at);
            }
            match state.turn() {
                Turn::Chance(request) => {
                    let answer = stream.draw(request);
                    let same = chance.next() == Some(&answer);
                    check(same, "9.4", "the deck or draw is not that of the seeds")?;
                    state = state.resolve(&answer, &mut events);
                }
                Turn::Players(prompt) => {
                    show(Step { at, taken: taken_last, events: &events, state: &state });
                    events.clear();
                    let Some((index, taken)) = actions.next() else { return Ok(state) };
                    if taken.at < at || taken.at > self.finished_at {
                        return fail_at_action(index, "8.2", "it is out of order in time");
                    }
                    at = taken.at;
                    if !prompt.seats.contains(taken.seat) {
                        let message = alloc::format!("{:?} was not to act", taken.seat);
                        return fail_at_action(index, "1.1", message);
                    }
                    let by_clock = taken.by == ActionOrigin::Clock;
                    if by_clock && state.default_action(taken.seat).as_ref() != Some(&taken.action)
                    {
                        return fail_at_action(index, "8.2", "it is not what the clock plays");
                    }
                    state = match state.act(taken.seat, &taken.action, &mut events) {
                        Ok(state) => state,
                        Err(illegal) => {
                            return fail_at_action(index, illegal.rule(), illegal.to_string());
                        }
                    };
                    taken_last = Some(taken);
                }
                Turn::Wait(prompt) => {
                    show(Step { at, taken: taken_last.take(), events: &events, state: &state });
                    events.clear();
                    // The journal has the time of the expiry; the record has the beginning of the
                    // countdown.
                    let over = countdown.1.after_ms(prompt.countdown_ms);
                    at = at.max(over.min(self.finished_at));
                    state = state.expire(&mut events);
                }
                Turn::Over => {
                    show(Step { at, taken: taken_last, events: &events, state: &state });
                    break;
                }
            }
        }
        if let Some((index, _)) = actions.next() {
            return fail_at_action(index, "3.8", "the game was over before it");
        }
        check(chance.next().is_none(), "9.4", "chance decided more than the game asked")?;
        Ok(state)
    }

    fn verify_settlement(&self) -> Result<(), InvalidRecordError> {
        let worth = TableOutcome::compute::<G>(
            &self.outcome,
            &self.terms,
            &self.stakes,
            self.pot_before,
            self.crown_before,
            &self.players,
        );
        let Some(worth) = worth else { return fail("6.8", "an amount does not fit") };
        let ours = &worth.settlement;
        let theirs = &self.settlement;
        check(ours.winner == theirs.winner, "6", "the winner is another")?;
        check(ours.payments == theirs.payments, "6.7", "the payments are others")?;
        check(ours.fees == theirs.fees, "6.8", "the fee is another")?;
        check(ours.pot == theirs.pot, "7.2", "the POT's payout is another")?;
        check(worth.pot_after == self.pot_after, "7.2", "the POT left is another")?;
        check(worth.crown_after == self.crown_after, "7.2", "the crown is another")
    }
}
