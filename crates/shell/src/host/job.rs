//! The progress of a request from one call to the next: reading the journal, deciding and appending
//! with optimistic concurrency and its retries, watching and resuming, halting.

use std::collections::VecDeque;
use std::sync::Arc;

use bahay_bots::Ai;
use bahay_engine::table::{Event, Input, Readable, Rejection, Table};
use bahay_engine::variants;

use super::follow_up_calls::{compaction_call, find_no_shows, is_idle, seat_change_calls};
use super::{Call, CallResult, Reply, Request, RequestTicket, TableHost, WatchRequest, terms};
use crate::context::{Context, HostEvent};
use crate::delivery::watchers::{Listing, Watch};
use crate::failure::{TableError, UnavailableError};
use crate::guard::catch_panic;
use crate::halting::Halt;
use crate::history::codec::write_line;
use crate::history::journal::{AppendOutcome, NewLine, Point, Tag, Tail};
use crate::history::replica::AppliedLine;
use crate::mutation::Mutation;

/// A request in progress.
#[derive(Debug)]
pub(super) struct Job<G: Readable> {
    pub(super) ticket: RequestTicket,
    pub(super) request: Request<G>,
    pub(super) origin: Origin,
    /// How often the input was decided on.
    attempts: u8,
    /// The replica was brought up to the journal for this request.
    is_fresh: bool,
    pub(super) stage: Stage<G>,
}

/// The origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Caller,
    /// A result of the ledger.
    Ledger,
    /// An effect of the table.
    Effect,
    /// An action of the AI.
    Ai,
    /// The host itself.
    Host,
}

/// The call whose result a request waits for.
#[derive(Debug)]
pub(super) enum Stage<G: Readable> {
    Begin,
    Subscribe,
    Tail {
        from: Point,
    },
    Load,
    /// A read of the journal for the lines that a viewer missed.
    Missed,
    Append(Box<Pending<G>>),
    Halt(Box<Halt>),
    /// Calls that may fail, and the step after them.
    FollowUps(Box<FollowUps<G>>),
}

/// Follow-up calls, made one after the other.
#[derive(Debug)]
pub(super) struct FollowUps<G: Readable> {
    calls: VecDeque<Call>,
    next: NextStep<G>,
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
    /// The line is a terms update; the request's own input follows it.
    is_terms: bool,
}

/// The step after the follow-up calls.
#[derive(Debug)]
pub(super) enum NextStep<G: Readable> {
    /// Resume the request; the table was just read.
    Resume,
    Done(Reply<G>),
}

/// The outcome of one step of a request.
pub(super) enum Progress<G: Readable> {
    Call(Job<G>, Call),
    Done(Job<G>, Reply<G>),
}

impl<G: Readable> Job<G> {
    pub(super) fn new(ticket: RequestTicket, request: Request<G>, origin: Origin) -> Self {
        Self { ticket, request, origin, attempts: 0, is_fresh: false, stage: Stage::Begin }
    }

    /// Returns the reply of a failed request.
    pub(super) fn failure_reply(&self, failure: TableError<G::Refusal>) -> Reply<G> {
        match &self.request {
            Request::Submit(_) => Reply::Submitted(Err(failure)),
            Request::Watch(_) => Reply::Watched(Err(failure)),
            Request::ReadTable | Request::RunEffects => Reply::Table(Err(failure)),
            variants!(Request: UpdateTerms, List, CatchUp, Unsubscribe,
                Halt) => Reply::Done(Err(failure)),
        }
    }

    pub(super) fn make_call(mut self, stage: Stage<G>, call: Call) -> Progress<G> {
        self.stage = stage;
        Progress::Call(self, call)
    }

    fn finish(self, reply: Reply<G>) -> Progress<G> {
        Progress::Done(self, reply)
    }

    pub(super) fn fail(self, failure: impl Into<TableError<G::Refusal>>) -> Progress<G> {
        let reply = self.failure_reply(failure.into());
        Progress::Done(self, reply)
    }
}

impl<G: Ai + Readable> TableHost<G> {
    /// Resumes a request. `is_just_read` is true if the journal was read for it just now.
    pub(super) fn resume(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        is_just_read: bool,
    ) -> Progress<G> {
        match &job.request {
            Request::Submit(_) => self.decide(ctx, job, is_just_read),
            Request::UpdateTerms => {
                let due =
                    self.replica.as_ref().and_then(|one| terms::pending_update(ctx, one.table()));
                if due.is_none() {
                    job.finish(Reply::Done(Ok(())))
                } else {
                    self.decide(ctx, job, is_just_read)
                }
            }
            Request::Watch(_) => {
                // The subscription precedes the read, so that lines published in between are not
                // lost.
                if !self.is_subscribed && !is_just_read {
                    return job.make_call(Stage::Subscribe, Call::Subscribe);
                }
                if !is_just_read { self.refresh(job) } else { self.start_watch(ctx, job) }
            }
            Request::ReadTable | Request::RunEffects => {
                if !is_just_read {
                    return self.refresh(job);
                }
                let table = self.replica.as_ref().map(|replica| replica.table().clone());
                job.finish(Reply::Table(Ok(table)))
            }
            Request::List => {
                if !is_just_read {
                    return self.refresh(job);
                }
                let listing = self.replica.as_ref().map(|one| Listing::from_table(one.table()));
                let calls = listing.into_iter().map(Call::List).collect();
                self.start_follow_ups(ctx, job, calls, NextStep::Done(Reply::Done(Ok(()))))
            }
            Request::CatchUp => {
                if is_just_read {
                    job.finish(Reply::Done(Ok(())))
                } else if self.watchers.is_empty() {
                    self.unsubscribe(ctx, job, NextStep::Done(Reply::Done(Ok(()))))
                } else {
                    self.refresh(job)
                }
            }
            Request::Unsubscribe => self.unsubscribe(ctx, job, NextStep::Done(Reply::Done(Ok(())))),
            Request::Halt(halt) => {
                let halt = halt.clone();
                job.is_fresh = true;
                self.halt(job, halt)
            }
        }
    }

    pub(super) fn advance_job(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        answer: CallResult,
    ) -> Progress<G> {
        match (std::mem::replace(&mut job.stage, Stage::Begin), answer) {
            (Stage::Subscribe, CallResult::Subscribed(true)) => {
                self.is_subscribed = true;
                self.refresh(job)
            }
            (Stage::Subscribe, CallResult::Subscribed(false)) => job.fail(TableError::Missing),
            (Stage::Tail { from }, CallResult::Tail(Tail::Lines(lines))) => {
                self.handle_tail(ctx, job, from, &lines)
            }
            (Stage::Tail { from }, CallResult::Tail(Tail::Halted(lines))) => {
                if matches!(job.request, Request::Submit(_)) {
                    self.is_stale |= !lines.is_empty();
                    return job.fail(TableError::Halted);
                }
                self.handle_tail(ctx, job, from, &lines)
            }
            (Stage::Tail { .. }, CallResult::Tail(Tail::Elsewhere | Tail::Missing)) => {
                self.replica = None;
                job.make_call(Stage::Load, Call::Load)
            }
            (Stage::Load, CallResult::Loaded(stored)) => self.handle_loaded(ctx, job, stored),
            (Stage::Missed, CallResult::Loaded(stored)) => {
                let missed = stored.and_then(|stored| self.read_missed_lines(ctx, &job, &stored));
                self.finish_watch(ctx, job, missed)
            }
            (Stage::Append(pending), CallResult::Append(append)) => {
                self.handle_append(ctx, job, *pending, append)
            }
            (Stage::Append(_), CallResult::Failed(error)) => {
                // The line may be stored or not, so the journal is read before the next decision.
                self.replica = None;
                self.is_stale = true;
                job.fail(error)
            }
            (Stage::Halt(halt), CallResult::Halted(is_new)) => {
                self.handle_halted(ctx, job, *halt, is_new)
            }
            (Stage::FollowUps(follow_ups), answer) => {
                match (answer, follow_ups.compacting, &mut self.replica) {
                    (CallResult::Compacted(true), Some(at), Some(replica)) => {
                        replica.mark_compacted(at);
                        ctx.record(self.id, HostEvent::Compacted);
                    }
                    (CallResult::Failed(error), ..) => {
                        ctx.record(
                            self.id,
                            HostEvent::FollowUpFailed("follow-up", &error.to_string()),
                        );
                    }
                    _ => {}
                }
                self.run_follow_ups(ctx, job, follow_ups)
            }
            (_, CallResult::Failed(error)) => job.fail(error),
            (stage, answer) => {
                let message = format!("{answer:?} is no answer to {stage:?}");
                job.fail(UnavailableError(message))
            }
        }
    }

    pub(super) fn resume_after_read(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
    ) -> Progress<G> {
        job.is_fresh = true;
        self.resume(ctx, job, true)
    }

    fn decide(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        is_just_read: bool,
    ) -> Progress<G> {
        let Some(replica) = &self.replica else {
            return if is_just_read { job.fail(TableError::Missing) } else { self.refresh(job) };
        };
        job.attempts += 1;
        if job.attempts > ctx.limits().decide_attempts {
            return job.fail(UnavailableError("too many concurrent appends at this table".into()));
        }
        if !ctx.knows_time() {
            return job.fail(unknown_time());
        }
        // A terms update precedes every other input.
        let table = replica.table();
        let terms = terms::pending_update(ctx, table);
        let is_terms = terms.is_some();
        let input = match (terms, &job.request) {
            (Some(terms), _) => terms,
            (None, Request::Submit(input)) => input.clone(),
            (None, _) => return job.finish(Reply::Done(Ok(()))),
        };
        let decided = catch_panic(|| {
            ctx.before_engine(table);
            let decided = table.decide(ctx.now(), input, || ctx.fresh())?;
            let deadline = decided.table.deadline();
            Ok((decided, deadline))
        });
        let (transition, deadline) = match decided {
            Ok(Ok(decided)) => decided,
            Ok(Err(Rejection::AlreadyConnected))
                if !job.is_fresh && ctx.has_mutation(Mutation::ReadsOverPublications) =>
            {
                return job.make_call(Stage::Load, Call::Load);
            }
            // The replica may be stale, or the table halted. Only a rejection on a fresh replica is
            // final.
            Ok(Err(_)) if !job.is_fresh => return self.refresh(job),
            Ok(Err(rejection)) => return job.fail(TableError::Rejected(rejection)),
            Err(panic) => {
                let halt = Halt::from_replica(replica, panic);
                return self.halt(job, halt);
            }
        };
        let line = match write_line::<G>(&transition.line) {
            Ok(line) => line,
            Err(error) => return job.fail(UnavailableError(error.to_string())),
        };
        let after = replica.point();
        let tag = ctx.new_tag();
        let engine = table.engine();
        let idle_ms = is_idle(&transition.table).then_some(ctx.limits().idle_ms);
        let new = NewLine { after, tag, engine, line, deadline, idle_ms };
        let table = Arc::new(transition.table);
        let events = transition.events;
        let pending = Box::new(Pending { table, events, after, tag, is_terms });
        job.make_call(Stage::Append(pending), Call::Append(new))
    }

    fn handle_append(
        &mut self,
        ctx: &impl Context<G>,
        mut job: Job<G>,
        pending: Pending<G>,
        append: AppendOutcome,
    ) -> Progress<G> {
        match append {
            AppendOutcome::Appended => self.apply_stored(ctx, job, pending),
            AppendOutcome::Behind(lines) => {
                job.is_fresh = true;
                let known =
                    self.replica.as_ref().and_then(|one| one.count_known(pending.after, &lines));
                match known.map(|known| self.follow_lines(ctx, &lines[known..])) {
                    Some(Ok(())) => {}
                    Some(Err(error)) => self.discard_replica(ctx, &error),
                    None => self.replica = None,
                }
                self.resume(ctx, job, false)
            }
            AppendOutcome::Halted => job.fail(TableError::Halted),
            AppendOutcome::Elsewhere | AppendOutcome::Missing => {
                self.replica = None;
                self.resume(ctx, job, false)
            }
        }
    }

    /// Applies a stored line: replaces the replica, notifies the watchers and starts the calls that
    /// follow from changed seats.
    fn apply_stored(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        pending: Pending<G>,
    ) -> Progress<G> {
        let Pending { table, events, after, tag, is_terms } = pending;
        let version = after.version + 1;
        let mut calls = VecDeque::new();
        match &mut self.replica {
            Some(replica) if replica.point() == after => {
                let before = replica.table().clone();
                let applied = replica.advance(table, events, tag, ctx.limits());
                self.watchers.send_line(ctx, replica, &applied);
                calls = seat_change_calls(replica.table(), &applied);
                let no_shows = find_no_shows(&before, &applied, replica.table().last_line_at());
                calls.extend(no_shows.into_iter().map(Call::RecordNoShow));
                calls.extend(compaction_call(ctx, replica));
            }
            // A subscriber also receives its own lines once another process has subscribed. This
            // line was published before the append's response, and was applied and delivered then.
            Some(replica) if replica.contains_point(Point { version, tag }) => {
                let applied = AppliedLine { at: Point { version, tag }, events: events.into() };
                calls = seat_change_calls(replica.table(), &applied);
                calls.extend(compaction_call(ctx, replica));
            }
            // Lines of another history were published meanwhile.
            Some(_) | None => {
                self.replica = None;
                self.is_stale = true;
            }
        }
        if is_terms {
            return self.start_follow_ups(ctx, job, calls, NextStep::Resume);
        }
        if matches!(job.request, Request::Submit(Input::Act { .. })) {
            ctx.record(self.id, HostEvent::ActionStored);
        }
        self.start_follow_ups(ctx, job, calls, NextStep::Done(Reply::Submitted(Ok(version))))
    }

    fn start_watch(&mut self, ctx: &impl Context<G>, job: Job<G>) -> Progress<G> {
        let from = match &job.request {
            Request::Watch(WatchRequest { from, .. }) => *from,
            _ => None,
        };
        match (from, &self.replica) {
            (Some(from), Some(replica)) => match replica.lines_since(from) {
                Some(mut missed) => {
                    if ctx.has_mutation(Mutation::ResumesTooLate) && missed.len() > 1 {
                        missed.remove(0);
                    }
                    ctx.record(self.id, HostEvent::ResumedFromMemory);
                    self.finish_watch(ctx, job, Some(missed))
                }
                None => job.make_call(Stage::Missed, Call::Load),
            },
            (None, _) | (_, None) => self.finish_watch(ctx, job, None),
        }
    }

    fn finish_watch(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        missed: Option<Vec<AppliedLine<G>>>,
    ) -> Progress<G> {
        // A snapshot shows the time, so the time must be known.
        if !ctx.knows_time() {
            return job.fail(unknown_time());
        }
        let (Some(replica), Request::Watch(watch)) = (&self.replica, &job.request) else {
            return job.fail(TableError::Missing);
        };
        let at = replica.point();
        let table = replica.table().clone();
        let last_visible = replica.last_visible().clone();
        let notices = self.watchers.add(watch.connection, watch.writer.clone());
        job.finish(Reply::Watched(Ok(Watch { at, last_visible, table, missed, notices })))
    }

    /// Halts the table over a fault in a request.
    pub(super) fn halt(&mut self, job: Job<G>, halt: Halt) -> Progress<G> {
        self.replica = None;
        let call = Call::Halt { engine: halt.engine, reason: halt.reason.clone() };
        job.make_call(Stage::Halt(Box::new(halt)), call)
    }

    /// Handles the halt mark, which precedes everything else. The process that set the mark records
    /// the halt for operators.
    fn handle_halted(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        halt: Halt,
        is_new: bool,
    ) -> Progress<G> {
        let reply = match &job.request {
            Request::Halt(_) => Reply::Done(Ok(())),
            _ => job.failure_reply(TableError::Halted),
        };
        if !is_new {
            return job.finish(reply);
        }
        let Halt { room, version, reason, .. } = &halt;
        let event = HostEvent::Halted { room: room.as_deref(), version: *version, reason };
        ctx.record(self.id, event);
        let unlist = room.clone().map(|room| Call::Unlist { room });
        let calls = unlist.into_iter().chain([Call::RecordHalt(halt)]).collect();
        self.start_follow_ups(ctx, job, calls, NextStep::Done(reply))
    }

    pub(super) fn unsubscribe(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        next: NextStep<G>,
    ) -> Progress<G> {
        // A failed unsubscription costs only publications that nobody reads.
        let was_subscribed = std::mem::take(&mut self.is_subscribed);
        let calls = was_subscribed.then_some(Call::Unsubscribe).into_iter().collect();
        self.start_follow_ups(ctx, job, calls, next)
    }

    /// Starts calls that only inform others. A failure is corrected by the next process that finds
    /// the inconsistency.
    fn start_follow_ups(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        calls: VecDeque<Call>,
        next: NextStep<G>,
    ) -> Progress<G> {
        match (calls.is_empty(), next) {
            (true, NextStep::Done(reply)) => job.finish(reply),
            (_, next) => {
                let follow_ups = Box::new(FollowUps { calls, next, compacting: None });
                self.run_follow_ups(ctx, job, follow_ups)
            }
        }
    }

    fn run_follow_ups(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        mut follow_ups: Box<FollowUps<G>>,
    ) -> Progress<G> {
        let Some(call) = follow_ups.calls.pop_front() else {
            return match follow_ups.next {
                NextStep::Done(reply) => job.finish(reply),
                NextStep::Resume => self.resume_after_read(ctx, job),
            };
        };
        follow_ups.compacting = match &call {
            Call::Compact { at, .. } => Some(*at),
            _ => None,
        };
        job.make_call(Stage::FollowUps(follow_ups), call)
    }
}

fn unknown_time() -> UnavailableError {
    UnavailableError("the time of this table is not known yet".into())
}
