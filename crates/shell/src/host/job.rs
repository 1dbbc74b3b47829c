//! How a request goes from one call to the next: reading the journal, deciding and appending with
//! its retries, watching and resuming, halting.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_engine::table::{Event, Input, Readable, Rejection, Table};

use super::after::{after_seats, compaction, is_idle, no_shows};
use super::{Answer, Call, Reply, Request, TableHost, Ticket, WatchRequest, terms};
use crate::codec::write_line;
use crate::context::{Context, Planted, Remark};
use crate::failure::{Failure, Unavailable};
use crate::guard::guarded;
use crate::halting::Halt;
use crate::journal::{Append, NewLine, Point, Tag, Tail};
use crate::replica::AppliedLine;
use crate::watchers::{Listing, Watch};

/// A request on its way.
#[derive(Debug)]
pub(super) struct Job<G: Readable> {
    pub(super) ticket: Ticket,
    pub(super) request: Request<G>,
    pub(super) origin: Origin,
    /// How often the input was decided on.
    attempts: u8,
    /// The replica was brought up to the journal for this request.
    is_fresh: bool,
    pub(super) stage: Stage<G>,
}

/// Who made a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Caller,
    /// The ledger's answer.
    Ledger,
    /// What the table is owed.
    Owed,
    /// What an AI thought of.
    Thought,
    /// The host, for itself.
    Host,
}

/// Which answer a request waits for.
#[derive(Debug)]
pub(super) enum Stage<G: Readable> {
    Begin,
    Subscribe,
    Tail {
        from: Point,
    },
    Load,
    /// The journal, for what a viewer missed.
    Missed,
    Append(Box<Pending<G>>),
    Halt(Box<Halt>),
    /// Calls that may fail, and what comes after them.
    Tidy(Box<Tidying<G>>),
}

/// Calls that are made one after the other.
#[derive(Debug)]
pub(super) struct Tidying<G: Readable> {
    calls: VecDeque<Call>,
    then: Then<G>,
    /// The point of the snapshot that is being stored.
    compacting: Option<Point>,
}

/// A line that is being appended.
#[derive(Debug)]
pub(super) struct Pending<G: Readable> {
    table: Arc<Table<G>>,
    events: Vec<Event<G::Event>>,
    after: Point,
    tag: Tag,
    /// It tells what the room says; the input itself comes after it.
    is_terms: bool,
}

/// What comes after tidying.
#[derive(Debug)]
pub(super) enum Then<G: Readable> {
    /// The request goes on where it was; the table was just read.
    GoOn,
    Done(Reply<G>),
}

/// What a request has come to.
pub(super) enum Progress<G: Readable> {
    Call(Job<G>, Call),
    Done(Job<G>, Reply<G>),
}

impl<G: Readable> Job<G> {
    pub(super) fn new(ticket: Ticket, request: Request<G>, origin: Origin) -> Self {
        Self { ticket, request, origin, attempts: 0, is_fresh: false, stage: Stage::Begin }
    }

    /// The reply to a request that failed.
    pub(super) fn fail(&self, failure: Failure<G::Illegal>) -> Reply<G> {
        match &self.request {
            Request::Submit(_) => Reply::Submitted(Err(failure)),
            Request::Watch(_) => Reply::Watched(Err(failure)),
            Request::Look | Request::Attend => Reply::Looked(Err(failure)),
            Request::TellTerms
            | Request::List
            | Request::CatchUp
            | Request::Unsubscribe
            | Request::Halt(_) => Reply::Done(Err(failure)),
        }
    }

    pub(super) fn call(mut self, stage: Stage<G>, call: Call) -> Progress<G> {
        self.stage = stage;
        Progress::Call(self, call)
    }

    fn done(self, reply: Reply<G>) -> Progress<G> {
        Progress::Done(self, reply)
    }

    pub(super) fn failed(self, failure: impl Into<Failure<G::Illegal>>) -> Progress<G> {
        let reply = self.fail(failure.into());
        Progress::Done(self, reply)
    }
}

impl<G: Readable> TableHost<G> {
    /// Lets a request go on. `was_read`: the journal was read just now.
    pub(super) fn go(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        was_read: bool,
    ) -> Progress<G> {
        match &job.request {
            Request::Submit(_) => self.decide(ctx, job, was_read),
            Request::TellTerms => {
                let due = self.replica.as_ref().and_then(|one| terms::due(ctx, one.table()));
                if due.is_none() {
                    job.done(Reply::Done(Ok(())))
                } else {
                    self.decide(ctx, job, was_read)
                }
            }
            Request::Watch(_) => {
                // Listen first: what is published from here on is not in what is read next.
                if !self.is_subscribed && !was_read {
                    return job.call(Stage::Subscribe, Call::Subscribe);
                }
                if !was_read { self.refresh(job) } else { self.watch(ctx, job) }
            }
            Request::Look | Request::Attend => {
                if !was_read {
                    return self.refresh(job);
                }
                let table = self.replica.as_ref().map(|replica| replica.table().clone());
                job.done(Reply::Looked(Ok(table)))
            }
            Request::List => {
                if !was_read {
                    return self.refresh(job);
                }
                match &self.replica {
                    Some(replica) => {
                        let list = Call::List(Listing::of(replica.table()));
                        self.tidy(ctx, job, [list].into(), Then::Done(Reply::Done(Ok(()))))
                    }
                    None => job.done(Reply::Done(Ok(()))),
                }
            }
            Request::CatchUp => {
                if was_read {
                    job.done(Reply::Done(Ok(())))
                } else if self.watchers.is_empty() {
                    self.unsubscribe(ctx, job, Then::Done(Reply::Done(Ok(()))))
                } else {
                    self.refresh(job)
                }
            }
            Request::Unsubscribe => self.unsubscribe(ctx, job, Then::Done(Reply::Done(Ok(())))),
            Request::Halt(halt) => {
                let halt = Box::new(halt.clone());
                self.replica = None;
                job.is_fresh = true;
                let call = Call::Halt { engine: halt.engine, reason: halt.reason.clone() };
                job.call(Stage::Halt(halt), call)
            }
        }
    }

    pub(super) fn on_answer(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        answer: Answer,
    ) -> Progress<G> {
        match (std::mem::replace(&mut job.stage, Stage::Begin), answer) {
            (Stage::Subscribe, Answer::Subscribed(true)) => {
                self.is_subscribed = true;
                self.refresh(job)
            }
            (Stage::Subscribe, Answer::Subscribed(false)) => job.failed(Failure::Missing),
            (Stage::Tail { from }, Answer::Tail(Tail::Lines(lines))) => {
                self.tailed(ctx, job, from, &lines)
            }
            (Stage::Tail { from }, Answer::Tail(Tail::Halted(lines))) => {
                if matches!(job.request, Request::Submit(_)) {
                    self.is_doubtful |= !lines.is_empty();
                    return job.failed(Failure::Halted);
                }
                self.tailed(ctx, job, from, &lines)
            }
            (Stage::Tail { .. }, Answer::Tail(Tail::Elsewhere | Tail::Missing)) => {
                self.replica = None;
                job.call(Stage::Load, Call::Load)
            }
            (Stage::Load, Answer::Loaded(stored)) => self.loaded(ctx, job, stored),
            (Stage::Missed, Answer::Loaded(stored)) => {
                let missed = stored.and_then(|stored| self.missed(ctx, &job, &stored));
                self.watched(ctx, job, missed)
            }
            (Stage::Append(pending), Answer::Append(append)) => {
                self.appended(ctx, job, *pending, append)
            }
            (Stage::Append(_), Answer::Failed(error)) => {
                // It may be stored or not: read before the next decision.
                self.replica = None;
                self.is_doubtful = true;
                job.failed(error)
            }
            (Stage::Halt(halt), Answer::Halted(is_new)) => self.halted(ctx, job, *halt, is_new),
            (Stage::Tidy(tidying), answer) => {
                match (answer, tidying.compacting, &mut self.replica) {
                    (Answer::Compacted(true), Some(at), Some(replica)) => {
                        replica.compacted(at);
                        ctx.remark(self.id, Remark::Compacted);
                    }
                    (Answer::Failed(error), ..) => {
                        ctx.remark(self.id, Remark::Undone("tidying", &error.to_string()));
                    }
                    _ => {}
                }
                self.tidy_on(ctx, job, tidying)
            }
            (_, Answer::Failed(error)) => job.failed(error),
            (stage, answer) => {
                let what = format!("{answer:?} is no answer to {stage:?}");
                job.failed(Unavailable(what))
            }
        }
    }

    pub(super) fn was_read(&mut self, ctx: &impl Context<G>, mut job: Job<G>) -> Progress<G> {
        job.is_fresh = true;
        self.go(ctx, job, true)
    }

    fn decide(&mut self, ctx: &impl Context<G>, mut job: Job<G>, was_read: bool) -> Progress<G> {
        let Some(replica) = &self.replica else {
            return if was_read { job.failed(Failure::Missing) } else { self.refresh(job) };
        };
        job.attempts += 1;
        if job.attempts > ctx.limits().attempts {
            return job.failed(Unavailable("too many others act at this table".into()));
        }
        if !ctx.knows_time() {
            return job.failed(Unavailable("the time of this table is not known yet".into()));
        }
        // What the room says comes before anything else.
        let table = replica.table();
        let terms = terms::due(ctx, table);
        let is_terms = terms.is_some();
        let input = match (terms, &job.request) {
            (Some(terms), _) => terms,
            (None, Request::Submit(input)) => input.clone(),
            (None, _) => return job.done(Reply::Done(Ok(()))),
        };
        let decided = guarded(|| {
            ctx.before_engine(table);
            let decided = table.decide(ctx.now(), input, || ctx.fresh())?;
            let deadline = decided.table.deadline();
            Ok((decided, deadline))
        });
        let (transition, deadline) = match decided {
            Ok(Ok(decided)) => decided,
            Ok(Err(Rejection::AlreadyConnected))
                if !job.is_fresh && ctx.planted(Planted::ReadsOverPublications) =>
            {
                return job.call(Stage::Load, Call::Load);
            }
            // Refused on what may be an old replica, or at a table that is halted: look before saying
            // so.
            Ok(Err(_)) if !job.is_fresh => return self.refresh(job),
            Ok(Err(rejection)) => return job.failed(Failure::Rejected(rejection)),
            Err(panic) => {
                let halt = Halt::of(replica, panic);
                return self.halt(job, halt);
            }
        };
        let line = match write_line::<G>(&transition.line) {
            Ok(line) => line,
            Err(error) => return job.failed(Unavailable(error.to_string())),
        };
        let (after, tag, engine) = (replica.at(), ctx.tag(), table.engine());
        let idle_ms = is_idle(&transition.table).then_some(ctx.limits().idle_ms);
        let new = NewLine { after, tag, engine, line, deadline, idle_ms };
        let (table, events) = (Arc::new(transition.table), transition.events);
        let pending = Box::new(Pending { table, events, after, tag, is_terms });
        job.call(Stage::Append(pending), Call::Append(new))
    }

    fn appended(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        pending: Pending<G>,
        append: Append,
    ) -> Progress<G> {
        match append {
            Append::Appended => self.stored(ctx, job, pending),
            Append::Behind(lines) => {
                job.is_fresh = true;
                let known =
                    self.replica.as_ref().and_then(|one| one.known_of(pending.after, &lines));
                match known.map(|known| self.follow_all(ctx, &lines[known..])) {
                    Some(Ok(())) => {}
                    Some(Err(error)) => self.read_again(ctx, &error),
                    None => self.replica = None,
                }
                self.go(ctx, job, false)
            }
            Append::Halted => job.failed(Failure::Halted),
            Append::Elsewhere | Append::Missing => {
                self.replica = None;
                self.go(ctx, job, false)
            }
        }
    }

    /// A line is in the journal: the replica is replaced, the watchers are told, and what follows
    /// the seats is put right.
    fn stored(&mut self, ctx: &impl Context<G>, job: Job<G>, pending: Pending<G>) -> Progress<G> {
        let Pending { table, events, after, tag, is_terms } = pending;
        let version = after.version + 1;
        let mut calls = VecDeque::new();
        match &mut self.replica {
            Some(replica) if replica.at() == after => {
                let before = replica.table().clone();
                let applied = replica.replace(table, events, tag, ctx.limits());
                self.watchers.tell(ctx, replica, &applied);
                calls = after_seats(replica.table(), &applied);
                let no_shows = no_shows(&before, &applied, replica.table().at());
                calls.extend(no_shows.into_iter().map(Call::NoteNoShow));
                calls.extend(compaction(ctx, replica));
            }
            // Who listens is also told of its own lines, as soon as another process listens too. This
            // one came before the answer, and was followed and told.
            Some(replica) if replica.leads_through(Point { version, tag }) => {
                let applied = AppliedLine { at: Point { version, tag }, events: events.into() };
                calls = after_seats(replica.table(), &applied);
                calls.extend(compaction(ctx, replica));
            }
            // Lines of another history were published meanwhile.
            Some(_) | None => {
                self.replica = None;
                self.is_doubtful = true;
            }
        }
        if is_terms {
            return self.tidy(ctx, job, calls, Then::GoOn);
        }
        if matches!(job.request, Request::Submit(Input::Act { .. })) {
            ctx.remark(self.id, Remark::Moved);
        }
        self.tidy(ctx, job, calls, Then::Done(Reply::Submitted(Ok(version))))
    }

    fn watch(&mut self, ctx: &impl Context<G>, job: Job<G>) -> Progress<G> {
        let from = match &job.request {
            Request::Watch(WatchRequest { from, .. }) => *from,
            _ => None,
        };
        match (from, &self.replica) {
            (Some(from), Some(replica)) => match replica.missed_since(from) {
                Some(mut missed) => {
                    if ctx.planted(Planted::ResumesTooLate) && missed.len() > 1 {
                        missed.remove(0);
                    }
                    ctx.remark(self.id, Remark::ResumedFromMemory);
                    self.watched(ctx, job, Some(missed))
                }
                None => job.call(Stage::Missed, Call::Load),
            },
            (None, _) | (_, None) => self.watched(ctx, job, None),
        }
    }

    fn watched(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        missed: Option<Vec<AppliedLine<G>>>,
    ) -> Progress<G> {
        // What is shown says what time it is.
        if !ctx.knows_time() {
            return job.failed(Unavailable("the time of this table is not known yet".into()));
        }
        let (Some(replica), Request::Watch(watch)) = (&self.replica, &job.request) else {
            return job.failed(Failure::Missing);
        };
        let (at, table) = (replica.at(), replica.table().clone());
        let shown = replica.shown().clone();
        let notices = self.watchers.add(watch.connection, watch.writer.clone());
        job.done(Reply::Watched(Ok(Watch { at, shown, table, missed, notices })))
    }

    /// Halts the table over what went wrong with a request.
    pub(super) fn halt(&mut self, job: Job<G>, halt: Halt) -> Progress<G> {
        self.replica = None;
        let call = Call::Halt { engine: halt.engine, reason: halt.reason.clone() };
        job.call(Stage::Halt(Box::new(halt)), call)
    }

    /// The mark comes first. Whoever made it says so, and writes it down for operators.
    fn halted(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        halt: Halt,
        is_new: bool,
    ) -> Progress<G> {
        let reply = match &job.request {
            Request::Halt(_) => Reply::Done(Ok(())),
            _ => job.fail(Failure::Halted),
        };
        if !is_new {
            return job.done(reply);
        }
        let Halt { room, version, reason, .. } = &halt;
        let remark = Remark::Halted { room: room.as_deref(), version: *version, reason };
        ctx.remark(self.id, remark);
        let unlist = room.clone().map(|room| Call::Unlist { room });
        let calls = unlist.into_iter().chain([Call::NoteHalt(halt)]).collect();
        self.tidy(ctx, job, calls, Then::Done(reply))
    }

    pub(super) fn unsubscribe(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        then: Then<G>,
    ) -> Progress<G> {
        // A failed unsubscription costs only publications that nobody takes in.
        let calls = match std::mem::take(&mut self.is_subscribed) {
            true => VecDeque::from([Call::Unsubscribe]),
            false => VecDeque::new(),
        };
        self.tidy(ctx, job, calls, then)
    }

    /// Makes calls that are hints to others; what fails here is put right by whoever stumbles
    /// over it.
    fn tidy(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        calls: VecDeque<Call>,
        then: Then<G>,
    ) -> Progress<G> {
        match (calls.is_empty(), then) {
            (true, Then::Done(reply)) => job.done(reply),
            (_, then) => {
                let tidying = Box::new(Tidying { calls, then, compacting: None });
                self.tidy_on(ctx, job, tidying)
            }
        }
    }

    fn tidy_on(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        mut tidying: Box<Tidying<G>>,
    ) -> Progress<G> {
        let Some(call) = tidying.calls.pop_front() else {
            return match tidying.then {
                Then::Done(reply) => job.done(reply),
                Then::GoOn => {
                    job.is_fresh = true;
                    self.go(ctx, job, true)
                }
            };
        };
        tidying.compacting = match &call {
            Call::Compact { at, .. } => Some(*at),
            _ => None,
        };
        job.call(Stage::Tidy(tidying), call)
    }
}
