//! The worker: takes due jobs, runs their handlers, and ends their attempts.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bahay_db::retry;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Job;
use super::queue::{self, Attempt, LEASE, Stats, TakenJob};

/// The interval between two checks for due jobs.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The number of jobs that a process runs at once: more than there are periodic ones, so that long
/// runs do not hold up the others.
const RUNNING_MAX: usize = 8;

/// The time that running jobs get to end when the process stops. The others are handed back.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// The back-off of failed jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The number of attempts, after which a job is dead.
    pub attempts_max: i32,
    /// The delay after the first failure, doubled by each further one up to `delay_max`, and at
    /// most the period of a periodic job.
    pub first_delay: Duration,
    pub delay_max: Duration,
}

impl Default for Retries {
    /// Returns twelve attempts, with pauses of two hours and 25 minutes in all.
    fn default() -> Self {
        let delay_max = Duration::from_hours(1);
        Self { attempts_max: 12, first_delay: Duration::from_secs(5), delay_max }
    }
}

impl Retries {
    /// Returns the delay after this attempt, from 1.
    fn delay_after(self, attempt: i32) -> Duration {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or_default();
        self.first_delay.saturating_mul(1 << doublings.min(24)).min(self.delay_max)
    }
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The job will be repeated.
    Failed,
    /// The job is a dead letter.
    Dead,
}

type HandlerFn = dyn Fn(Value, Attempt) -> BoxFuture<'static, Result<(), String>> + Send + Sync;

#[derive(Clone)]
struct Handler {
    run: Arc<HandlerFn>,
    period: Option<Duration>,
}

impl Handler {
    /// Runs one attempt. A panic is a failure, whether the handler or its future panics.
    async fn attempt_job(&self, payload: Value, attempt: Attempt) -> Result<(), String> {
        let called = async { (self.run)(payload, attempt).await };
        let called = AssertUnwindSafe(called).catch_unwind().await;
        called.unwrap_or_else(|_| Err("the handler panicked".to_owned()))
    }
}

/// Runs jobs by their handlers.
#[derive(Clone)]
pub struct Worker {
    pool: PgPool,
    retries: Retries,
    handlers: BTreeMap<&'static str, Handler>,
    observe: Arc<dyn Fn(&'static str, Outcome) + Send + Sync>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("jobs", &self.handlers.keys()).finish_non_exhaustive()
    }
}

impl Worker {
    pub fn new(pool: PgPool) -> Self {
        let retries = Retries::default();
        Self { pool, retries, handlers: BTreeMap::new(), observe: Arc::new(|_, _| {}) }
    }

    #[must_use]
    pub fn with_retries(self, retries: Retries) -> Self {
        Self { retries, ..self }
    }

    /// Calls `observe` at the end of each attempt, for metrics.
    #[must_use]
    pub fn with_observer(
        self,
        observe: impl Fn(&'static str, Outcome) + Send + Sync + 'static,
    ) -> Self {
        Self { observe: Arc::new(observe), ..self }
    }

    /// Registers the handler of a kind of job.
    #[must_use]
    pub fn with_job<J: Job, F, E>(
        self,
        handler: impl Fn(J, Attempt) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display,
    {
        let run = move |payload, attempt| -> BoxFuture<'static, _> {
            match serde_json::from_value(payload) {
                Ok(job) => {
                    let done = handler(job, attempt);
                    async move { done.await.map_err(|error| error.to_string()) }.boxed()
                }
                Err(error) => {
                    async move { Err(format!("the payload cannot be read: {error}")) }.boxed()
                }
            }
        };
        self.with_handler(J::NAME, run, None)
    }

    /// Registers a periodic job: one run in a period on all nodes together, the first at once and
    /// each further one at the beginning of a period, counted from 1970.
    #[must_use]
    pub fn every<F, E>(
        self,
        period: Duration,
        name: &'static str,
        handler: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display,
    {
        let run = move |_, _| -> BoxFuture<'static, _> {
            let done = handler();
            async move { done.await.map_err(|error| error.to_string()) }.boxed()
        };
        self.with_handler(name, run, Some(period))
    }

    fn with_handler(
        mut self,
        name: &'static str,
        run: impl Fn(Value, Attempt) -> BoxFuture<'static, Result<(), String>> + Send + Sync + 'static,
        period: Option<Duration>,
    ) -> Self {
        let earlier = self.handlers.insert(name, Handler { run: Arc::new(run), period });
        debug_assert!(earlier.is_none(), "the job {name} has two handlers");
        self
    }

    /// Runs due jobs until the process stops. Running jobs then get a short time to end; the others
    /// are handed back, so that another node takes them at once.
    pub async fn run(self, mut stopping: watch::Receiver<bool>) {
        let names = self.names();
        let stop = stopping.clone();
        let mut running = JoinSet::new();
        let mut are_scheduled = false;
        let mut ticks = interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // A dropped sender means that the server has stopped as well.
                _ = stopping.wait_for(|stop| *stop) => break,
                Some(_) = running.join_next() => {}
                _ = ticks.tick() => {}
            }
            if !are_scheduled {
                are_scheduled = self.schedule_runs().await.inspect_err(log_failure).is_ok();
            }
            while running.len() < RUNNING_MAX {
                let taken = queue::take_job(&self.pool, &names).await.inspect_err(log_failure);
                let Ok(Some(job)) = taken else { break };
                let worker = self.clone();
                let mut stop = stop.clone();
                running.spawn(async move {
                    let stop = async {
                        let _ = stop.wait_for(|stop| *stop).await;
                        sleep(STOP_GRACE).await;
                    };
                    worker.perform_job(job, stop).await;
                });
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Runs all due jobs, one after the other, and returns their number; for tests.
    ///
    /// # Errors
    /// If the queue cannot be read. A failed job is no error.
    pub async fn run_jobs(&self) -> Result<u32, sqlx::Error> {
        self.schedule_runs().await?;
        let mut number = 0;
        while let Some(job) = queue::take_job(&self.pool, &self.names()).await? {
            self.perform_job(job, pending()).await;
            number += 1;
        }
        Ok(number)
    }

    /// Returns the state of the queue, as far as this worker knows the jobs.
    pub async fn read_stats(&self) -> Result<Stats, sqlx::Error> {
        queue::read_stats(&self.pool, &self.names()).await
    }

    fn names(&self) -> Vec<String> {
        self.handlers.keys().map(|name| (*name).to_owned()).collect()
    }

    async fn schedule_runs(&self) -> Result<(), sqlx::Error> {
        for (name, handler) in &self.handlers {
            if let Some(period) = handler.period {
                retry(|| queue::schedule_run(&self.pool, name, period)).await?;
            }
        }
        Ok(())
    }

    /// Performs a job, unless its lease is lost or `stop` comes first.
    async fn perform_job(&self, job: TakenJob, stop: impl Future<Output = ()> + Send) {
        let TakenJob { name, payload, attempt } = job;
        let Some((&name, handler)) = self.handlers.get_key_value(name.as_str()) else { return };
        let result = if attempt.number > self.retries.attempts_max {
            Err("each process that took the job ended before it".to_owned())
        } else {
            tokio::select! {
                result = handler.attempt_job(payload, attempt) => result,
                () = self.hold_lease(attempt) => {
                    tracing::warn!(job = name, "a job was taken by another process meanwhile");
                    return;
                }
                () = stop => {
                    let _ = attempt.hand_back(&self.pool).await.inspect_err(log_failure);
                    return;
                }
            }
        };
        let (outcome, ended) = self.end_attempt(name, handler, attempt, result).await;
        (self.observe)(name, outcome);
        // The job runs again when its lease has ended.
        let _ = ended.inspect_err(log_failure);
    }

    async fn end_attempt(
        &self,
        job: &'static str,
        handler: &Handler,
        attempt: Attempt,
        result: Result<(), String>,
    ) -> (Outcome, Result<(), sqlx::Error>) {
        let pool = &self.pool;
        let period = handler.period;
        let number = attempt.number;
        match result {
            Ok(()) => {
                tracing::debug!(job, "a job is done");
                let end = || async {
                    match period {
                        Some(period) => attempt.finish_run(pool, period).await,
                        None => attempt.finish_in_tx(&mut *pool.acquire().await?).await.map(|_| ()),
                    }
                };
                (Outcome::Done, retry(end).await)
            }
            Err(error) if number < self.retries.attempts_max => {
                tracing::warn!(job, attempt = number, %error, "a job failed");
                let delay = self.retries.delay_after(number);
                let delay = period.map_or(delay, |period| delay.min(period));
                let end = || attempt.postpone(pool, delay, Some(&error));
                (Outcome::Failed, retry(end).await.map(|_| ()))
            }
            Err(error) => {
                tracing::error!(job, attempt = number, %error, "a job is dead");
                (Outcome::Dead, retry(|| attempt.bury_job(pool, period, &error)).await)
            }
        }
    }

    /// Renews the lease until it is lost; so a job may run for any time. While the database does not
    /// answer, nobody else can take the job either.
    async fn hold_lease(&self, attempt: Attempt) {
        loop {
            sleep(LEASE / 3).await;
            if let Ok(false) = attempt.renew(&self.pool).await.inspect_err(log_failure) {
                return;
            }
        }
    }
}

fn log_failure(error: &sqlx::Error) {
    tracing::warn!(%error, "the queue of jobs cannot be used");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use serde_json::Value;

    use super::{Handler, HandlerFn, Retries};
    use crate::queue::Attempt;

    #[test]
    fn delays_double_up_to_the_greatest() {
        let retries = Retries::default();
        let delays = [1, 2, 3, 10, 11, i32::MAX].map(|attempt| retries.delay_after(attempt));
        assert_eq!(delays.map(|delay| delay.as_secs()), [5, 10, 20, 2_560, 3_600, 3_600]);
        let pauses: Duration =
            (1..retries.attempts_max).map(|attempt| retries.delay_after(attempt)).sum();
        assert_eq!(pauses, Duration::from_mins(2 * 60 + 25) + Duration::from_secs(15));
    }

    #[test]
    fn a_panic_before_and_in_the_future_is_a_failure() {
        let handlers: [(&str, Arc<HandlerFn>); 2] = [
            ("before the future", Arc::new(|_, _| panic!("planted"))),
            ("in the future", Arc::new(|_, _| async { panic!("planted") }.boxed())),
        ];
        for (name, run) in handlers {
            let handler = Handler { run, period: None };
            let attempt = Attempt { job: 1, turn: 1, number: 1 };
            let called = handler.attempt_job(Value::Null, attempt).now_or_never();
            assert_eq!(called, Some(Err("the handler panicked".to_owned())), "{name}");
        }
    }
}
