//! The driver of the table hosts in virtual time: the counterpart of `src/tables`. The task that
//! made a request performs its calls; a queued request is woken at its turn; requests of the host
//! itself get tasks of their own.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use bahay_bots::table::ai_question;
use bahay_engine::chance::Contribution;
use bahay_engine::table::{GameEntropy, Input, PotRefund, Table, TableId, Terms, Timestamp};
use bahay_engine::variants;

use crate::simulation::services::postgres::{LedgerReply, Operation, Refusal};
use crate::simulation::services::redis::{Reply as RedisReply, Request as RedisRequest};
use crate::simulation::{Mutation, PlantedPanic, SimulatedGame};
use crate::{
    AiRequest, Call, CallResult, Context, Halt, HostEvent, LedgerAnswer, LedgerCall, LedgerFault,
    Limits, Listing, Reply, Request, RequestTicket, RoomTerms, Step, TableError, Tag,
    UnavailableError, Watch, WatchRequest,
};

use super::{Node, Slot};

/// The limits of the service, lowered where the run should reach them.
pub(crate) const LIMITS: Limits = Limits {
    journal_lines: 150,
    journal_lines_in_game: 170,
    queued_notices: 8,
    remembered_points: 4,
    remembered_lines: 6,
    queue_len: 6,
    ..Limits::SERVICE
};

/// The delay of loads under the mutation that slows them.
const SLOW_READ_MS: u32 = 40;

/// The longest time of an AI request.
const THINKING_MS: u32 = 400;

/// Abandons a request if it is dropped before the reply.
struct RequestGuard<'a, G: SimulatedGame> {
    node: &'a Rc<Node<G>>,
    slot: &'a Rc<Slot<G>>,
    ticket: RequestTicket,
    is_over: bool,
}

impl<G: SimulatedGame> Drop for RequestGuard<'_, G> {
    fn drop(&mut self) {
        // The requests of a process that has ended are gone with it.
        if !self.is_over && self.node.world.find_node(self.node.run).is_some() {
            self.slot.host.borrow_mut().abandon(&**self.node, self.ticket);
            self.node.drain_outputs(self.slot);
        }
    }
}

impl<G: SimulatedGame> Node<G> {
    /// Decides on an input, stores the line and delivers it.
    pub(crate) async fn submit_input(
        self: &Rc<Self>,
        table: TableId,
        input: Input<G::Action>,
    ) -> Result<u64, TableError<G::Refusal>> {
        match self.send_request(&self.slot(table), Request::Submit(input)).await {
            Reply::Submitted(submitted) => submitted,
            other => unreachable!("{other:?} is no answer to an input"),
        }
    }

    pub(crate) async fn read_table(
        self: &Rc<Self>,
        table: TableId,
    ) -> Result<Option<Arc<Table<G>>>, UnavailableError> {
        match self.send_request(&self.slot(table), Request::ReadTable).await {
            Reply::Table(Ok(table)) => Ok(table),
            Reply::Table(Err(error)) => Err(UnavailableError(error.to_string())),
            other => unreachable!("{other:?} is no answer to a read"),
        }
    }

    pub(crate) async fn watch(
        self: &Rc<Self>,
        table: TableId,
        request: WatchRequest<G>,
    ) -> Result<Watch<G>, TableError<G::Refusal>> {
        if !self.world.has_mutation(Mutation::JoinsByItsOwnTime) {
            self.catch_up_time().await?;
        }
        match self.send_request(&self.slot(table), Request::Watch(request)).await {
            Reply::Watched(watched) => watched,
            other => unreachable!("{other:?} is no answer to a watch"),
        }
    }

    /// Makes a request and performs its calls.
    pub(crate) async fn send_request(
        self: &Rc<Self>,
        slot: &Rc<Slot<G>>,
        request: Request<G>,
    ) -> Reply<G> {
        let (ticket, step) = slot.host.borrow_mut().request(&**self, request);
        self.drive(slot, ticket, step).await
    }

    async fn drive(
        self: &Rc<Self>,
        slot: &Rc<Slot<G>>,
        ticket: RequestTicket,
        mut step: Step<G>,
    ) -> Reply<G> {
        let mut guard = RequestGuard { node: self, slot, ticket, is_over: false };
        loop {
            self.drain_outputs(slot);
            step = match step {
                Step::Reply(reply) => {
                    guard.is_over = true;
                    return reply;
                }
                Step::Call(call) => {
                    let answer = self.perform_call(slot.id, call).await;
                    let answer = answer.unwrap_or_else(CallResult::Failed);
                    slot.host.borrow_mut().handle_answer(&**self, ticket, answer)
                }
                Step::Wait { until_ms } => {
                    self.wait_for_turn(slot, ticket, until_ms).await;
                    slot.host.borrow_mut().handle_timeout(&**self);
                    slot.host.borrow_mut().poll(ticket)
                }
            };
        }
    }

    /// Waits until a queued request has its turn or its timeout.
    async fn wait_for_turn(
        self: &Rc<Self>,
        slot: &Rc<Slot<G>>,
        ticket: RequestTicket,
        until_ms: u64,
    ) {
        let (promise, turn) = crate::simulation::tasks::promise(&self.world.tasks);
        slot.waiting.borrow_mut().insert(ticket, promise.clone());
        if until_ms < u64::MAX {
            let after_ms = until_ms.saturating_sub(self.world.now_ms());
            self.world.schedule(after_ms, move |_| promise.resolve(()));
        }
        turn.await;
        slot.waiting.borrow_mut().remove(&ticket);
    }

    /// Drains a host's outputs: sends direct updates, wakes queued requests and starts the host's
    /// own requests.
    pub(crate) fn drain_outputs(self: &Rc<Self>, slot: &Rc<Slot<G>>) {
        let written =
            std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        for written in written {
            self.send_written(written);
        }
        loop {
            let mut host = slot.host.borrow_mut();
            let (node, slot) = (self.clone(), slot.clone());
            if let Some(ticket) = host.poll_woken() {
                if let Some(promise) = slot.waiting.borrow_mut().remove(&ticket) {
                    promise.resolve(());
                }
            } else if let Some(ticket) = host.poll_own_request() {
                self.spawn(async move {
                    let step = slot.host.borrow_mut().poll(ticket);
                    node.drive(&slot, ticket, step).await;
                });
            } else if let Some(call) = host.poll_ledger() {
                self.spawn(async move {
                    if let Some(answer) = node.ask_ledger(slot.id, call).await {
                        slot.host.borrow_mut().handle_ledger_answer(&*node, answer);
                        node.drain_outputs(&slot);
                    }
                });
            } else if let Some(call) = host.poll_ai_request() {
                self.spawn(async move {
                    let input = node.choose_action(&call).await;
                    slot.host.borrow_mut().handle_ai_answer(&*node, &call, input);
                    node.drain_outputs(&slot);
                });
            } else {
                if host.poll_timeout() == Some(0) {
                    self.stale.borrow_mut().insert(slot.id);
                }
                return;
            }
        }
    }

    /// Returns the quick AI's action after a pause, or none, as if every worker were busy. The
    /// quality of the action does not matter here, and the quick AI is fast.
    async fn choose_action(self: &Rc<Self>, call: &AiRequest<G>) -> Option<Input<G::Action>> {
        if self.world.random_below(3) == 0 {
            return None;
        }
        self.world.sleep(u64::from(self.world.random_below(THINKING_MS))).await;
        let question = ai_question(&call.table, call.seat)?;
        G::choose_action(&question.view).map(|action| question.to_input(action))
    }

    /// Performs a call to live state.
    async fn perform_call(
        self: &Rc<Self>,
        table: TableId,
        call: Call,
    ) -> Result<CallResult, UnavailableError> {
        let is_slow =
            matches!(call, Call::Load) && self.world.has_mutation(Mutation::ReadsOverPublications);
        let request = match call {
            Call::Load => RedisRequest::Load { table },
            Call::Tail { from } => RedisRequest::Tail { table, from },
            Call::Append(new) => RedisRequest::Append { table, new },
            Call::Compact { at, snapshot } => {
                let request = RedisRequest::Compact { table, at, snapshot: snapshot.into() };
                return Ok(CallResult::Compacted(self.call_redis_flag(request).await?));
            }
            Call::Subscribe => {
                let exists = self.call_redis_flag(RedisRequest::Watch { table }).await?;
                return Ok(CallResult::Subscribed(exists));
            }
            Call::Unsubscribe => RedisRequest::Unwatch { table },
            Call::Release { player } => RedisRequest::Release { player, table },
            Call::List(listing) => RedisRequest::List { table, score: listing_score(&listing) },
            Call::Unlist { .. } => RedisRequest::List { table, score: None },
            Call::Halt { reason, .. } => {
                let reason = reason.into();
                let is_new = self.call_redis_flag(RedisRequest::Halt { table, reason }).await?;
                return Ok(CallResult::Halted(is_new));
            }
            Call::RecordHalt(_) | Call::RecordNoShow(_) => return Ok(CallResult::Done),
        };
        let reply = self.call_redis(request).await?;
        if is_slow {
            self.world.sleep(self.world.random_between((0, SLOW_READ_MS))).await;
        }
        Ok(match reply {
            RedisReply::Stored(stored) => CallResult::Loaded(stored),
            RedisReply::Tail(tail) => CallResult::Tail(tail),
            RedisReply::Append(append) => CallResult::Append(append),
            _ => CallResult::Done,
        })
    }

    pub(crate) async fn call_redis_flag(
        self: &Rc<Self>,
        request: RedisRequest,
    ) -> Result<bool, UnavailableError> {
        Ok(matches!(self.call_redis(request).await?, RedisReply::Flag(true)))
    }

    /// Calls the ledger; `None` for a call without an answer.
    async fn ask_ledger(
        self: &Rc<Self>,
        table: TableId,
        call: LedgerCall<G>,
    ) -> Option<LedgerAnswer> {
        let (game, operation) = match call {
            LedgerCall::Open(opening) => (opening.game, Operation::Open(*opening)),
            LedgerCall::Settle(mut record) => {
                if self.world.has_mutation(Mutation::SettlesAnotherText)
                    && let Some(client) = record.clients.iter_mut().find(|one| one.text.is_some())
                {
                    *client = Contribution::from_text("another");
                }
                (record.game, Operation::Settle(record))
            }
            // The simulated house has no tournament.
            LedgerCall::Report { record, .. } => {
                return Some(LedgerAnswer::Settled { game: record.game });
            }
            LedgerCall::RefundPot(PotRefund { game, player, .. }) => {
                (game, Operation::RefundPot { table, game, player })
            }
            LedgerCall::VoidLost(game) => {
                self.world.call_postgres(self.run, Operation::Void { game }).await;
                return None;
            }
        };
        let posted = self.world.call_postgres(self.run, operation).await;
        let why = match posted {
            Some(Ok(LedgerReply::Opened { stakes, pot })) => {
                return Some(LedgerAnswer::Opened { game, stakes, pot });
            }
            Some(Ok(LedgerReply::CannotPay { seats })) => {
                return Some(LedgerAnswer::CannotPay { game, seats });
            }
            Some(Ok(LedgerReply::PotRefunded { player, pot, shares })) => {
                return Some(LedgerAnswer::PotRefunded { game, player, pot, shares });
            }
            Some(Ok(LedgerReply::Settled)) => return Some(LedgerAnswer::Settled { game }),
            Some(Ok(LedgerReply::Voided | LedgerReply::Games(_) | LedgerReply::Wallet(_))) => {
                LedgerFault::Broken("another answer".into())
            }
            Some(Err(Refusal::TableBusy)) => LedgerFault::Transient("the table is busy".into()),
            Some(Err(refusal)) => LedgerFault::Permanent(format!("{refusal:?}")),
            None => LedgerFault::Transient("no answer".into()),
        };
        Some(LedgerAnswer::Refused { game, why })
    }
}

impl<G: SimulatedGame> Context<G> for Node<G> {
    fn now(&self) -> Timestamp {
        self.time()
    }

    fn knows_time(&self) -> bool {
        self.serves.get() && self.has_time()
    }

    fn elapsed_ms(&self) -> u64 {
        self.world.now_ms()
    }

    fn fresh(&self) -> GameEntropy {
        self.world.new_game_secrets()
    }

    fn new_tag(&self) -> Tag {
        self.world.new_tag()
    }

    fn room_terms(&self, _: &Terms<G::Rules>, known: u32) -> Option<RoomTerms<G::Rules>> {
        let room = self.room();
        (room.revision > known).then_some(room)
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn record(&self, table: TableId, event: HostEvent<'_>) {
        let mut totals = self.world.totals.borrow_mut();
        match event {
            HostEvent::SlowWatcher => totals.slow_watchers += 1,
            HostEvent::Compacted => totals.compactions += 1,
            HostEvent::ResumedFromMemory => totals.resumed_from_memory += 1,
            HostEvent::Halted { .. } => totals.tables_halted += 1,
            // Without a fault of the house, every journal replays here.
            HostEvent::ReplicaDiscarded(why) => {
                drop(totals);
                self.world.fail(format!("{table}: a line does not apply: {why}"));
            }
            variants!(HostEvent: ActionStored, HistoryDiverged, OtherVersion, FollowUpFailed,
                LedgerRetried) => {}
        }
    }

    fn report_show_failure(&self, halt: Halt) {
        if let Some(node) = self.world.find_node(self.run) {
            self.spawn(async move {
                let slot = node.slot(halt.table);
                node.send_request(&slot, Request::Halt(halt)).await;
            });
        }
    }

    fn before_engine(&self, table: &Table<G>) {
        self.panic_if(table, PlantedPanic::Deciding);
    }

    fn has_mutation(&self, mutation: Mutation) -> bool {
        self.world.has_mutation(mutation)
    }
}

impl<G: SimulatedGame> Node<G> {
    /// Panics without printing a message to stderr.
    pub(crate) fn panic_if(&self, table: &Table<G>, panic: PlantedPanic) {
        let is_planted = self.world.panicking_tables.borrow().get(&table.id()) == Some(&panic);
        if is_planted {
            std::panic::resume_unwind(Box::new("a planted panic"));
        }
    }
}

/// Returns a table's score in the room's list: tables with a POT first, then those with the fewest
/// free seats. Empty tables without a POT are not listed.
fn listing_score(listing: &Listing) -> Option<u32> {
    let free = usize::from(listing.seats).saturating_sub(listing.players.len());
    let free = u32::try_from(free).unwrap_or(9);
    if listing.players.is_empty() && !listing.has_pot {
        return None;
    }
    let rank = if listing.has_pot { 0 } else { 10 };
    (free > 0).then_some(rank + free)
}
