//! Threads that think about the moves of players who are taken over. The AI that plays on takes
//! milliseconds for a move, so it gets only the processor time that nobody else of this machine wants:
//! these threads have the lowest priority, there are few of them, and none waits in a queue. Where all
//! of them are busy, or one does not come to its answer in time, the quick AI plays.
//!
//! What is thought of a move is an input like any other. A process that dies while it thinks loses
//! nothing: the table is due again, and whoever attends to it then thinks anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use bahay_engine::arena;
use bahay_engine::chance::Key;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Input, Readable};
use bahay_shell::ThoughtCall;
use tokio::sync::oneshot;

use crate::entropy;
use crate::metrics::Counts;

/// How long a thought may take where nothing else is said. One that takes longer is left.
pub const THINKING_PATIENCE: Duration = Duration::from_millis(250);

/// The lowest priority that Linux knows, of a thread that shares its processor.
const NICE: i32 = 19;

/// The threads, once they are begun.
#[derive(Debug)]
pub(super) struct Thinkers<G: Readable> {
    begun: OnceLock<Begun<G>>,
    /// Moves, by what became of them.
    counts: Counts,
}

#[derive(Debug)]
struct Begun<G: Readable> {
    free: SyncSender<Job<G>>,
    /// A thought that takes longer is left.
    patience: Duration,
}

/// A move to think about.
#[derive(Debug)]
struct Job<G: Readable> {
    call: ThoughtCall<G>,
    answer: oneshot::Sender<Option<Input<G::Action>>>,
}

impl<G: Readable> Default for Thinkers<G> {
    fn default() -> Self {
        Self { begun: OnceLock::new(), counts: Counts::default() }
    }
}

impl<G: Readable> Thinkers<G> {
    /// Begins so many threads. Only the first call counts.
    pub(super) fn begin(&self, count: u8, patience: Duration) -> std::io::Result<()> {
        // Nothing waits in between: a job is taken by a thread that is free, or not at all.
        let (free, jobs) = sync_channel(0);
        if count == 0 || self.begun.set(Begun { free, patience }).is_err() {
            return Ok(());
        }
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..count {
            let jobs = jobs.clone();
            thread::Builder::new().name("thinker".into()).spawn(move || think(&jobs))?;
        }
        Ok(())
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the AI that plays on says; `None` where nobody has time for it.
    pub(super) async fn think(&self, call: ThoughtCall<G>) -> Option<Input<G::Action>> {
        let (answer, answered) = oneshot::channel();
        let begun = self.begun.get()?;
        match begun.free.try_send(Job { call, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.counts.increment("outcome", "busy");
                return None;
            }
        }
        let thought = tokio::time::timeout(begun.patience, answered).await;
        let outcome = match &thought {
            Ok(Ok(Some(_))) => "played",
            Ok(_) => "failed",
            Err(_) => "late",
        };
        self.counts.increment("outcome", outcome);
        thought.ok()?.ok()?
    }
}

/// One thread, until the process ends or nobody has anything to think about any more.
fn think<G: Readable>(jobs: &Mutex<Receiver<Job<G>>>) {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "who thinks for players who are taken over has no lower priority");
    }
    loop {
        // Locked while it waits: one of the free threads is the next.
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { call, answer }) = next else {
            return;
        };
        let key = Key(Hex(entropy::seed()));
        let thought = catch_unwind(AssertUnwindSafe(|| {
            call.table.ai_question(call.seat).and_then(|question| arena::answer_question(&question, key))
        }));
        let thought = thought.unwrap_or_else(|_| {
            tracing::error!(table = %call.table.id(), "the AI that plays on has failed");
            None
        });
        // Nobody waits for it any more.
        let _ = answer.send(thought);
    }
}
