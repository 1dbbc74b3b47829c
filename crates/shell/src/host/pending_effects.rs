//! The effects that a table's state asks for: opening, settling and refunding games in the ledger,
//! actions of the AI, ticks of the clock.
//!
//! Each result goes back to the table as an input. Effects are idempotent: one whose result is lost
//! is due again at the table's deadline, and running it twice changes nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_bots::Ai;
use bahay_bots::table::{ai_action, ai_question};
use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Effect, GameId, Input, Opening, PlayerId, PotRefund, Readable, Record, Share, StakeTerms,
    Table, TableId, Timestamp,
};

use super::{Origin, Request, TableHost};
use crate::context::{Context, HostEvent};
use crate::guard::catch_panic;
use crate::halting::{Halt, LEDGER_REFUSAL, STORE_FAULT};
use crate::host::job::Job;

/// A call to the ledger.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerCall<G: Readable> {
    Open(Box<GameOpening>),
    Settle(Box<Record<G>>),
    /// Stores the record of a game of a tournament, with its number at the table from 1 and the
    /// seats that the AI played at its end. No coins move. Answered by [`LedgerAnswer::Settled`].
    Report {
        record: Box<Record<G>>,
        number: u32,
        absent: SeatSet,
    },
    /// Refunds coins of the table's POT.
    RefundPot(PotRefund),
    /// Voids another game that is open in the table's name. The table has moved on to a new game,
    /// so the other one has no table. This call has no answer.
    VoidLost(GameId),
}

/// The parameters of a game to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOpening {
    pub game: GameId,
    /// The kind of the game, as records name it.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    pub stakes: StakeTerms,
    pub players: Vec<PlayerId>,
    /// The deal commitment: the SHA-256 of the server seed, published while the game was prepared
    /// (rule 9.1).
    pub commitment: Commitment,
    pub opened_at_ms: i64,
}

/// The result of a call to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerAnswer {
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins },
    CannotPay { game: GameId, seats: SeatSet },
    Settled { game: GameId },
    PotRefunded { game: GameId, player: Option<PlayerId>, pot: Coins, shares: Vec<Share> },
    Refused { game: GameId, why: LedgerFault },
}

/// The reason why the ledger refused an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// Another game is open in the table's name.
    TableBusy { other: GameId },
    /// The operation may succeed when it is retried.
    Transient(String),
    /// The ledger reports a fault in the request. The fault may be the ledger's own.
    Broken(String),
    /// The operation never succeeds.
    Permanent(String),
}

/// A request for an action of the strong AI for a seat that is taken over; see
/// [`bahay_bots::search::answer_question`]. Answered by [`TableHost::handle_ai_answer`], with or
/// without an action.
#[derive(Clone, Debug)]
pub struct AiRequest<G: Readable> {
    pub table: Arc<Table<G>>,
    pub seat: Seat,
    prompt: AiPrompt,
}

/// The prompt that an AI request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AiPrompt {
    seat: Seat,
    game: GameId,
    prompt: u32,
}

/// The effects of a table that are queued or in progress.
#[derive(Debug)]
pub(super) struct PendingEffects<G: Readable> {
    /// Requests to the AI that the driver has not taken yet.
    pub(super) ai_requests: VecDeque<AiRequest<G>>,
    /// Prompts that the AI works on, and prompts of the current game whose AI action is not stored
    /// yet.
    ai_in_flight: Vec<AiPrompt>,
    /// The call to the ledger that the driver has not taken yet.
    pub(super) ledger_call: Option<LedgerCall<G>>,
    /// True from a call to the ledger until its result is stored.
    is_ledger_busy: bool,
    /// The number of consecutive [`LedgerFault::Broken`] results of this table.
    faults: u32,
    /// The number of inputs of the current round that are not decided yet.
    unsubmitted: usize,
    round: u8,
}

impl<G: Readable> Default for PendingEffects<G> {
    fn default() -> Self {
        Self {
            ai_requests: VecDeque::new(),
            ai_in_flight: Vec::new(),
            ledger_call: None,
            is_ledger_busy: false,
            faults: 0,
            unsubmitted: 0,
            round: 0,
        }
    }
}

impl<G: Readable> PendingEffects<G> {
    pub(super) fn is_used(&self) -> bool {
        self.is_ledger_busy || self.faults > 0 || !self.ai_in_flight.is_empty()
    }
}

/// An effect, with the data that is needed to run it.
enum PendingEffect<G: Readable> {
    CallLedger(LedgerCall<G>),
    /// Ask the AI for an action.
    AskAi(AiPrompt),
    /// Submit an input; no call is needed.
    Submit(Input<G::Action>),
}

impl<G: Ai + Readable> TableHost<G> {
    /// Handles the result of a call from [`Self::poll_ledger`].
    pub fn handle_ledger_answer(&mut self, ctx: &impl Context<G>, answer: LedgerAnswer) {
        let input = match answer {
            LedgerAnswer::Opened { game, stakes, pot } => Input::Opened { game, stakes, pot },
            LedgerAnswer::CannotPay { game, seats } => Input::OpenFailed { game, seats },
            LedgerAnswer::Settled { game } => Input::Settled { game },
            LedgerAnswer::PotRefunded { game, player, pot, shares } => {
                Input::PotRefunded { game, player, pot, shares }
            }
            LedgerAnswer::Refused { game, why } => {
                return self.handle_ledger_fault(ctx, game, why);
            }
        };
        self.effects.faults = 0;
        self.enqueue_own_request(ctx, Request::Submit(input), Origin::Ledger);
    }

    fn handle_ledger_fault(&mut self, ctx: &impl Context<G>, game: GameId, why: LedgerFault) {
        self.effects.is_ledger_busy = false;
        let mut cause = "";
        let (is_transient, why) = match why {
            LedgerFault::TableBusy { other } if other != game => {
                self.effects.ledger_call = Some(LedgerCall::VoidLost(other));
                return;
            }
            LedgerFault::TableBusy { .. } => (true, "the table is busy with this game".to_owned()),
            LedgerFault::Transient(why) => (true, why),
            LedgerFault::Broken(why) => {
                self.effects.faults += 1;
                cause = STORE_FAULT;
                (self.effects.faults < ctx.limits().ledger_faults, why)
            }
            LedgerFault::Permanent(why) => (false, why),
        };
        if is_transient {
            ctx.record(self.id, HostEvent::LedgerRetried(&why));
        } else {
            let reason = format!("{cause}{LEDGER_REFUSAL}{game}: {why}");
            self.request_halt(ctx, reason);
        }
    }

    /// Handles the result of an AI request. Without an action, the quick AI acts if the prompt is
    /// still open.
    pub fn handle_ai_answer(
        &mut self,
        ctx: &impl Context<G>,
        call: &AiRequest<G>,
        input: Option<Input<G::Action>>,
    ) {
        self.effects.ai_in_flight.retain(|prompt| *prompt != call.prompt);
        let input = input.or_else(|| self.choose_quick_action(ctx, call.prompt));
        if let Some(input) = input {
            self.enqueue_own_request(ctx, Request::Submit(input), Origin::Ai);
        }
    }

    fn choose_quick_action(
        &mut self,
        ctx: &impl Context<G>,
        prompt: AiPrompt,
    ) -> Option<Input<G::Action>> {
        let table = self.replica.as_ref()?.table();
        let AiPrompt { seat, game, prompt } = prompt;
        let advice = catch_panic(|| {
            let is_open = table.effects(ctx.now()).into_iter().any(|effect| {
                matches!(effect, Effect::ChooseAction { seat: one, game: in_game, prompt: number, .. }
                    if (one, in_game, number) == (seat, game, prompt))
            });
            if is_open { ai_action(table, seat) } else { None }
        });
        match advice {
            Ok(advice) => advice,
            Err(panic) => {
                self.request_halt(ctx, panic);
                None
            }
        }
    }

    /// Runs the effects of the table after a request has finished.
    pub(super) fn finish_request(&mut self, ctx: &impl Context<G>, job: &Job<G>, is_ok: bool) {
        match job.origin {
            Origin::Caller => {
                let changes = matches!(job.request, Request::Submit(_) | Request::RunEffects);
                if !is_ok || !changes {
                    return;
                }
                self.effects.round = 0;
            }
            // The result may have led to the table's next effect.
            Origin::Ledger => {
                self.effects.is_ledger_busy = false;
                self.effects.round = 0;
            }
            // An effect whose input was rejected is due again at the table's deadline.
            Origin::Ai if !is_ok => return,
            Origin::Ai => self.effects.round = 0,
            Origin::Effect => {
                self.effects.unsubmitted -= 1;
                if self.effects.unsubmitted == 0 {
                    self.effects.round += 1;
                }
            }
            Origin::Host => return,
        }
        self.run_effects(ctx);
    }

    fn run_effects(&mut self, ctx: &impl Context<G>) {
        if self.effects.unsubmitted > 0 || self.effects.round >= ctx.limits().effect_rounds {
            return;
        }
        let Some(replica) = &self.replica else { return };
        let table = replica.table();
        let effects = match catch_panic(|| pending_effects(table, ctx.now())) {
            Ok(effects) => effects,
            Err(panic) => return self.request_halt(ctx, panic),
        };
        let mut inputs = Vec::new();
        for effect in effects {
            match effect {
                PendingEffect::Submit(input) => inputs.push(input),
                PendingEffect::AskAi(prompt) => {
                    if !self.effects.ai_in_flight.contains(&prompt) {
                        self.effects.ai_in_flight.push(prompt);
                        let table = table.clone();
                        let seat = prompt.seat;
                        self.effects.ai_requests.push_back(AiRequest { table, seat, prompt });
                    }
                }
                // The ledger is slow, so nothing waits for its answer.
                PendingEffect::CallLedger(call) => {
                    if !std::mem::replace(&mut self.effects.is_ledger_busy, true) {
                        self.effects.ledger_call = Some(call);
                    }
                }
            }
        }
        self.effects.unsubmitted = inputs.len();
        for input in inputs {
            self.enqueue_own_request(ctx, Request::Submit(input), Origin::Effect);
        }
    }

    fn request_halt(&mut self, ctx: &impl Context<G>, reason: String) {
        if let Some(replica) = &self.replica {
            let halt = Halt::from_replica(replica, reason);
            self.enqueue_own_request(ctx, Request::Halt(halt), Origin::Host);
        }
    }
}

fn pending_effects<G: Ai + Readable>(table: &Table<G>, now: Timestamp) -> Vec<PendingEffect<G>> {
    let to_pending = |effect: Effect<'_, G>| match effect {
        Effect::Tick => Some(PendingEffect::Submit(Input::Tick)),
        Effect::ChooseAction { seat, game, prompt, .. } if ai_question(table, seat).is_some() => {
            Some(PendingEffect::AskAi(AiPrompt { seat, game, prompt }))
        }
        Effect::ChooseAction { seat, .. } => ai_action(table, seat).map(PendingEffect::Submit),
        Effect::Open(opening) => {
            let opening = game_opening(table, opening)?;
            Some(PendingEffect::CallLedger(LedgerCall::Open(Box::new(opening))))
        }
        Effect::Settle(record) => {
            Some(PendingEffect::CallLedger(LedgerCall::Settle(Box::new(record.clone()))))
        }
        Effect::Report { record, number, absent } => {
            let record = Box::new(record.clone());
            Some(PendingEffect::CallLedger(LedgerCall::Report { record, number, absent }))
        }
        Effect::RefundPot(due) => Some(PendingEffect::CallLedger(LedgerCall::RefundPot(due))),
    };
    table.effects(now).into_iter().filter_map(to_pending).collect()
}

/// Returns the parameters of a game to open. `None` only if an amount does not fit 64 bits, which
/// the bounds of rooms exclude.
fn game_opening<G: Readable>(table: &Table<G>, opening: &Opening) -> Option<GameOpening> {
    Some(GameOpening {
        game: opening.game,
        kind: table.kind().to_owned(),
        table: table.id(),
        room: table.terms().room.clone(),
        stakes: table.terms().stake_terms(table.seats_in_game())?,
        players: table.players(),
        commitment: opening.server_seed.commitment(),
        opened_at_ms: opening.since.ms(),
    })
}
