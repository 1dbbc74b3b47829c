//! Carries out what the hosts of tables ask for, in virtual time: the counterpart of `src/tables`.
//! Whoever made a request carries out its calls; what waits is woken when its turn comes; what the
//! host asks for by itself gets a task of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bahay_engine::chance::Contribution;
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::games::tongits::{Action, Illegal, Rules, Tongits};
use bahay_engine::table::{
    ConnectionId, Fresh, Input, PlayerId, PotRefund, Table, TableId, Terms, Timestamp,
};

use crate::simulation::Mutation;
use crate::simulation::node::Node;
use crate::simulation::operator::Sickness;
use crate::simulation::postgres::{Answer as Posted, Operation, Refusal};
use crate::simulation::redis::{Reply as RedisReply, Request as RedisRequest};
use crate::simulation::tasks::Promise;
use crate::simulation::wire::{Message, OpenPrompt};
use crate::{
    Answer, Call, Context, DirectFeed, DirectWriter, Failure, Halt, LedgerAnswer, LedgerCall,
    LedgerFault, Limits, Listing, Notice, Planted, Remark, Reply, Request, RoomTerms, Step,
    TableHost, Tag, ThoughtCall, Ticket, Unavailable, Watch, WatchRequest, Wrote, redacted,
};

/// Those of the service, and fewer where it should happen that they are reached.
pub(super) const LIMITS: Limits = Limits {
    journal_lines: 150,
    journal_lines_in_game: 170,
    notices: 8,
    points: 4,
    applied: 6,
    waiting: 6,
    ..Limits::SERVICE
};

/// Of what a connection is written at once, every so-manieth is not taken at once.
const NOT_TAKEN: u32 = 16;

/// A mutation has whole journals be read so slowly.
const SLOW_READ_MS: u32 = 40;

/// A thought takes less.
const THOUGHT_MS: u32 = 400;

/// One table in one node.
pub(super) struct Slot {
    pub(super) id: TableId,
    pub(super) host: RefCell<TableHost<Tongits>>,
    waiting: RefCell<BTreeMap<Ticket, Promise<()>>>,
}

/// What a table has written to a connection while its session slept.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) connection: ConnectionId,
    pub(super) player: PlayerId,
    pub(super) table: TableId,
    pub(super) message: Message,
}

/// Writes to one connection, for its table.
pub(super) struct Writer {
    connection: ConnectionId,
    feed: Mutex<DirectFeed>,
    /// The client reads nothing now.
    pub(super) is_blocked: AtomicBool,
    writes: AtomicU32,
    mutation: Option<Mutation>,
    /// Of all connections of the node; sent off before anything else happens there.
    written: Arc<Mutex<Vec<Written>>>,
}

impl Slot {
    pub(super) fn new(id: TableId) -> Self {
        Self { id, host: RefCell::new(TableHost::new(id)), waiting: RefCell::default() }
    }
}

impl Writer {
    pub(super) fn new(node: &Node, connection: ConnectionId) -> Self {
        Self {
            connection,
            feed: Mutex::default(),
            is_blocked: AtomicBool::new(false),
            writes: AtomicU32::new(0),
            mutation: node.world.mutation(),
            written: node.written.clone(),
        }
    }

    pub(super) fn feed(&self) -> MutexGuard<'_, DirectFeed> {
        self.feed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({})", self.connection)
    }
}

impl DirectWriter<Tongits> for Writer {
    fn write(&self, notice: &Notice<Tongits>, now: Timestamp) -> Wrote {
        let mut feed = self.feed();
        let Some(player) = feed.next(notice, self.is_blocked.load(Ordering::Relaxed)) else {
            return Wrote::Nothing;
        };
        let (at, table) = (notice.at, &*notice.table);
        let viewer = match self.mutation {
            Some(Mutation::ForgetsToRedact) => Viewer::Everything,
            _ => table.viewer(player),
        };
        let events = redacted::<Tongits>(&notice.events, viewer);
        if events.is_empty() {
            feed.passed(at);
            return Wrote::All;
        }
        let prompt = OpenPrompt::of(&table.view(Some(player)));
        let (version, tag) = (feed.read_as(at).version, at.tag);
        let message = Message::Update { version, tag, server_time_ms: now, events, prompt };
        let (connection, table) = (self.connection, table.id());
        let written = Written { connection, player, table, message };
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(written);
        feed.wrote(at);
        let is_taken = !self.writes.fetch_add(1, Ordering::Relaxed).is_multiple_of(NOT_TAKEN);
        if is_taken { Wrote::All } else { Wrote::NotTaken }
    }
}

/// A request that nobody may wait for any more, if this is dropped.
struct Driving<'a> {
    node: &'a Rc<Node>,
    slot: &'a Rc<Slot>,
    ticket: Ticket,
    is_over: bool,
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        // What a process that has ended still had in hand goes with it.
        if !self.is_over && self.node.world.node(self.node.run).is_some() {
            self.slot.host.borrow_mut().abandon(&**self.node, self.ticket);
            self.node.see_to(self.slot);
        }
    }
}

impl Node {
    /// Has a table decide, store and tell.
    pub(super) async fn decide(
        self: &Rc<Self>,
        table: TableId,
        input: Input<Action>,
    ) -> Result<u64, Failure<Illegal>> {
        match self.ask(&self.slot(table), Request::Submit(input)).await {
            Reply::Submitted(submitted) => submitted,
            other => unreachable!("{other:?} is no answer to an input"),
        }
    }

    pub(super) async fn look(
        self: &Rc<Self>,
        table: TableId,
    ) -> Result<Option<Arc<Table<Tongits>>>, Unavailable> {
        match self.ask(&self.slot(table), Request::Look).await {
            Reply::Looked(Ok(table)) => Ok(table),
            Reply::Looked(Err(error)) => Err(Unavailable(error.to_string())),
            other => unreachable!("{other:?} is no answer to a look"),
        }
    }

    pub(super) async fn watch(
        self: &Rc<Self>,
        table: TableId,
        request: WatchRequest<Tongits>,
    ) -> Result<Watch<Tongits>, Failure<Illegal>> {
        if self.world.mutation() != Some(Mutation::JoinsByItsOwnTime) {
            self.catch_up_time().await?;
        }
        match self.ask(&self.slot(table), Request::Watch(request)).await {
            Reply::Watched(watched) => watched,
            other => unreachable!("{other:?} is no answer to a watch"),
        }
    }

    /// Makes a request and carries it out.
    pub(super) async fn ask(
        self: &Rc<Self>,
        slot: &Rc<Slot>,
        request: Request<Tongits>,
    ) -> Reply<Tongits> {
        let (ticket, step) = slot.host.borrow_mut().request(&**self, request);
        self.drive(slot, ticket, step).await
    }

    async fn drive(
        self: &Rc<Self>,
        slot: &Rc<Slot>,
        ticket: Ticket,
        mut step: Step<Tongits>,
    ) -> Reply<Tongits> {
        let mut driving = Driving { node: self, slot, ticket, is_over: false };
        loop {
            self.see_to(slot);
            step = match step {
                Step::Reply(reply) => {
                    driving.is_over = true;
                    return reply;
                }
                Step::Call(call) => {
                    let answer = self.call(slot.id, call).await;
                    slot.host.borrow_mut().answered(&**self, ticket, answer)
                }
                Step::Wait { until_ms } => {
                    self.turn(slot, ticket, until_ms).await;
                    slot.host.borrow_mut().handle_timeout(&**self);
                    slot.host.borrow_mut().poll(ticket)
                }
            };
        }
    }

    /// Until it is a request's turn, or too late.
    async fn turn(self: &Rc<Self>, slot: &Rc<Slot>, ticket: Ticket, until_ms: u64) {
        let (promise, turn) = crate::simulation::tasks::promise(&self.world.tasks);
        slot.waiting.borrow_mut().insert(ticket, promise.clone());
        if until_ms < u64::MAX {
            let after_ms = until_ms.saturating_sub(self.world.now_ms());
            self.world.plan(after_ms, move |_| promise.keep(()));
        }
        turn.await;
        slot.waiting.borrow_mut().remove(&ticket);
    }

    /// After a host has been told something: what it wrote is sent, who waited is woken, and what
    /// it asks for by itself begins.
    pub(super) fn see_to(self: &Rc<Self>, slot: &Rc<Slot>) {
        let written =
            std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        for written in written {
            self.send_written(written);
        }
        loop {
            let mut host = slot.host.borrow_mut();
            if let Some(ticket) = host.poll_woken() {
                if let Some(promise) = slot.waiting.borrow_mut().remove(&ticket) {
                    promise.keep(());
                }
            } else if let Some(ticket) = host.poll_unattended() {
                let (node, slot) = (self.clone(), slot.clone());
                self.spawn(async move {
                    let step = slot.host.borrow_mut().poll(ticket);
                    node.drive(&slot, ticket, step).await;
                });
            } else if let Some(call) = host.poll_ledger() {
                let (node, slot) = (self.clone(), slot.clone());
                self.spawn(async move {
                    if let Some(answer) = node.ask_ledger(slot.id, call).await {
                        slot.host.borrow_mut().ledger_answered(&*node, answer);
                        node.see_to(&slot);
                    }
                });
            } else if let Some(call) = host.poll_thought() {
                let (node, slot) = (self.clone(), slot.clone());
                self.spawn(async move {
                    let input = node.think(&call).await;
                    slot.host.borrow_mut().thought_of(&*node, &call, input);
                    node.see_to(&slot);
                });
            } else {
                if host.poll_timeout() == Some(0) {
                    self.stale.borrow_mut().insert(slot.id);
                }
                return;
            }
        }
    }

    /// Sometimes nobody has time to think. What comes of it is what the quick AI plays: how well is
    /// not the question here, and this is fast.
    async fn think(self: &Rc<Self>, call: &ThoughtCall<Tongits>) -> Option<Input<Action>> {
        if self.world.below(3) == 0 {
            return None;
        }
        let (promise, thought) = crate::simulation::tasks::promise(&self.world.tasks);
        self.world.plan(u64::from(self.world.below(THOUGHT_MS)), move |_| promise.keep(()));
        thought.await;
        let question = call.table.question(call.seat)?;
        Tongits::advise(&question.view).map(|action| question.answered(action))
    }

    /// Makes a call to live state.
    async fn call(self: &Rc<Self>, table: TableId, call: Call) -> Answer {
        match self.try_call(table, call).await {
            Ok(answer) => answer,
            Err(error) => Answer::Failed(error),
        }
    }

    async fn try_call(self: &Rc<Self>, table: TableId, call: Call) -> Result<Answer, Unavailable> {
        let is_slow = matches!(call, Call::Load)
            && self.world.mutation() == Some(Mutation::ReadsOverPublications);
        let request = match call {
            Call::Load => RedisRequest::Load { table },
            Call::Tail { from } => RedisRequest::Tail { table, from },
            Call::Append(new) => RedisRequest::Append { table, new },
            Call::Compact { at, snapshot } => {
                let snapshot = snapshot.into();
                let RedisReply::Flag(done) =
                    self.redis(RedisRequest::Compact { table, at, snapshot }).await?
                else {
                    return Err(Unavailable("not an answer to a compaction".into()));
                };
                return Ok(Answer::Compacted(done));
            }
            Call::Subscribe => {
                let exists = self.flag(RedisRequest::Watch { table }).await?;
                return Ok(Answer::Subscribed(exists));
            }
            Call::Unsubscribe => RedisRequest::Unwatch { table },
            Call::Release { player } => RedisRequest::Release { player, table },
            Call::List(listing) => RedisRequest::List { table, score: score(&listing) },
            Call::Unlist { .. } => RedisRequest::List { table, score: None },
            Call::Halt { reason, .. } => {
                let reason = reason.into();
                let is_new = self.flag(RedisRequest::Halt { table, reason }).await?;
                return Ok(Answer::Halted(is_new));
            }
            Call::NoteHalt(_) | Call::NoteNoShow(_) => return Ok(Answer::Done),
        };
        let reply = self.redis(request).await?;
        if is_slow {
            self.world.sleep(self.world.between(0, SLOW_READ_MS)).await;
        }
        Ok(match reply {
            RedisReply::Stored(stored) => Answer::Loaded(stored),
            RedisReply::Tail(tail) => Answer::Tail(tail),
            RedisReply::Append(append) => Answer::Append(append),
            _ => Answer::Done,
        })
    }

    pub(super) async fn flag(self: &Rc<Self>, request: RedisRequest) -> Result<bool, Unavailable> {
        Ok(matches!(self.redis(request).await?, RedisReply::Flag(true)))
    }

    /// Asks the ledger; `None` where nothing is to be told of it.
    async fn ask_ledger(
        self: &Rc<Self>,
        table: TableId,
        call: LedgerCall<Tongits>,
    ) -> Option<LedgerAnswer> {
        let (game, operation) = match call {
            LedgerCall::Open(opening) => (opening.game, Operation::Open(*opening)),
            LedgerCall::Settle(mut record) => {
                if self.world.mutation() == Some(Mutation::SettlesAnotherText)
                    && let Some(client) = record.clients.iter_mut().find(|one| one.text.is_some())
                {
                    *client = Contribution::revealed("another");
                }
                (record.game, Operation::Settle(record))
            }
            LedgerCall::RefundPot(PotRefund { game, player, .. }) => {
                (game, Operation::RefundPot { table, game, player })
            }
            LedgerCall::VoidLost(game) => {
                self.world.postgres(self.run, Operation::Void { game }).await;
                return None;
            }
        };
        let posted = self.world.postgres(self.run, operation).await;
        let why = match posted {
            Some(Ok(Posted::Opened { stakes, pot })) => {
                return Some(LedgerAnswer::Opened { game, stakes, pot });
            }
            Some(Ok(Posted::CannotPay { seats })) => {
                return Some(LedgerAnswer::CannotPay { game, seats });
            }
            Some(Ok(Posted::PotRefunded { player, pot, shares })) => {
                return Some(LedgerAnswer::PotRefunded { game, player, pot, shares });
            }
            Some(Ok(Posted::Settled)) => return Some(LedgerAnswer::Settled { game }),
            Some(Ok(Posted::Voided | Posted::Games(_) | Posted::Wallet(_))) => {
                LedgerFault::Broken("another answer".into())
            }
            Some(Err(Refusal::TableBusy)) => LedgerFault::Passing("the table is busy".into()),
            Some(Err(refusal)) => LedgerFault::Final(format!("{refusal:?}")),
            None => LedgerFault::Passing("no answer".into()),
        };
        Some(LedgerAnswer::Refused { game, why })
    }
}

impl Context<Tongits> for Node {
    fn now(&self) -> Timestamp {
        self.time()
    }

    fn knows_time(&self) -> bool {
        self.serves.get() && self.has_time()
    }

    fn elapsed_ms(&self) -> u64 {
        self.world.now_ms()
    }

    fn fresh(&self) -> Fresh {
        self.world.fresh()
    }

    fn tag(&self) -> Tag {
        self.world.tag()
    }

    fn room_terms(&self, _: &Terms<Rules>, known: u32) -> Option<RoomTerms<Rules>> {
        let room = self.room();
        (room.revision > known).then_some(room)
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn remark(&self, table: TableId, remark: Remark<'_>) {
        let mut tally = self.world.tally.borrow_mut();
        match remark {
            Remark::SlowWatcher => tally.slow_watchers += 1,
            Remark::Compacted => tally.compactions += 1,
            Remark::ResumedFromMemory => tally.resumed_from_memory += 1,
            Remark::Halted { .. } => tally.halted += 1,
            // Without a fault of the house every journal replays here.
            Remark::ReadAgain(why) => {
                drop(tally);
                self.world.fail(format!("{table}: a line cannot be followed: {why}"));
            }
            Remark::Moved
            | Remark::Parted { .. }
            | Remark::OtherVersion(_)
            | Remark::Undone(..)
            | Remark::LedgerAskedAgain(_) => {}
        }
    }

    fn show_failed(&self, halt: Halt) {
        if let Some(node) = self.world.node(self.run) {
            self.spawn(async move {
                let slot = node.slot(halt.table);
                node.ask(&slot, Request::Halt(halt)).await;
            });
        }
    }

    fn before_engine(&self, table: &Table<Tongits>) {
        self.panic_if(table, Sickness::Deciding);
    }

    fn planted(&self, fault: Planted) -> bool {
        let planted = match self.world.mutation() {
            Some(Mutation::ForgetsToRedact) => Planted::ForgetsToRedact,
            Some(Mutation::ShowsAnothersView) => Planted::ShowsAnothersView,
            Some(Mutation::OverlooksGaps) => Planted::OverlooksGaps,
            Some(Mutation::TellsOfHiddenLines) => Planted::TellsOfHiddenLines,
            Some(Mutation::RepeatsWhatWasSent) => Planted::RepeatsWhatWasSent,
            Some(Mutation::ReadsOverPublications) => Planted::ReadsOverPublications,
            Some(Mutation::WatchesAfterARefusedJoin) => Planted::WatchesAfterARefusedJoin,
            Some(Mutation::KeepsOldTerms) => Planted::KeepsOldTerms,
            Some(Mutation::ResumesTooLate) => Planted::ResumesTooLate,
            Some(_) | None => return false,
        };
        planted == fault
    }
}

impl Node {
    /// Without a word on the standard error, which a plain panic would print.
    pub(super) fn panic_if(&self, table: &Table<Tongits>, sickness: Sickness) {
        let is_sick = self.world.sick.borrow().get(&table.id()) == Some(&sickness);
        if is_sick {
            std::panic::resume_unwind(Box::new("the table is sick"));
        }
    }
}

/// How a table is listed in its room: a POT that waits first, then the fewest free seats. One that
/// is empty is not.
pub(super) fn score(listing: &Listing) -> Option<u32> {
    let free = usize::from(listing.seats).saturating_sub(listing.players.len());
    let free = u32::try_from(free).unwrap_or(9);
    if listing.players.is_empty() && !listing.has_pot {
        return None;
    }
    let rank = if listing.has_pot { 0 } else { 10 };
    (free > 0).then_some(rank + free)
}
