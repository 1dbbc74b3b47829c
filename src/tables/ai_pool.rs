//! A pool of threads that choose actions for taken-over seats. The strong AI needs milliseconds per
//! action, so its workers get only processor time that nothing else on the machine wants: they have
//! the lowest priority, they are few, and there is no queue. If all of them are busy, or one
//! exceeds the timeout, the quick AI acts.
//!
//! The AI's action is an input like any other. A process that dies during a search loses nothing:
//! the table is due again, and the next process that runs its effects starts a new search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use bahay_bots::Ai;
use bahay_bots::search;
use bahay_bots::table::ai_question;
use bahay_engine::chance::Key;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Input, Readable};
use bahay_shell::AiRequest;
use tokio::sync::oneshot;

use crate::entropy;
use crate::metrics::CounterFamily;

/// The default timeout of an AI request.
pub const AI_TIMEOUT: Duration = Duration::from_millis(250);

/// The lowest priority of a Linux thread that shares its processor.
const NICE: i32 = 19;

/// The pool, whose threads start with [`AiPool::start`].
#[derive(Debug)]
pub(super) struct AiPool<G: Ai + Readable> {
    started: OnceLock<StartedPool<G>>,
    /// AI requests, by outcome.
    counts: CounterFamily,
}

/// The channel to the running workers.
#[derive(Debug)]
struct StartedPool<G: Ai + Readable> {
    jobs: SyncSender<AiJob<G>>,
    /// The timeout of an AI request.
    timeout: Duration,
}

/// A request for a worker.
#[derive(Debug)]
struct AiJob<G: Ai + Readable> {
    request: AiRequest<G>,
    answer: oneshot::Sender<Option<Input<G::Action>>>,
}

impl<G: Ai + Readable> Default for AiPool<G> {
    fn default() -> Self {
        let counts = CounterFamily::default();
        counts.expose("outcome", &["played", "late", "busy", "failed"]);
        Self { started: OnceLock::new(), counts }
    }
}

impl<G: Ai + Readable> AiPool<G> {
    /// Starts the workers. Only the first call has an effect.
    pub(super) fn start(&self, count: u8, timeout: Duration) -> std::io::Result<()> {
        // The channel has no buffer: an idle worker takes a job, or the job is rejected.
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

    pub(super) fn counts(&self) -> &CounterFamily {
        &self.counts
    }

    /// Returns the strong AI's action, or `None` if no worker is free, the AI fails or the timeout
    /// passes.
    pub(super) async fn choose_action(&self, request: AiRequest<G>) -> Option<Input<G::Action>> {
        let (answer, answered) = oneshot::channel();
        let started = self.started.get()?;
        if started.jobs.try_send(AiJob { request, answer }).is_err() {
            self.counts.increment("outcome", "busy");
            return None;
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

/// Runs one worker until the pool is dropped.
fn run_worker<G: Ai + Readable>(jobs: &Mutex<Receiver<AiJob<G>>>) {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "the priority of an AI worker could not be lowered");
    }
    loop {
        // The lock is held during the wait, so that exactly one idle worker takes the next job.
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(AiJob { request, answer }) = next else {
            return;
        };
        let key = Key(Hex(entropy::seed()));
        let action = catch_unwind(AssertUnwindSafe(|| {
            ai_question(&request.table, request.seat)
                .and_then(|question| search::answer_question(&question, key))
        }));
        let action = action.unwrap_or_else(|_| {
            tracing::error!(table = %request.table.id(), "the AI of a taken-over player panicked");
            None
        });
        // The requester may have timed out.
        let _ = answer.send(action);
    }
}
