//! How a host reads its table's journal: what is new after its replica, or the whole where it has none,
//! and what a viewer has missed.
//!
//! Lines may be published while the journal is read. They are followed at once, and what was read
//! never takes their place: a journal is read whole only where there is no replica.

use bahay_engine::table::Readable;

use super::job::{Job, Progress, Stage, Then};
use super::{Call, Request, TableHost, WatchRequest};
use crate::context::{Context, Remark};
use crate::failure::Failure;
use crate::halting::Halt;
use crate::journal::{Entry, Point, Stored};
use crate::notice::Ending;
use crate::replica::{AppliedLine, Replayed, Replica, Unfollowed};

impl<G: Readable> TableHost<G> {
    /// Brings the replica up to the journal.
    pub(super) fn refresh(&mut self, job: Job<G>) -> Progress<G> {
        self.is_doubtful = false;
        match &self.replica {
            Some(replica) => {
                let from = replica.at();
                job.call(Stage::Tail { from }, Call::Tail { from })
            }
            None => job.call(Stage::Load, Call::Load),
        }
    }

    pub(super) fn tailed(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        from: Point,
        lines: &[Entry],
    ) -> Progress<G> {
        // Published meanwhile, some of them may be known.
        let known = match &self.replica {
            Some(_) if lines.is_empty() => Some(0),
            Some(replica) => replica.known_of(from, lines),
            None => None,
        };
        let Some(known) = known else {
            self.replica = None;
            return job.call(Stage::Load, Call::Load);
        };
        match self.follow_all(ctx, &lines[known..]) {
            Ok(()) => self.was_read(ctx, job),
            Err(error) => {
                self.read_again(ctx, &error);
                job.call(Stage::Load, Call::Load)
            }
        }
    }

    pub(super) fn loaded(
        &mut self,
        ctx: &impl Context<G>,
        job: Job<G>,
        stored: Option<Stored>,
    ) -> Progress<G> {
        let is_halted = stored.as_ref().is_some_and(|stored| stored.halted.is_some());
        if is_halted && matches!(job.request, Request::Submit(_)) {
            return job.failed(Failure::Halted);
        }
        self.replica = None;
        let Some(mut stored) = stored else {
            // A table that is gone does not come back under these watchers' versions, and does not
            // know that anybody listened.
            self.watchers.end(Ending::Lost);
            return self.unsubscribe(ctx, job, Then::GoOn);
        };
        let version = Some(stored.version());
        let engine = stored.engine;
        let told = self.watchers.told();
        // Lines that the watchers have not been told yet, where they follow what they were told.
        let mut untold = told.and_then(|told| stored.split_after(told));
        let is_continued = untold.is_some();
        if let Some(lines) = untold.take_if(|lines| lines.len() > ctx.limits().notices) {
            stored.lines.extend(lines);
        }
        let replayed = Replica::replay(&stored, None, ctx.limits()).and_then(|replayed| {
            self.replica = Some(replayed.replica);
            self.follow_all(ctx, untold.as_deref().unwrap_or_default())
        });
        match replayed {
            Ok(()) => {
                self.tell_anew(ctx, told.filter(|_| !is_continued));
                self.was_read(ctx, job)
            }
            Err(Unfollowed::OtherVersion(engine)) => {
                ctx.remark(self.id, Remark::OtherVersion(engine));
                job.failed(Failure::OtherVersion)
            }
            Err(Unfollowed::Broken(reason)) => {
                let halt = Halt { table: self.id, room: None, version, engine, reason };
                self.halt(job, halt)
            }
        }
    }

    /// Shows the watchers the whole table, unless they were told of exactly this. `parted`: the point
    /// that they were told of, where the journal does not lead from there to here.
    fn tell_anew(&mut self, ctx: &impl Context<G>, parted: Option<Point>) {
        let Some(replica) = &self.replica else {
            return;
        };
        // A snapshot may have taken the place of what comes before it, and hides whether it parted.
        if let Some(told) = parted.filter(|told| replica.begins_before(*told)) {
            ctx.remark(self.id, Remark::Parted { told, now: replica.at() });
        }
        self.watchers.tell_anew(ctx, replica, parted.is_some());
    }

    /// Returns what happened after the line that a viewer named up to now, from the journal and from what was
    /// published since it was read; `None` where they do not lead through both points. The journal
    /// replayed a moment ago; if it does so no more, the whole table is shown.
    pub(super) fn missed(
        &self,
        ctx: &impl Context<G>,
        job: &Job<G>,
        stored: &Stored,
    ) -> Option<Vec<AppliedLine<G>>> {
        let Request::Watch(WatchRequest { from, .. }) = &job.request else {
            return None;
        };
        let replica = self.replica.as_ref()?;
        let Replayed { replica: read, missed } =
            Replica::<G>::replay(stored, *from, ctx.limits()).ok()?;
        let mut missed = missed?;
        match missed.iter().position(|missed| missed.at == replica.at()) {
            Some(last) => missed.truncate(last + 1),
            None => missed.extend(replica.missed_since(read.at().tag)?),
        }
        Some(missed)
    }
}
