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

mod after;
mod job;
mod owed;
mod reading;
mod terms;

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{ConnectionId, Input, PlayerId, Readable, Table, TableId};

use crate::context::{Context, Remark};
use crate::direct::DirectWriter;
use crate::failure::{Failure, Unavailable};
use crate::halting::Halt;
use crate::journal::{Append, Entry, NewLine, Point, Stored, Tag, Tail};
use crate::notice::Ending;
use crate::replica::{Replica, Unfollowed};
use crate::watchers::{Listing, Watch, Watchers};
use job::{Job, Origin, Progress, Stage};

pub use after::NoShow;
pub use owed::{GameOpening, LedgerAnswer, LedgerCall, LedgerFault, ThoughtCall};

/// What is asked of a table.
#[derive(Debug)]
pub enum Request<G: Readable> {
    /// Have the table decide on an input and store what it decided.
    Submit(Input<G::Action>),
    /// Tell the table what its room says, if that is new.
    TellTerms,
    Watch(WatchRequest<G>),
    /// The table as it is now.
    Look,
    /// The same; then what it is owed is carried out.
    Attend,
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
pub struct Ticket(u64);

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
    NoteHalt(Halt),
    /// Counts a player who was not ready. Not to be waited for.
    NoteNoShow(NoShow),
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Loaded(Option<Stored>),
    Tail(Tail),
    Append(Append),
    /// False: others have appended since.
    Compacted(bool),
    /// False: there is no such table.
    Subscribed(bool),
    /// Whether this call did it.
    Halted(bool),
    Failed(Unavailable),
}

/// What a request came to.
#[derive(Debug)]
pub enum Reply<G: Readable> {
    /// The table's version after the input.
    Submitted(Result<u64, Failure<G::Illegal>>),
    Watched(Result<Watch<G>, Failure<G::Illegal>>),
    /// `None`: there is no such table.
    Looked(Result<Option<Arc<Table<G>>>, Failure<G::Illegal>>),
    Done(Result<(), Failure<G::Illegal>>),
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
    is_doubtful: bool,
    running: Option<Job<G>>,
    /// What the running request asks for, where its driver has yet to be woken.
    outgoing: Option<Call>,
    waiting: VecDeque<Waiting<G>>,
    tickets: u64,
    /// What waited and has come to its end.
    done: Vec<(Ticket, Reply<G>)>,
    woken: Vec<Ticket>,
    unattended: VecDeque<Ticket>,
    owed: owed::Owed<G>,
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
            is_doubtful: false,
            running: None,
            outgoing: None,
            waiting: VecDeque::new(),
            tickets: 0,
            done: Vec::new(),
            woken: Vec::new(),
            unattended: VecDeque::new(),
            owed: owed::Owed::default(),
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
        self.is_subscribed || self.running.is_some() || self.owed.is_used()
    }

    pub fn is_subscribed(&self) -> bool {
        self.is_subscribed
    }

    /// Takes in a request and gives its first step.
    pub fn request(&mut self, ctx: &impl Context<G>, request: Request<G>) -> (Ticket, Step<G>) {
        let job = self.job(request, Origin::Caller);
        let ticket = job.ticket;
        if self.running.is_none() {
            return (ticket, self.begin(ctx, job));
        }
        let limits = ctx.limits();
        if self.waiting.len() >= limits.waiting {
            let reply = job.fail(Unavailable("too many wait at this table".into()).into());
            return (ticket, Step::Reply(reply));
        }
        let until_ms = ctx.elapsed_ms() + limits.waiting_ms;
        self.waiting.push_back(Waiting { job, until_ms: Some(until_ms) });
        (ticket, Step::Wait { until_ms })
    }

    /// What is next for a request that has waited. A request that is over is done.
    pub fn poll(&mut self, ticket: Ticket) -> Step<G> {
        if self.running.as_ref().is_some_and(|job| job.ticket == ticket)
            && let Some(call) = self.outgoing.take()
        {
            return Step::Call(call);
        }
        if let Some(place) = self.done.iter().position(|(done, _)| *done == ticket) {
            return Step::Reply(self.done.swap_remove(place).1);
        }
        match self.waiting.iter().find(|waiting| waiting.job.ticket == ticket) {
            Some(waiting) => Step::Wait { until_ms: waiting.until_ms.unwrap_or(u64::MAX) },
            None => Step::Reply(Reply::Done(Ok(()))),
        }
    }

    /// Takes in the answer to a request's call and gives its next step.
    pub fn answered(&mut self, ctx: &impl Context<G>, ticket: Ticket, answer: Answer) -> Step<G> {
        match self.running.take() {
            Some(job) if job.ticket == ticket => {
                let progress = self.on_answer(ctx, job, answer);
                self.progressed(ctx, progress)
            }
            other => {
                self.running = other;
                Step::Reply(Reply::Done(Ok(())))
            }
        }
    }

    /// Nobody waits for a request any more. If its call was an append, the line may be stored, and
    /// this process is not told of its own: the journal is looked at soon.
    pub fn abandon(&mut self, ctx: &impl Context<G>, ticket: Ticket) {
        self.done.retain(|(done, _)| *done != ticket);
        self.waiting.retain(|waiting| waiting.job.ticket != ticket);
        match self.running.take() {
            Some(job) if job.ticket == ticket => {
                self.outgoing = None;
                self.is_doubtful |= matches!(job.stage, Stage::Append(_));
                self.finished(ctx, &job, false);
                self.begin_next(ctx);
            }
            other => self.running = other,
        }
    }

    /// The next request whose turn has come, or which is over, and whose driver waits.
    pub fn poll_woken(&mut self) -> Option<Ticket> {
        self.woken.pop()
    }

    /// A request of the host itself, for a driver of its own.
    pub fn poll_unattended(&mut self) -> Option<Ticket> {
        self.unattended.pop_front()
    }

    /// What the ledger is to be asked. One thing at a time; another process may ask it too.
    pub fn poll_ledger(&mut self) -> Option<LedgerCall<G>> {
        self.owed.poll()
    }

    /// A move that is to be thought about, beside all else.
    pub fn poll_thought(&mut self) -> Option<ThoughtCall<G>> {
        self.owed.poll_thought()
    }

    /// When [`Self::handle_timeout`] is to be called next, in milliseconds of the process.
    pub fn poll_timeout(&self) -> Option<u64> {
        if self.is_doubtful {
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
            let reply = late.job.fail(Unavailable("others wait at this table".into()).into());
            self.woken.push(late.job.ticket);
            self.done.push((late.job.ticket, reply));
        }
        if std::mem::take(&mut self.is_doubtful) && !self.watchers.is_empty() {
            self.request_own(ctx, Request::CatchUp, Origin::Host);
        }
    }

    /// Takes in lines that another process published: followed if they are the next ones, passed
    /// over if known. Whatever else they are, the journal tells.
    pub fn published(&mut self, ctx: &impl Context<G>, after: Point, lines: &[Entry]) {
        match &self.replica {
            // What is being read may be older than this.
            None => self.is_doubtful |= self.running.is_some(),
            Some(replica) => match replica.known_of(after, lines) {
                Some(known) => {
                    if let Err(error) = self.follow_all(ctx, &lines[known..]) {
                        self.read_again(ctx, &error);
                        self.is_doubtful = true;
                    }
                }
                None => self.is_doubtful = true,
            },
        }
    }

    /// The table was voided: whoever watches it is told.
    pub fn close(&mut self) {
        self.replica = None;
        self.watchers.end(Ending::Voided);
    }

    /// Ends every watch.
    pub fn end_watches(&mut self, why: Ending) {
        self.watchers.end(why);
    }

    fn job(&mut self, request: Request<G>, origin: Origin) -> Job<G> {
        self.tickets += 1;
        Job::new(Ticket(self.tickets), request, origin)
    }

    /// A request of the host itself.
    fn request_own(&mut self, ctx: &impl Context<G>, request: Request<G>, origin: Origin) {
        let job = self.job(request, origin);
        self.unattended.push_back(job.ticket);
        self.waiting.push_back(Waiting { job, until_ms: None });
        self.begin_next(ctx);
    }

    fn begin(&mut self, ctx: &impl Context<G>, job: Job<G>) -> Step<G> {
        let progress = self.go(ctx, job, false);
        self.progressed(ctx, progress)
    }

    fn progressed(&mut self, ctx: &impl Context<G>, progress: Progress<G>) -> Step<G> {
        match progress {
            Progress::Call(job, call) => {
                self.running = Some(job);
                Step::Call(call)
            }
            Progress::Done(job, reply) => {
                self.finished(ctx, &job, reply.is_ok());
                self.begin_next(ctx);
                Step::Reply(reply)
            }
        }
    }

    /// Begins what has waited longest, if nothing goes on.
    fn begin_next(&mut self, ctx: &impl Context<G>) {
        while self.running.is_none()
            && let Some(Waiting { job, .. }) = self.waiting.pop_front()
        {
            self.woken.push(job.ticket);
            match self.go(ctx, job, false) {
                Progress::Call(job, call) => {
                    self.running = Some(job);
                    self.outgoing = Some(call);
                }
                Progress::Done(job, reply) => {
                    if job.origin == Origin::Caller {
                        self.done.push((job.ticket, reply));
                        self.finished(ctx, &job, true);
                    } else {
                        let is_ok = reply.is_ok();
                        self.finished(ctx, &job, is_ok);
                    }
                }
            }
        }
    }

    /// Follows lines that come next, and tells them.
    fn follow_all(&mut self, ctx: &impl Context<G>, lines: &[Entry]) -> Result<(), Unfollowed> {
        let Some(replica) = &mut self.replica else {
            return Ok(());
        };
        for line in lines {
            let applied = replica.follow(line, ctx.limits())?;
            self.watchers.tell(ctx, replica, &applied);
        }
        Ok(())
    }

    /// The replica cannot be followed any further. Read whole, the lines may replay.
    fn read_again(&mut self, ctx: &impl Context<G>, error: &Unfollowed) {
        ctx.remark(self.id, Remark::ReadAgain(&error.to_string()));
        self.replica = None;
    }
}

impl<G: Readable> Reply<G> {
    fn is_ok(&self) -> bool {
        match self {
            Self::Submitted(reply) => reply.is_ok(),
            Self::Watched(reply) => reply.is_ok(),
            Self::Looked(reply) => reply.is_ok(),
            Self::Done(reply) => reply.is_ok(),
        }
    }
}
