//! The effects that a table requires from its host. They are derived from the table's state, so any
//! process can run them, repeatedly, until the answer is in the journal.

use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Game, Skill, Viewer};
use crate::seat::Seat;
use crate::table::id::{GameId, PlayerId};
use crate::table::phase::{Opening, Phase};
use crate::table::pot_refund::PotRefund;
use crate::table::record::Record;
use crate::table::time::Timestamp;
use crate::table::{Input, Occupant, Table};

/// A task that the host has to run for a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect<'a, G: Game> {
    /// The ledger takes antes and stakes; the answer is [`Input::Opened`] or [`Input::OpenFailed`].
    Open(&'a Opening),
    /// The ledger settles the game and stores its record; the answer is [`Input::Settled`].
    Settle(&'a Record<G>),
    /// The ledger refunds coins of the POT; the answer is [`Input::PotRefunded`]. No game is opened
    /// before the answer.
    RefundPot(PotRefund),
    /// The AI chooses an action for this seat; the answer is [`Input::AiAction`].
    ChooseAction { seat: Seat, player: PlayerId, game: GameId, prompt: u32 },
    /// The deadline has passed; the answer is [`Input::Tick`].
    Tick,
}

/// A prompt put to a searching AI, with everything that its seat knows.
#[derive(Debug)]
pub struct AiQuestion<'a, G: Game> {
    table: &'a Table<G>,
    pub seat: Seat,
    pub player: PlayerId,
    pub game: GameId,
    pub prompt: u32,
    pub view: G::View,
    /// The number of games that the search samples.
    pub games: u32,
}

impl<G: Game> AiQuestion<'_, G> {
    /// Returns every event that the seat has seen.
    pub fn seen_events(&self) -> Vec<G::Event> {
        self.table.events_seen_by(self.seat)
    }

    /// Returns the input that carries the chosen action.
    pub fn to_input(&self, action: G::Action) -> Input<G::Action> {
        let Self { player, game, prompt, .. } = *self;
        Input::AiAction { player, game, prompt, action }
    }
}

impl<G: Game> Table<G> {
    /// Returns the time of the next check of [`Table::effects`] if no input arrives before it. The
    /// deadline of an opening, a settlement or a refund, each of which is due at once, is the time
    /// of its next retry. A practice table opens and settles games by itself, so there the clock
    /// drives both.
    pub fn deadline(&self) -> Option<Timestamp> {
        let retry_ms = self.terms.clocks.retry_ms;
        let returned = self.next_pot_refund().map(|due| due.since.after_ms(retry_ms));
        [self.phase_deadline(), returned].into_iter().flatten().min()
    }

    /// Returns the deadline of the phase alone, without that of a POT refund.
    pub(super) fn phase_deadline(&self) -> Option<Timestamp> {
        let clocks = &self.terms.clocks;
        let asked_again_ms = if self.terms.practice { 0 } else { clocks.retry_ms };
        match &self.phase {
            Phase::Waiting => {
                [self.absence_deadline(), self.end_deadline()].into_iter().flatten().min()
            }
            Phase::Preparing(preparing) => Some(preparing.deadline),
            Phase::Opening(opening) => Some(opening.since.after_ms(asked_again_ms)),
            Phase::Revealing(revealing) => Some(revealing.deadline),
            Phase::Settling(settling) => Some(settling.since.after_ms(asked_again_ms)),
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
            Phase::Opening(_) | Phase::Settling(_) if self.terms.practice => vec![Effect::Tick],
            // The opening reports the balance of the POT, so the refund comes first.
            Phase::Opening(opening) => vec![returned.unwrap_or(Effect::Open(opening))],
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

    /// Returns the AI's answer to an [`Effect::ChooseAction`]. The AI knows only what the seat sees
    /// and has seen. It acts for a player with [`Skill::Quick`], and for a house bot with the skill
    /// of the room. For a player who is away it makes no commitment (rule 8.3).
    pub fn ai_action(&self, seat: Seat) -> Option<Input<G::Action>> {
        let Phase::Playing(playing) = &self.phase else {
            return None;
        };
        let Occupant { player, bot, .. } = *self.occupant(seat)?;
        let skill = if bot { self.terms.bots } else { Skill::Quick };
        let action = if self.away_seats().contains(seat) {
            self.choose_action_while_away(playing, seat)?
        } else {
            self.choose_action(playing, seat, skill)?
        };
        let game = playing.game;
        let prompt = playing.prompt.number;
        Some(Input::AiAction { player, game, prompt, action })
    }

    /// Returns the prompt for an AI that searches in sampled games, for a player whose seat is
    /// taken over. The search plays better than [`Table::ai_action`] and takes some hundreds of
    /// times as long. Returns `None` if the game has no such AI, for house bots, which play with
    /// the skill of the room, and for players who are away, for whom the AI answers in the last
    /// second and at once.
    pub fn ai_question(&self, seat: Seat) -> Option<AiQuestion<'_, G>> {
        let Phase::Playing(playing) = &self.phase else {
            return None;
        };
        let Occupant { player, bot, .. } = *self.occupant(seat)?;
        if bot || self.away_seats().contains(seat) || !playing.prompt.seats.contains(seat) {
            return None;
        }
        let view = playing.state.view(Viewer::Seat(seat));
        let games = G::imagined_game_count(&view)?;
        let game = playing.game;
        let prompt = playing.prompt.number;
        Some(AiQuestion { table: self, seat, player, game, prompt, view, games })
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
