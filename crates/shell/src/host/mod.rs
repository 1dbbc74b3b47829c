//! The state machine of one table in one process: its replica, its watchers and a queue of
//! requests.
//!
//! A request starts at once if the table is idle, and is queued otherwise. The running request
//! makes one call to live state at a time: the driver performs each [`Step::Call`] and hands its
//! result back, which leads to the next step and finally to a reply. Every change follows one
//! order: decide on the replica, append to the journal, replace the replica, notify the watchers.
//!
//! A replica is only a cache. Appends use optimistic concurrency: if another process has appended
//! since, its lines are applied and delivered first, and the input is decided again. A failed call
//! may or may not have taken effect, so nothing is assumed about it.
//!
//! Inputs without a caller, such as actions of the AI or results of the ledger, are requests of the
//! host itself ([`TableHost::poll_own_request`]), which a task of the driver runs. Calls to the
//! ledger ([`TableHost::poll_ledger`]) and to the AI of taken-over seats
//! ([`TableHost::poll_ai_request`]) run concurrently, because they are slow.
//!
//! The bounds are in [`Limits`](crate::Limits). A request that meets a full queue, or waits too
//! long, fails as unavailable.

mod follow_up_calls;
mod job;
mod journal_sync;
mod pending_effects;
mod terms;

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_bots::Ai;
use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable, Table, TableId};

use crate::context::{Context, HostEvent};
use crate::delivery::direct::DirectWriter;
use crate::delivery::notice::WatchEnd;
use crate::delivery::watchers::{Listing, Watch, Watchers};
use crate::failure::{TableError, UnavailableError};
use crate::halting::Halt;
use crate::history::journal::{
    AppendOutcome, JournalEntry, NewLine, Point, StoredTable, Tag, Tail,
};
use crate::history::replica::{ReplayError, Replica};
use job::{Job, Origin, Progress, Stage};

pub use follow_up_calls::NoShow;
pub use pending_effects::{AiRequest, GameOpening, LedgerAnswer, LedgerCall, LedgerFault};

/// A request to a table.
#[derive(Debug)]
pub enum Request<G: Readable> {
    /// Decides on an input and stores the resulting line.
    Submit(Input<G::Action>),
    /// Updates the table's terms if its room has newer ones.
    UpdateTerms,
    Watch(WatchRequest<G>),
    /// Reads the current table.
    ReadTable,
    /// Reads the current table, then runs its pending effects.
    RunEffects,
    /// Updates the table's entry in the list of its room.
    List,
    /// Reads new lines of the journal after publications may have been missed, or periodically.
    /// Unsubscribes if the table has no watchers.
    CatchUp,
    /// Unsubscribes, because the process ends.
    Unsubscribe,
    /// Halts the table over a fault in showing it.
    Halt(Halt),
}

/// The parameters of a new watch.
#[derive(Debug)]
pub struct WatchRequest<G: Readable> {
    pub connection: ConnectionId,
    /// Lines that this writer delivers are not queued as notices.
    pub writer: Option<Arc<dyn DirectWriter<G>>>,
    /// The tag of the last line that the viewer received.
    pub from: Option<Tag>,
}

/// The number of a request at its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestTicket(u64);

/// A call to live state, performed by the driver of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Load,
    Tail {
        from: Point,
    },
    Append(NewLine),
    Compact {
        at: Point,
        snapshot: String,
    },
    Subscribe,
    Unsubscribe,
    /// Releases the seat claim of a player who has left.
    Release {
        player: PlayerId,
    },
    List(Listing),
    Unlist {
        room: String,
    },
    /// Marks the table as halted for every node.
    Halt {
        engine: u32,
        reason: String,
    },
    /// Records the halt for operators. The driver does not wait for it; a failed record is made up
    /// for later.
    RecordHalt(Halt),
    /// Counts a player who was not ready. The driver does not wait for it.
    RecordNoShow(NoShow),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallResult {
    Done,
    Loaded(Option<StoredTable>),
    Tail(Tail),
    Append(AppendOutcome),
    /// False if another process has appended since.
    Compacted(bool),
    /// False if the table does not exist.
    Subscribed(bool),
    /// True if this call set the mark.
    Halted(bool),
    Failed(UnavailableError),
}

/// The result of a request.
#[derive(Debug)]
pub enum Reply<G: Readable> {
    /// The table's version after the input.
    Submitted(Result<u64, TableError<G::Refusal>>),
    Watched(Result<Watch<G>, TableError<G::Refusal>>),
    /// `None` if the table does not exist.
    Table(Result<Option<Arc<Table<G>>>, TableError<G::Refusal>>),
    Done(Result<(), TableError<G::Refusal>>),
}

/// The next step of a request.
#[derive(Debug)]
pub enum Step<G: Readable> {
    Call(Call),
    Reply(Reply<G>),
    /// The request is queued. [`TableHost::poll_woken`] reports its turn, and
    /// [`TableHost::handle_timeout`] fails it at this time.
    Wait {
        until_ms: u64,
    },
}

/// One table in one process.
#[derive(Debug)]
pub struct TableHost<G: Readable> {
    id: TableId,
    replica: Option<Replica<G>>,
    watchers: Watchers<G>,
    /// The process receives the table's publications, so the replica is current without a read.
    is_subscribed: bool,
    /// The journal may have lines that this process will not receive: after an abandoned append or
    /// missed publications.
    is_stale: bool,
    running: Option<Job<G>>,
    /// The call of the running request, until its driver is woken.
    pending_call: Option<Call>,
    waiting: VecDeque<Waiting<G>>,
    tickets: u64,
    /// The results of queued requests, until their drivers take them.
    completed: Vec<(RequestTicket, Reply<G>)>,
    woken: Vec<RequestTicket>,
    own_requests: VecDeque<RequestTicket>,
    effects: pending_effects::PendingEffects<G>,
}

#[derive(Debug)]
struct Waiting<G: Readable> {
    job: Job<G>,
    /// The deadline in ms of the process; `None` for requests of the host itself.
    until_ms: Option<u64>,
}

impl<G: Ai + Readable> TableHost<G> {
    pub fn new(id: TableId) -> Self {
        Self {
            id,
            replica: None,
            watchers: Watchers::new(id),
            is_subscribed: false,
            is_stale: false,
            running: None,
            pending_call: None,
            waiting: VecDeque::new(),
            tickets: 0,
            completed: Vec::new(),
            woken: Vec::new(),
            own_requests: VecDeque::new(),
            effects: pending_effects::PendingEffects::default(),
        }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// Returns the cached table, which may be behind the journal.
    pub fn replica(&self) -> Option<&Replica<G>> {
        self.replica.as_ref()
    }

    /// Returns true if the table has a subscription, a running request or effects in progress.
    pub fn is_used(&self) -> bool {
        self.is_subscribed || self.running.is_some() || self.effects.is_used()
    }

    pub fn is_subscribed(&self) -> bool {
        self.is_subscribed
    }

    /// Accepts a request and returns its first step.
    pub fn request(
        &mut self,
        ctx: &impl Context<G>,
        request: Request<G>,
    ) -> (RequestTicket, Step<G>) {
        let job = self.new_job(request, Origin::Caller);
        let ticket = job.ticket;
        if self.running.is_none() {
            let progress = self.resume(ctx, job, false);
            return (ticket, self.finish_step(ctx, progress));
        }
        let limits = ctx.limits();
        if self.waiting.len() >= limits.queue_len {
            let reply = job.failure_reply(
                UnavailableError("this table's request queue is full".into()).into(),
            );
            return (ticket, Step::Reply(reply));
        }
        let until_ms = ctx.elapsed_ms() + limits.queue_timeout_ms;
        self.waiting.push_back(Waiting { job, until_ms: Some(until_ms) });
        (ticket, Step::Wait { until_ms })
    }

    /// Returns the next step of a queued request. An unknown request is done.
    pub fn poll(&mut self, ticket: RequestTicket) -> Step<G> {
        if self.running.as_ref().is_some_and(|job| job.ticket == ticket)
            && let Some(call) = self.pending_call.take()
        {
            return Step::Call(call);
        }
        if let Some(place) = self.completed.iter().position(|(completed, _)| *completed == ticket) {
            return Step::Reply(self.completed.swap_remove(place).1);
        }
        match self.waiting.iter().find(|waiting| waiting.job.ticket == ticket) {
            Some(waiting) => Step::Wait { until_ms: waiting.until_ms.unwrap_or(u64::MAX) },
            None => Step::Reply(Reply::Done(Ok(()))),
        }
    }

    /// Handles the result of a request's call and returns the next step.
    pub fn handle_answer(
        &mut self,
        ctx: &impl Context<G>,
        ticket: RequestTicket,
        answer: CallResult,
    ) -> Step<G> {
        match self.running.take() {
            Some(job) if job.ticket == ticket => {
                let progress = self.advance_job(ctx, job, answer);
                self.finish_step(ctx, progress)
            }
            other => {
                self.running = other;
                Step::Reply(Reply::Done(Ok(())))
            }
        }
    }

    /// Drops a request that no caller waits for. If its call was an append, the line may be stored
    /// without this process receiving it, so the journal is read soon.
    pub fn abandon(&mut self, ctx: &impl Context<G>, ticket: RequestTicket) {
        self.completed.retain(|(completed, _)| *completed != ticket);
        self.waiting.retain(|waiting| waiting.job.ticket != ticket);
        match self.running.take() {
            Some(job) if job.ticket == ticket => {
                self.pending_call = None;
                self.is_stale |= matches!(job.stage, Stage::Append(_));
                self.finish_request(ctx, &job, false);
                self.start_next(ctx);
            }
            other => self.running = other,
        }
    }

    /// Returns the next queued request whose turn has come, or which has finished, and whose driver
    /// must be woken.
    pub fn poll_woken(&mut self) -> Option<RequestTicket> {
        self.woken.pop()
    }

    /// Returns the next request of the host itself, which needs a driver of its own.
    pub fn poll_own_request(&mut self) -> Option<RequestTicket> {
        self.own_requests.pop_front()
    }

    /// Returns the next call to the ledger. At most one is in flight from this process; another
    /// process may make the same call.
    pub fn poll_ledger(&mut self) -> Option<LedgerCall<G>> {
        self.effects.ledger_call.take()
    }

    /// Returns the next request to the AI, which runs concurrently.
    pub fn poll_ai_request(&mut self) -> Option<AiRequest<G>> {
        self.effects.ai_requests.pop_front()
    }

    /// Returns when [`Self::handle_timeout`] is due, in ms of the process.
    pub fn poll_timeout(&self) -> Option<u64> {
        if self.is_stale {
            return Some(0);
        }
        self.waiting.iter().filter_map(|waiting| waiting.until_ms).min()
    }

    /// Fails the queued requests whose deadline has passed, and reads the journal if the replica
    /// may be stale.
    pub fn handle_timeout(&mut self, ctx: &impl Context<G>) {
        let now_ms = ctx.elapsed_ms();
        let is_late = |waiting: &Waiting<G>| waiting.until_ms.is_some_and(|until| until <= now_ms);
        while let Some(place) = self.waiting.iter().position(is_late)
            && let Some(late) = self.waiting.remove(place)
        {
            let reply = late.job.failure_reply(
                UnavailableError("the request waited too long for this table".into()).into(),
            );
            self.woken.push(late.job.ticket);
            self.completed.push((late.job.ticket, reply));
        }
        if std::mem::take(&mut self.is_stale) && !self.watchers.is_empty() {
            self.enqueue_own_request(ctx, Request::CatchUp, Origin::Host);
        }
    }

    /// Handles lines that another process published. The next lines are applied and known ones are
    /// ignored; for all others the journal is read.
    pub fn handle_publication(
        &mut self,
        ctx: &impl Context<G>,
        after: Point,
        lines: &[JournalEntry],
    ) {
        match &self.replica {
            // A read in progress may return a state from before these lines.
            None => self.is_stale |= self.running.is_some(),
            Some(replica) => match replica.count_known(after, lines) {
                Some(known) => {
                    if let Err(error) = self.follow_lines(ctx, &lines[known..]) {
                        self.discard_replica(ctx, &error);
                        self.is_stale = true;
                    }
                }
                None => self.is_stale = true,
            },
        }
    }

    /// Closes a voided table and its watches.
    pub fn close(&mut self) {
        self.replica = None;
        self.watchers.close_all(WatchEnd::Voided);
    }

    /// Ends every watch.
    pub fn end_watches(&mut self, ending: WatchEnd) {
        self.watchers.close_all(ending);
    }

    fn new_job(&mut self, request: Request<G>, origin: Origin) -> Job<G> {
        self.tickets += 1;
        Job::new(RequestTicket(self.tickets), request, origin)
    }

    /// Queues a request of the host itself.
    fn enqueue_own_request(&mut self, ctx: &impl Context<G>, request: Request<G>, origin: Origin) {
        let job = self.new_job(request, origin);
        self.own_requests.push_back(job.ticket);
        self.waiting.push_back(Waiting { job, until_ms: None });
        self.start_next(ctx);
    }

    fn finish_step(&mut self, ctx: &impl Context<G>, progress: Progress<G>) -> Step<G> {
        match progress {
            Progress::Call(job, call) => {
                self.running = Some(job);
                Step::Call(call)
            }
            Progress::Done(job, reply) => {
                self.finish_request(ctx, &job, reply.is_ok());
                self.start_next(ctx);
                Step::Reply(reply)
            }
        }
    }

    /// Starts the longest waiting request if the table is idle.
    fn start_next(&mut self, ctx: &impl Context<G>) {
        while self.running.is_none()
            && let Some(Waiting { job, .. }) = self.waiting.pop_front()
        {
            self.woken.push(job.ticket);
            match self.resume(ctx, job, false) {
                Progress::Call(job, call) => {
                    self.running = Some(job);
                    self.pending_call = Some(call);
                }
                Progress::Done(job, reply) => {
                    if job.origin == Origin::Caller {
                        self.completed.push((job.ticket, reply));
                        self.finish_request(ctx, &job, true);
                    } else {
                        self.finish_request(ctx, &job, reply.is_ok());
                    }
                }
            }
        }
    }

    /// Applies the next lines of the journal and delivers them.
    fn follow_lines(
        &mut self,
        ctx: &impl Context<G>,
        lines: &[JournalEntry],
    ) -> Result<(), ReplayError> {
        let Some(replica) = &mut self.replica else { return Ok(()) };
        for line in lines {
            let applied = replica.follow(line, ctx.limits())?;
            self.watchers.send_line(ctx, replica, &applied);
        }
        Ok(())
    }

    /// Discards a replica that cannot follow a line. The lines may replay from the journal's
    /// snapshot.
    fn discard_replica(&mut self, ctx: &impl Context<G>, error: &ReplayError) {
        ctx.record(self.id, HostEvent::ReplicaDiscarded(&error.to_string()));
        self.replica = None;
    }
}

impl<G: Readable> Reply<G> {
    fn is_ok(&self) -> bool {
        match self {
            Self::Submitted(reply) => reply.is_ok(),
            Self::Watched(reply) => reply.is_ok(),
            Self::Table(reply) => reply.is_ok(),
            Self::Done(reply) => reply.is_ok(),
        }
    }
}
