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
use crate::context::{Context, Remark};
use crate::guard::guarded;
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
    Passing(String),
    /// It calls it a fault of ours, which may be one of its own.
    Broken(String),
    /// It never will.
    Final(String),
}

/// A move that a strong AI is to think about, for a player who is taken over: see
/// [`bahay_engine::arena::answer`]. To be answered with [`TableHost::thought_of`], whether or not
/// anything came of it.
#[derive(Clone, Debug)]
pub struct ThoughtCall<G: Readable> {
    pub table: Arc<Table<G>>,
    pub seat: Seat,
    owed: Thought,
}

/// Which move it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thought {
    seat: Seat,
    game: GameId,
    prompt: u32,
}

/// What is being carried out for a table.
#[derive(Debug)]
pub(super) struct Owed<G: Readable> {
    /// To be thought about.
    thoughts: VecDeque<ThoughtCall<G>>,
    /// What is being thought about, or was in the game that goes on and has not been played yet.
    thinking: Vec<Thought>,
    /// To be asked.
    call: Option<LedgerCall<G>>,
    /// The ledger is being asked, or its answer is being told.
    is_asking: bool,
    /// How often in a row the ledger has called itself broken over this table.
    faults: u32,
    /// Inputs of the present round that are not told yet.
    untold: usize,
    round: u8,
}

impl<G: Readable> Default for Owed<G> {
    fn default() -> Self {
        Self {
            thoughts: VecDeque::new(),
            thinking: Vec::new(),
            call: None,
            is_asking: false,
            faults: 0,
            untold: 0,
            round: 0,
        }
    }
}

impl<G: Readable> Owed<G> {
    pub(super) fn poll(&mut self) -> Option<LedgerCall<G>> {
        self.call.take()
    }

    pub(super) fn poll_thought(&mut self) -> Option<ThoughtCall<G>> {
        self.thoughts.pop_front()
    }

    pub(super) fn is_used(&self) -> bool {
        self.is_asking || self.faults > 0 || !self.thinking.is_empty()
    }
}

/// What a table is owed, taken out of it.
enum Debt<G: Readable> {
    Ask(LedgerCall<G>),
    /// To be thought about.
    Think(Thought),
    /// Only to be told.
    Tell(Input<G::Action>),
}

impl<G: Readable> TableHost<G> {
    /// Takes in what the ledger answered to what [`Self::poll_ledger`] gave.
    pub fn ledger_answered(&mut self, ctx: &impl Context<G>, answer: LedgerAnswer) {
        let (game, why) = match answer {
            LedgerAnswer::Opened { game, stakes, pot } => {
                return self.tell_of_ledger(ctx, Input::Opened { game, stakes, pot });
            }
            LedgerAnswer::CannotPay { game, seats } => {
                return self.tell_of_ledger(ctx, Input::OpenFailed { game, seats });
            }
            LedgerAnswer::Settled { game } => {
                return self.tell_of_ledger(ctx, Input::Settled { game });
            }
            LedgerAnswer::PotRefunded { game, player, pot, shares } => {
                let input = Input::PotRefunded { game, player, pot, shares };
                return self.tell_of_ledger(ctx, input);
            }
            LedgerAnswer::Refused { game, why } => (game, why),
        };
        self.owed.is_asking = false;
        let mut cause = "";
        let (may_pass, why) = match why {
            LedgerFault::TableBusy { other } if other != game => {
                self.owed.call = Some(LedgerCall::VoidLost(other));
                return;
            }
            LedgerFault::TableBusy { .. } => (true, "the table is busy with this game".to_owned()),
            LedgerFault::Passing(why) => (true, why),
            LedgerFault::Broken(why) => {
                self.owed.faults += 1;
                cause = STORE_FAULT;
                (self.owed.faults < ctx.limits().ledger_faults, why)
            }
            LedgerFault::Final(why) => (false, why),
        };
        if may_pass {
            ctx.remark(self.id, Remark::LedgerAskedAgain(&why));
        } else {
            self.halt_over(
                ctx,
                format!("{cause}the ledger refuses what is asked about game {game}: {why}"),
            );
        }
    }

    /// Takes in what came of a thought. Where nothing did, the quick AI plays, if the table still
    /// waits for that move.
    pub fn thought_of(
        &mut self,
        ctx: &impl Context<G>,
        call: &ThoughtCall<G>,
        input: Option<Input<G::Action>>,
    ) {
        self.owed.thinking.retain(|thought| *thought != call.owed);
        let input = input.or_else(|| self.quick_advice(ctx, call.owed));
        if let Some(input) = input {
            self.request_own(ctx, Request::Submit(input), Origin::Thought);
        }
    }

    fn quick_advice(&mut self, ctx: &impl Context<G>, owed: Thought) -> Option<Input<G::Action>> {
        let table = self.replica.as_ref()?.table();
        let Thought { seat, game, prompt } = owed;
        let advice = guarded(|| {
            let still = table.effects(ctx.now()).into_iter().any(|effect| {
                matches!(effect, Effect::Advise { seat: one, game: in_game, prompt: number, .. }
                    if (one, in_game, number) == (seat, game, prompt))
            });
            if still { table.advice(seat) } else { None }
        });
        match advice {
            Ok(advice) => advice,
            Err(panic) => {
                self.halt_over(ctx, panic);
                None
            }
        }
    }

    /// After a request has come to its end: what the table is owed then.
    pub(super) fn finished(&mut self, ctx: &impl Context<G>, job: &Job<G>, is_ok: bool) {
        match job.origin {
            Origin::Caller => {
                let changes = matches!(job.request, Request::Submit(_) | Request::Attend);
                if !is_ok || !changes {
                    return;
                }
                self.owed.round = 0;
            }
            // The answer may have brought the table to its next effect.
            Origin::Ledger => {
                self.owed.is_asking = false;
                self.owed.round = 0;
            }
            // What is still owed where it was not taken is due at the table's deadline.
            Origin::Thought if !is_ok => return,
            Origin::Thought => self.owed.round = 0,
            Origin::Owed => {
                self.owed.untold -= 1;
                if self.owed.untold == 0 {
                    self.owed.round += 1;
                }
            }
            Origin::Host => return,
        }
        self.carry_out(ctx);
    }

    fn carry_out(&mut self, ctx: &impl Context<G>) {
        if self.owed.untold > 0 || self.owed.round >= ctx.limits().rounds {
            return;
        }
        let Some(replica) = &self.replica else {
            return;
        };
        let table = replica.table();
        let debts = match guarded(|| debts(table, ctx.now())) {
            Ok(debts) => debts,
            Err(panic) => return self.halt_over(ctx, panic),
        };
        let mut inputs = Vec::new();
        for debt in debts {
            match debt {
                Debt::Tell(input) => inputs.push(input),
                Debt::Think(owed) => {
                    if !self.owed.thinking.contains(&owed) {
                        self.owed.thinking.push(owed);
                        let (table, seat) = (table.clone(), owed.seat);
                        self.owed.thoughts.push_back(ThoughtCall { table, seat, owed });
                    }
                }
                // The ledger takes its time: nobody waits for it.
                Debt::Ask(call) => {
                    if !std::mem::replace(&mut self.owed.is_asking, true) {
                        self.owed.call = Some(call);
                    }
                }
            }
        }
        self.owed.untold = inputs.len();
        for input in inputs {
            self.request_own(ctx, Request::Submit(input), Origin::Owed);
        }
    }

    fn tell_of_ledger(&mut self, ctx: &impl Context<G>, input: Input<G::Action>) {
        self.owed.faults = 0;
        self.request_own(ctx, Request::Submit(input), Origin::Ledger);
    }

    fn halt_over(&mut self, ctx: &impl Context<G>, reason: String) {
        if let Some(replica) = &self.replica {
            let halt = Halt::of(replica, reason);
            self.request_own(ctx, Request::Halt(halt), Origin::Host);
        }
    }
}

fn debts<G: Readable>(table: &Table<G>, now: bahay_engine::table::Timestamp) -> Vec<Debt<G>> {
    let effects = table.effects(now).into_iter();
    effects
        .filter_map(|effect| match effect {
            Effect::Tick => Some(Debt::Tell(Input::Tick)),
            Effect::Advise { seat, game, prompt, .. } if table.question(seat).is_some() => {
                Some(Debt::Think(Thought { seat, game, prompt }))
            }
            Effect::Advise { seat, .. } => table.advice(seat).map(Debt::Tell),
            Effect::Open(opening) => {
                open_game(table, opening).map(Box::new).map(LedgerCall::Open).map(Debt::Ask)
            }
            Effect::Settle(record) => Some(Debt::Ask(LedgerCall::Settle(Box::new(record.clone())))),
            Effect::RefundPot(due) => Some(Debt::Ask(LedgerCall::RefundPot(due))),
        })
        .collect()
}

/// `None` only where an amount does not fit 64 bits, which the room's bounds rule out.
fn open_game<G: Readable>(table: &Table<G>, opening: &Opening) -> Option<GameOpening> {
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
