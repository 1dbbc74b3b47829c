//! What the shell owes a table: derived from its state, so that any process can carry it out,
//! and again, until the answer stands in the journal.

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

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect<'a, G: Game> {
    /// Have the ledger take antes and stakes, and tell [`Input::Opened`] or
    /// [`Input::OpenFailed`].
    Open(&'a Opening),
    /// Have the ledger settle the game and store its record, and tell [`Input::Settled`].
    Settle(&'a Record<G>),
    /// Have the ledger give coins of the POT back, and tell [`Input::PotRefunded`]. Until then no game
    /// is opened.
    RefundPot(PotRefund),
    /// Ask the AI what to play in this seat, and tell [`Input::AiAction`].
    ChooseAction { seat: Seat, player: PlayerId, game: GameId, prompt: u32 },
    /// Tell [`Input::Tick`].
    Tick,
}

/// What an AI is asked that plays on.
#[derive(Debug)]
pub struct AiQuestion<'a, G: Game> {
    table: &'a Table<G>,
    pub seat: Seat,
    pub player: PlayerId,
    pub game: GameId,
    pub prompt: u32,
    pub view: G::View,
    /// How many games it imagines.
    pub games: u32,
}

impl<G: Game> AiQuestion<'_, G> {
    /// Every event that the seat was shown.
    pub fn seen_events(&self) -> Vec<G::Event> {
        self.table.events_seen_by(self.seat)
    }

    /// The input that an answer is.
    pub fn to_input(&self, action: G::Action) -> Input<G::Action> {
        let Self { player, game, prompt, .. } = *self;
        Input::AiAction { player, game, prompt, action }
    }
}

impl<G: Game> Table<G> {
    /// When to look at [`Table::effects`] next, if nothing else happens before. An opening, a
    /// settlement or a return is due at once; its deadline is that of the next attempt. Nobody is
    /// asked at a practice table, which opens and settles by itself: there both are the clock's.
    pub fn deadline(&self) -> Option<Timestamp> {
        let retry_ms = self.terms.clocks.retry_ms;
        let returned = self.next_pot_refund().map(|due| due.since.after_ms(retry_ms));
        [self.phase_deadline(), returned].into_iter().flatten().min()
    }

    /// The same, for what the phase is about.
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
                let advised = playing.asked.seats.iter().filter_map(|seat| self.ai_acts_at(seat));
                advised.chain(self.next_grace_end(self.at)).chain([playing.deadline]).min()
            }
        }
    }

    /// What is due now.
    pub fn effects(&self, now: Timestamp) -> Vec<Effect<'_, G>> {
        let returned = self.next_pot_refund().map(Effect::RefundPot);
        match &self.phase {
            Phase::Opening(_) | Phase::Settling(_) if self.terms.practice => vec![Effect::Tick],
            // The opening says what is in the POT, so the return comes first.
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
                // The end of a grace comes first: it changes what the AI may play.
                let grace_end = self.next_grace_end(self.at);
                if playing.deadline <= now || grace_end.is_some_and(|end| end <= now) {
                    return vec![Effect::Tick];
                }
                let (game, prompt) = (playing.game, playing.asked.number);
                let is_due = |seat: &Seat| self.ai_acts_at(*seat).is_some_and(|at| at <= now);
                let choose_action = |seat| {
                    let player = self.occupant(seat)?.player;
                    Some(Effect::ChooseAction { seat, player, game, prompt })
                };
                playing.asked.seats.iter().filter(is_due).filter_map(choose_action).collect()
            }
        }
    }

    /// What the AI says to an [`Effect::ChooseAction`]: it sees what the seat sees and was shown, and
    /// nothing else. For a player it plays as well as it can, as a bot of the house only as the room
    /// has it. For a player who is away it makes no commitment (rule 8.3).
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
        let (game, prompt) = (playing.game, playing.asked.number);
        Some(Input::AiAction { player, game, prompt, action })
    }

    /// What an AI is asked that plays on in imagined games, for a player who is taken over: it plays
    /// better than [`Table::ai_action`], and takes some hundreds of times as long. `None` where the game
    /// has no such AI, for bots of the house, which play as the room has it, and for players who are
    /// away: for them the AI answers in the last second, and at once.
    pub fn ai_question(&self, seat: Seat) -> Option<AiQuestion<'_, G>> {
        let Phase::Playing(playing) = &self.phase else {
            return None;
        };
        let Occupant { player, bot, .. } = *self.occupant(seat)?;
        if bot || self.away_seats().contains(seat) || !playing.asked.seats.contains(seat) {
            return None;
        }
        let view = playing.state.view(Viewer::Seat(seat));
        let games = G::imagined_game_count(&view)?;
        let (game, prompt) = (playing.game, playing.asked.number);
        Some(AiQuestion { table: self, seat, player, game, prompt, view, games })
    }

    /// When the player longest away from a waiting table loses the seat.
    fn absence_deadline(&self) -> Option<Timestamp> {
        self.occupants()
            .filter(|(_, occupant)| occupant.connection.is_none() && !occupant.bot)
            .map(|(_, occupant)| occupant.away_since.after_ms(self.terms.clocks.absence_ms))
            .min()
    }
}
