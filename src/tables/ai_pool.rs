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
use bahay_shell::AiRequest;
use tokio::sync::oneshot;

use crate::entropy;
use crate::metrics::Counts;

/// How long a thought may take where nothing else is said. One that takes longer is left.
pub const AI_TIMEOUT: Duration = Duration::from_millis(250);

/// The lowest priority that Linux knows, of a thread that shares its processor.
const NICE: i32 = 19;

/// The threads, once they are begun.
#[derive(Debug)]
pub(super) struct AiPool<G: Readable> {
    started: OnceLock<StartedPool<G>>,
    /// Moves, by what became of them.
    counts: Counts,
}

#[derive(Debug)]
struct StartedPool<G: Readable> {
    jobs: SyncSender<AiJob<G>>,
    /// A thought that takes longer is left.
    timeout: Duration,
}

/// A move to think about.
#[derive(Debug)]
struct AiJob<G: Readable> {
    request: AiRequest<G>,
    answer: oneshot::Sender<Option<Input<G::Action>>>,
}

impl<G: Readable> Default for AiPool<G> {
    fn default() -> Self {
        Self { started: OnceLock::new(), counts: Counts::default() }
    }
}

impl<G: Readable> AiPool<G> {
    /// Begins so many threads. Only the first call counts.
    pub(super) fn start(&self, count: u8, timeout: Duration) -> std::io::Result<()> {
        // Nothing waits in between: a job is taken by a thread that is free, or not at all.
        let (sender, jobs) = sync_channel(0);
        if count == 0 || self.started.set(StartedPool { jobs: sender, timeout }).is_err() {
            return Ok(());
        }
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..count {
            let jobs = jobs.clone();
            thread::Builder::new().name("ai-worker".into()).spawn(move || run_worker(&jobs))?;
        }
        Ok(())
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What the AI that plays on says; `None` where nobody has time for it.
    pub(super) async fn choose_action(&self, request: AiRequest<G>) -> Option<Input<G::Action>> {
        let (answer, answered) = oneshot::channel();
        let started = self.started.get()?;
        match started.jobs.try_send(AiJob { request, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.counts.increment("outcome", "busy");
                return None;
            }
        }
        let action = tokio::time::timeout(started.timeout, answered).await;
        let outcome = match &action {
            Ok(Ok(Some(_))) => "played",
            Ok(_) => "failed",
            Err(_) => "late",
        };
        self.counts.increment("outcome", outcome);
        action.ok()?.ok()?
    }
}

/// One thread, until the process ends or nobody has anything to think about any more.
fn run_worker<G: Readable>(jobs: &Mutex<Receiver<AiJob<G>>>) {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "the priority of an AI worker could not be lowered");
    }
    loop {
        // Locked while it waits: one of the free threads is the next.
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(AiJob { request, answer }) = next else {
            return;
        };
        let key = Key(Hex(entropy::seed()));
        let action = catch_unwind(AssertUnwindSafe(|| {
            request.table.ai_question(request.seat).and_then(|question| arena::answer_question(&question, key))
        }));
        let action = action.unwrap_or_else(|_| {
            tracing::error!(table = %request.table.id(), "the AI of a taken-over player panicked");
            None
        });
        // Nobody waits for it any more.
        let _ = answer.send(action);
    }
}
