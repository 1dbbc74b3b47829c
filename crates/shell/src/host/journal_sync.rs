//! Brings a host's replica up to its table's journal: reads the new lines, or the whole journal if
//! there is no replica, and the lines that a viewer missed.
//!
//! Lines may be published during a read. They are applied at once, and the result of the read never
//! replaces them: the whole journal is read only if there is no replica.

use bahay_bots::Ai;
use bahay_engine::table::Readable;

use super::job::{Job, NextStep, Progress, Stage};
use super::{Call, Request, TableHost, WatchRequest};
use crate::context::{Context, HostEvent};
use crate::delivery::notice::WatchEnd;
use crate::failure::TableError;
use crate::halting::Halt;
use crate::history::journal::{JournalEntry, Point, StoredTable};
use crate::history::replica::{AppliedLine, ReplayError, ReplayedTable, Replica};

impl<G: Ai + Readable> TableHost<G> {
    /// Brings the replica up to the journal.
    pub(super) fn refresh(&mut self, job: Job<G>) -> Progress<G> {
        self.is_stale = false;
        match &self.replica {
            Some(replica) => {
                let from = replica.point();
                job.make_call(Stage::Tail { from }, Call::Tail { from })
            }
            None => job.make_call(Stage::Load, Call::Load),
        }
    }

    pub(super) fn handle_tail(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        from: Point,
        lines: &[JournalEntry],
    ) -> Progress<G> {
        // Some of these lines may have been published and applied meanwhile.
        let known = match &self.replica {
            Some(_) if lines.is_empty() => Some(0),
            Some(replica) => replica.count_known(from, lines),
            None => None,
        };
        let Some(known) = known else {
            self.replica = None;
            return job.make_call(Stage::Load, Call::Load);
        };
        match self.follow_lines(ctx, &lines[known..]) {
            Ok(()) => self.resume_after_read(ctx, job),
            Err(error) => {
                self.discard_replica(ctx, &error);
                job.make_call(Stage::Load, Call::Load)
            }
        }
    }

    pub(super) fn handle_loaded(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        stored: Option<StoredTable>,
    ) -> Progress<G> {
        let is_halted = stored.as_ref().is_some_and(|stored| stored.halted.is_some());
        if is_halted && matches!(job.request, Request::Submit(_)) {
            return job.fail(TableError::Halted);
        }
        self.replica = None;
        let Some(mut stored) = stored else {
            // A table that no longer exists does not return under these watchers' versions, and its
            // new copy has no subscription of this process.
            self.watchers.close_all(WatchEnd::Lost);
            return self.unsubscribe(ctx, job, NextStep::Resume);
        };
        let version = Some(stored.version());
        let engine = stored.engine;
        let delivered = self.watchers.last_sent();
        // Lines that the watchers have not received, if the journal continues what they have.
        let mut undelivered = delivered.and_then(|delivered| stored.split_after(delivered));
        let is_continued = undelivered.is_some();
        if let Some(lines) = undelivered.take_if(|lines| lines.len() > ctx.limits().queued_notices)
        {
            stored.lines.extend(lines);
        }
        let replayed = Replica::replay(&stored, None, ctx.limits()).and_then(|replayed| {
            self.replica = Some(replayed.replica);
            self.follow_lines(ctx, undelivered.as_deref().unwrap_or_default())
        });
        match replayed {
            Ok(()) => {
                self.send_snapshot(ctx, delivered.filter(|_| !is_continued));
                self.resume_after_read(ctx, job)
            }
            Err(ReplayError::OtherVersion(engine)) => {
                ctx.record(self.id, HostEvent::OtherVersion(engine));
                job.fail(TableError::OtherVersion)
            }
            Err(error @ ReplayError::Broken(_)) => {
                let reason = error.to_string();
                let halt = Halt { table: self.id, room: None, version, engine, reason };
                self.halt(job, halt)
            }
        }
    }

    /// Sends the watchers a snapshot unless they have exactly this state. `diverged_from` is the
    /// last delivered point if the journal does not lead from there to here.
    fn send_snapshot(&mut self, ctx: &impl Context<G>, diverged_from: Option<Point>) {
        let Some(replica) = &self.replica else { return };
        // A snapshot may have replaced the lines before it, which hides whether the history
        // diverged.
        if let Some(delivered) =
            diverged_from.filter(|delivered| replica.reaches_back_to(*delivered))
        {
            ctx.record(self.id, HostEvent::HistoryDiverged { delivered, now: replica.point() });
        }
        self.watchers.send_snapshot(ctx, replica, diverged_from.is_some());
    }

    /// Returns the lines after the one that a viewer named, from the journal and from publications
    /// since the read. Returns `None` if these do not lead through both points. The journal
    /// replayed a moment ago; if it no longer does, the viewer gets a snapshot.
    pub(super) fn read_missed_lines(
        &self,
        ctx: &impl Context<G>,
        job: &Job<G>,
        stored: &StoredTable,
    ) -> Option<Vec<AppliedLine<G>>> {
        let Request::Watch(WatchRequest { from, .. }) = &job.request else { return None };
        let replica = self.replica.as_ref()?;
        let ReplayedTable { replica: read, missed } =
            Replica::<G>::replay(stored, *from, ctx.limits()).ok()?;
        let mut missed = missed?;
        match missed.iter().position(|missed| missed.at == replica.point()) {
            Some(last) => missed.truncate(last + 1),
            None => missed.extend(replica.lines_since(read.point().tag)?),
        }
        Some(missed)
    }
}
