//! What a table is owed: the ledger's openings, settlements and returns, the AI's moves, the clock's. Each
//! answer goes back to the table as an input; an effect whose answer is lost is due again at the
//! table's deadline, and carrying it out twice does nothing twice.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Effect, GameId, Input, Opening, PlayerId, PotRefund, Readable, Record, Share, StakeTerms,
    Table, TableId,
};

use super::{Origin, Request, TableHost};
use crate::context::{Context, HostEvent};
use crate::guard::catch_panic;
use crate::halting::{Halt, STORE_FAULT};
use crate::host::job::Job;

/// What the ledger is to be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerCall<G: Readable> {
    Open(Box<GameOpening>),
    Settle(Box<Record<G>>),
    /// To give coins of the table's POT back.
    RefundPot(PotRefund),
    /// The table has come to a new game, so this other one, which is open in its name, has no table
    /// any more. Not to be answered.
    VoidLost(GameId),
}

/// A game to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameOpening {
    pub game: GameId,
    /// Which game is played, as records have it.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    pub stakes: StakeTerms,
    pub players: Vec<PlayerId>,
    /// The SHA-256 of the server seed, as the table showed it while it prepared (rule 9.1).
    pub commitment: Commitment,
    pub opened_at_ms: i64,
}

/// What the ledger answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerAnswer {
    Opened { game: GameId, stakes: Vec<Coins>, pot: Coins },
    CannotPay { game: GameId, seats: SeatSet },
    Settled { game: GameId },
    PotRefunded { game: GameId, player: Option<PlayerId>, pot: Coins, shares: Vec<Share> },
    Refused { game: GameId, why: LedgerFault },
}

/// Why the ledger did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// Another game is open in the table's name.
    TableBusy { other: GameId },
    /// It may do so later.
    Transient(String),
    /// It calls it a fault of ours, which may be one of its own.
    Broken(String),
    /// It never will.
    Permanent(String),
}

/// A move that a strong AI is to think about, for a player who is taken over: see
/// [`bahay_engine::arena::answer_question`]. To be answered with [`TableHost::thought_of`], whether or not
/// anything came of it.
#[derive(Clone, Debug)]
pub struct AiRequest<G: Readable> {
    pub table: Arc<Table<G>>,
    pub seat: Seat,
    prompt: AiPrompt,
}

/// Which move it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AiPrompt {
    seat: Seat,
    game: GameId,
    prompt: u32,
}

/// What is being carried out for a table.
#[derive(Debug)]
pub(super) struct PendingEffects<G: Readable> {
    /// To be thought about.
    ai_requests: VecDeque<AiRequest<G>>,
    /// What is being thought about, or was in the game that goes on and has not been played yet.
    ai_in_flight: Vec<AiPrompt>,
    /// To be asked.
    ledger_call: Option<LedgerCall<G>>,
    /// The ledger is being asked, or its answer is being told.
    is_ledger_busy: bool,
    /// How often in a row the ledger has called itself broken over this table.
    faults: u32,
    /// Inputs of the present round that are not told yet.
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
    pub(super) fn poll_ledger(&mut self) -> Option<LedgerCall<G>> {
        self.ledger_call.take()
    }

    pub(super) fn poll_ai_request(&mut self) -> Option<AiRequest<G>> {
        self.ai_requests.pop_front()
    }

    pub(super) fn is_used(&self) -> bool {
        self.is_ledger_busy || self.faults > 0 || !self.ai_in_flight.is_empty()
    }
}

/// What a table is owed, taken out of it.
enum PendingEffect<G: Readable> {
    CallLedger(LedgerCall<G>),
    /// To be thought about.
    AskAi(AiPrompt),
    /// Only to be told.
    Submit(Input<G::Action>),
}

impl<G: Readable> TableHost<G> {
    /// Takes in what the ledger answered to what [`Self::poll_ledger`] gave.
    pub fn handle_ledger_answer(&mut self, ctx: &impl Context<G>, answer: LedgerAnswer) {
        let (game, why) = match answer {
            LedgerAnswer::Opened { game, stakes, pot } => {
                return self.submit_ledger_result(ctx, Input::Opened { game, stakes, pot });
            }
            LedgerAnswer::CannotPay { game, seats } => {
                return self.submit_ledger_result(ctx, Input::OpenFailed { game, seats });
            }
            LedgerAnswer::Settled { game } => {
                return self.submit_ledger_result(ctx, Input::Settled { game });
            }
            LedgerAnswer::PotRefunded { game, player, pot, shares } => {
                let input = Input::PotRefunded { game, player, pot, shares };
                return self.submit_ledger_result(ctx, input);
            }
            LedgerAnswer::Refused { game, why } => (game, why),
        };
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
            self.request_halt(
                ctx,
                format!("{cause}the ledger refuses an operation on game {game}: {why}"),
            );
        }
    }

    /// Takes in what came of a thought. Where nothing did, the quick AI plays, if the table still
    /// waits for that move.
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

    fn choose_quick_action(&mut self, ctx: &impl Context<G>, prompt: AiPrompt) -> Option<Input<G::Action>> {
        let table = self.replica.as_ref()?.table();
        let AiPrompt { seat, game, prompt } = prompt;
        let advice = catch_panic(|| {
            let is_open = table.effects(ctx.now()).into_iter().any(|effect| {
                matches!(effect, Effect::ChooseAction { seat: one, game: in_game, prompt: number, .. }
                    if (one, in_game, number) == (seat, game, prompt))
            });
            if is_open { table.ai_action(seat) } else { None }
        });
        match advice {
            Ok(advice) => advice,
            Err(panic) => {
                self.request_halt(ctx, panic);
                None
            }
        }
    }

    /// After a request has come to its end: what the table is owed then.
    pub(super) fn finish_request(&mut self, ctx: &impl Context<G>, job: &Job<G>, is_ok: bool) {
        match job.origin {
            Origin::Caller => {
                let changes = matches!(job.request, Request::Submit(_) | Request::RunEffects);
                if !is_ok || !changes {
                    return;
                }
                self.effects.round = 0;
            }
            // The answer may have brought the table to its next effect.
            Origin::Ledger => {
                self.effects.is_ledger_busy = false;
                self.effects.round = 0;
            }
            // What is still owed where it was not taken is due at the table's deadline.
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
        let Some(replica) = &self.replica else {
            return;
        };
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
                        let (table, seat) = (table.clone(), prompt.seat);
                        self.effects.ai_requests.push_back(AiRequest { table, seat, prompt });
                    }
                }
                // The ledger takes its time: nobody waits for it.
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

    fn submit_ledger_result(&mut self, ctx: &impl Context<G>, input: Input<G::Action>) {
        self.effects.faults = 0;
        self.enqueue_own_request(ctx, Request::Submit(input), Origin::Ledger);
    }

    fn request_halt(&mut self, ctx: &impl Context<G>, reason: String) {
        if let Some(replica) = &self.replica {
            let halt = Halt::from_replica(replica, reason);
            self.enqueue_own_request(ctx, Request::Halt(halt), Origin::Host);
        }
    }
}

fn pending_effects<G: Readable>(table: &Table<G>, now: bahay_engine::table::Timestamp) -> Vec<PendingEffect<G>> {
    let effects = table.effects(now).into_iter();
    effects
        .filter_map(|effect| match effect {
            Effect::Tick => Some(PendingEffect::Submit(Input::Tick)),
            Effect::ChooseAction { seat, game, prompt, .. } if table.ai_question(seat).is_some() => {
                Some(PendingEffect::AskAi(AiPrompt { seat, game, prompt }))
            }
            Effect::ChooseAction { seat, .. } => table.ai_action(seat).map(PendingEffect::Submit),
            Effect::Open(opening) => {
                game_opening(table, opening).map(Box::new).map(LedgerCall::Open).map(PendingEffect::CallLedger)
            }
            Effect::Settle(record) => Some(PendingEffect::CallLedger(LedgerCall::Settle(Box::new(record.clone())))),
            Effect::RefundPot(due) => Some(PendingEffect::CallLedger(LedgerCall::RefundPot(due))),
        })
        .collect()
}

/// `None` only where an amount does not fit 64 bits, which the room's bounds rule out.
fn game_opening<G: Readable>(table: &Table<G>, opening: &Opening) -> Option<GameOpening> {
    Some(GameOpening {
        game: opening.game,
        kind: table.kind().to_owned(),
        table: table.id(),
        room: table.terms().room.clone(),
        stakes: table.terms().stake_terms::<G>(table.seats_in_game())?,
        players: table.players(),
        commitment: opening.server_seed.commitment(),
        opened_at_ms: opening.since.ms(),
    })
}
