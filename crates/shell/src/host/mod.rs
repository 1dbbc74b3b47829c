//! One table in one process: its replica, its watchers, and the requests that wait for it.
//!
//! A request is begun at once where nothing else goes on at the table, or waits in a queue. What
//! goes on makes one call to live state at a time: [`Step::Call`] is carried out by the driver,
//! whose answer leads to the next step, and at last to a reply. One order holds for every change:
//! decide on the replica, append to the journal, replace the replica, tell the watchers. A replica
//! is only a cache: if the append finds that others were faster, their lines are followed and told
//! first, and the input is decided on again. What a failed call did is never assumed.
//!
//! What nobody asked for, as the AI's moves or the ledger's answers, is a request of the host itself
//! ([`TableHost::poll_unattended`]), which some task of the driver carries out. The ledger is asked
//! beside all this ([`TableHost::poll_ledger`]), because it takes its time; so is the AI that plays on for
//! who is taken over ([`TableHost::poll_thought`]).
//!
//! Bounds are in [`Limits`](crate::Limits): a full queue or a long wait is `unavailable`.

mod follow_up_calls;
mod job;
mod pending_effects;
mod journal_sync;
mod terms;

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable, Table, TableId};

use crate::context::{Context, HostEvent};
use crate::direct::DirectWriter;
use crate::failure::{TableError, UnavailableError};
use crate::halting::Halt;
use crate::journal::{AppendOutcome, JournalEntry, NewLine, Point, StoredTable, Tag, Tail};
use crate::notice::WatchEnd;
use crate::replica::{Replica, ReplayError};
use crate::watchers::{Listing, Watch, Watchers};
use job::{Job, Origin, Progress, Stage};

pub use follow_up_calls::NoShow;
pub use pending_effects::{GameOpening, LedgerAnswer, LedgerCall, LedgerFault, AiRequest};

/// What is asked of a table.
#[derive(Debug)]
pub enum Request<G: Readable> {
    /// Have the table decide on an input and store what it decided.
    Submit(Input<G::Action>),
    /// Tell the table what its room says, if that is new.
    UpdateTerms,
    Watch(WatchRequest<G>),
    /// The table as it is now.
    ReadTable,
    /// The same; then what it is owed is carried out.
    RunEffects,
    /// List the table in its room as it is now.
    List,
    /// After publications may have been missed, or now and then: read what is new, and stop
    /// listening where nobody watches any more.
    CatchUp,
    /// The process ends: listen no more.
    Unsubscribe,
    /// Halt the table over a fault that shows.
    Halt(Halt),
}

/// Who begins to watch.
#[derive(Debug)]
pub struct WatchRequest<G: Readable> {
    pub connection: ConnectionId,
    /// What it has written at once does not come among the notices.
    pub writer: Option<Arc<dyn DirectWriter<G>>>,
    /// The tag of the last line that the viewer was told.
    pub from: Option<Tag>,
}

/// A request's number at its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestTicket(u64);

/// A call to live state, to be made by who drives the request.
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
    /// A player who has left is bound to this table no more.
    Release {
        player: PlayerId,
    },
    List(Listing),
    Unlist {
        room: String,
    },
    /// Marks the table as halted, for every node.
    Halt {
        engine: u32,
        reason: String,
    },
    /// Writes the halt down for operators. Not to be waited for: what fails is made up for later.
    RecordHalt(Halt),
    /// Counts a player who was not ready. Not to be waited for.
    RecordNoShow(NoShow),
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallResult {
    Done,
    Loaded(Option<StoredTable>),
    Tail(Tail),
    Append(AppendOutcome),
    /// False: others have appended since.
    Compacted(bool),
    /// False: there is no such table.
    Subscribed(bool),
    /// Whether this call did it.
    Halted(bool),
    Failed(UnavailableError),
}

/// What a request came to.
#[derive(Debug)]
pub enum Reply<G: Readable> {
    /// The table's version after the input.
    Submitted(Result<u64, TableError<G::Refusal>>),
    Watched(Result<Watch<G>, TableError<G::Refusal>>),
    /// `None`: there is no such table.
    Table(Result<Option<Arc<Table<G>>>, TableError<G::Refusal>>),
    Done(Result<(), TableError<G::Refusal>>),
}

/// What is next for a request.
#[derive(Debug)]
pub enum Step<G: Readable> {
    Call(Call),
    Reply(Reply<G>),
    /// Others are before it. [`TableHost::poll_woken`] says when it is its turn, and
    /// [`TableHost::handle_timeout`] gives it up by then.
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
    /// The table's publications come in, so the replica is current without asking.
    is_subscribed: bool,
    /// The journal may be longer than this process will be told: by an append whose answer nobody
    /// waited for, or by publications that were missed.
    is_stale: bool,
    running: Option<Job<G>>,
    /// What the running request asks for, where its driver has yet to be woken.
    pending_call: Option<Call>,
    waiting: VecDeque<Waiting<G>>,
    tickets: u64,
    /// What waited and has come to its end.
    completed: Vec<(RequestTicket, Reply<G>)>,
    woken: Vec<RequestTicket>,
    own_requests: VecDeque<RequestTicket>,
    effects: pending_effects::PendingEffects<G>,
}

#[derive(Debug)]
struct Waiting<G: Readable> {
    job: Job<G>,
    /// Unset for requests of the host itself.
    until_ms: Option<u64>,
}

impl<G: Readable> TableHost<G> {
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

    /// The table as this process knows it, without asking whether it is current.
    pub fn replica(&self) -> Option<&Replica<G>> {
        self.replica.as_ref()
    }

    /// Somebody here may be told something, or the ledger is being asked.
    pub fn is_used(&self) -> bool {
        self.is_subscribed || self.running.is_some() || self.effects.is_used()
    }

    pub fn is_subscribed(&self) -> bool {
        self.is_subscribed
    }

    /// Takes in a request and gives its first step.
    pub fn request(&mut self, ctx: &impl Context<G>, request: Request<G>) -> (RequestTicket, Step<G>) {
        let job = self.new_job(request, Origin::Caller);
        let ticket = job.ticket;
        if self.running.is_none() {
            return (ticket, self.start(ctx, job));
        }
        let limits = ctx.limits();
        if self.waiting.len() >= limits.queue_len {
            let reply = job.failure_reply(UnavailableError("this table's request queue is full".into()).into());
            return (ticket, Step::Reply(reply));
        }
        let until_ms = ctx.elapsed_ms() + limits.queue_timeout_ms;
        self.waiting.push_back(Waiting { job, until_ms: Some(until_ms) });
        (ticket, Step::Wait { until_ms })
    }

    /// What is next for a request that has waited. A request that is over is done.
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

    /// Takes in the answer to a request's call and gives its next step.
    pub fn handle_answer(&mut self, ctx: &impl Context<G>, ticket: RequestTicket, answer: CallResult) -> Step<G> {
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

    /// Nobody waits for a request any more. If its call was an append, the line may be stored, and
    /// this process is not told of its own: the journal is looked at soon.
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

    /// The next request whose turn has come, or which is over, and whose driver waits.
    pub fn poll_woken(&mut self) -> Option<RequestTicket> {
        self.woken.pop()
    }

    /// A request of the host itself, for a driver of its own.
    pub fn poll_own_request(&mut self) -> Option<RequestTicket> {
        self.own_requests.pop_front()
    }

    /// What the ledger is to be asked. One thing at a time; another process may ask it too.
    pub fn poll_ledger(&mut self) -> Option<LedgerCall<G>> {
        self.effects.poll_ledger()
    }

    /// A move that is to be thought about, beside all else.
    pub fn poll_ai_request(&mut self) -> Option<AiRequest<G>> {
        self.effects.poll_ai_request()
    }

    /// When [`Self::handle_timeout`] is to be called next, in milliseconds of the process.
    pub fn poll_timeout(&self) -> Option<u64> {
        if self.is_stale {
            return Some(0);
        }
        self.waiting.iter().filter_map(|waiting| waiting.until_ms).min()
    }

    /// Gives up what has waited for too long, and looks at the journal where that may be longer
    /// than this process was told.
    pub fn handle_timeout(&mut self, ctx: &impl Context<G>) {
        let now_ms = ctx.elapsed_ms();
        let is_late = |waiting: &Waiting<G>| waiting.until_ms.is_some_and(|until| until <= now_ms);
        while let Some(place) = self.waiting.iter().position(is_late)
            && let Some(late) = self.waiting.remove(place)
        {
            let reply = late.job.failure_reply(UnavailableError("the request waited too long for this table".into()).into());
            self.woken.push(late.job.ticket);
            self.completed.push((late.job.ticket, reply));
        }
        if std::mem::take(&mut self.is_stale) && !self.watchers.is_empty() {
            self.enqueue_own_request(ctx, Request::CatchUp, Origin::Host);
        }
    }

    /// Takes in lines that another process published: followed if they are the next ones, passed
    /// over if known. Whatever else they are, the journal tells.
    pub fn handle_publication(&mut self, ctx: &impl Context<G>, after: Point, lines: &[JournalEntry]) {
        match &self.replica {
            // What is being read may be older than this.
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

    /// The table was voided: whoever watches it is told.
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

    /// A request of the host itself.
    fn enqueue_own_request(&mut self, ctx: &impl Context<G>, request: Request<G>, origin: Origin) {
        let job = self.new_job(request, origin);
        self.own_requests.push_back(job.ticket);
        self.waiting.push_back(Waiting { job, until_ms: None });
        self.start_next(ctx);
    }

    fn start(&mut self, ctx: &impl Context<G>, job: Job<G>) -> Step<G> {
        let progress = self.resume(ctx, job, false);
        self.finish_step(ctx, progress)
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

    /// Begins what has waited longest, if nothing goes on.
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
                        let is_ok = reply.is_ok();
                        self.finish_request(ctx, &job, is_ok);
                    }
                }
            }
        }
    }

    /// Follows lines that come next, and tells them.
    fn follow_lines(&mut self, ctx: &impl Context<G>, lines: &[JournalEntry]) -> Result<(), ReplayError> {
        let Some(replica) = &mut self.replica else {
            return Ok(());
        };
        for line in lines {
            let applied = replica.follow(line, ctx.limits())?;
            self.watchers.send_line(ctx, replica, &applied);
        }
        Ok(())
    }

    /// The replica cannot be followed any further. Read whole, the lines may replay.
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
