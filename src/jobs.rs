//! The jobs of the house: their registration with the queue, and what each node shows of them.
//!
//! A job runs on any node, so every node reads the results from the database ([`Jobs::observe`]):
//! the last check of the ledger, the partitions, and the state of the queue.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_jobs::{Outcome, Stats, Worker};
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::metrics::{CounterFamily, Metrics};
use crate::months::{self, Months};
use crate::records::{ARCHIVING_PERIOD, Archiver};
use crate::reports::{CONDUCT_PERIOD, ConductMeasurement};
use crate::retention::{self, Retention};
use crate::tournaments::{SCHEDULE_PERIOD, TournamentSchedules};
use crate::verify::hourly::Checks;

/// The interval at which a node reads the last check of the ledger and the state of the queue. It
/// reads the partitions, which costs more, in the period of their maintenance, and again at the
/// next interval if that fails.
const OBSERVE_INTERVAL: Duration = Duration::from_secs(20);

/// The names of the periodic jobs.
const REMOVE_EXPIRED_ROWS: &str = "remove_expired_rows";
const MAINTAIN_MONTHS: &str = "maintain_months";
const CHECK_LEDGER: &str = "check_ledger";
const ARCHIVE_RECORDS: &str = "archive_records";
const ANNOUNCE_TOURNAMENTS: &str = "announce_tournaments";
const MEASURE_CONDUCT: &str = "measure_conduct";

/// The jobs of a node. Clones share everything.
#[derive(Clone, Debug)]
pub struct Jobs {
    worker: Worker,
    months: Months,
    checks: Checks,
    stats: Arc<Mutex<Stats>>,
}

/// Returns a handler that calls a method of a clone of the value.
macro_rules! call {
    ($value:expr, $method:ident) => {{
        let value = $value.clone();
        move || {
            let value = value.clone();
            async move { value.$method().await }
        }
    }};
}

impl Jobs {
    /// Registers the jobs, and the metrics of the queue.
    pub fn new(
        pool: PgPool,
        metrics: &Metrics,
        retention: &Retention,
        checks: &Checks,
        archiver: Option<&Archiver>,
    ) -> Self {
        let months = Months::new(pool.clone(), metrics);
        let conduct = ConductMeasurement::new(pool.clone());
        let worker = Worker::new(pool)
            .with_observer(count_outcomes(metrics))
            .every(retention::PERIOD, REMOVE_EXPIRED_ROWS, call!(retention, remove_all))
            .every(months::PERIOD, MAINTAIN_MONTHS, call!(months, run))
            .every(checks.period(), CHECK_LEDGER, call!(checks, run_due_check))
            .every(CONDUCT_PERIOD, MEASURE_CONDUCT, call!(conduct, measure_due));
        let worker = match archiver {
            Some(archiver) => {
                worker.every(ARCHIVING_PERIOD, ARCHIVE_RECORDS, call!(archiver, archive_due))
            }
            None => worker,
        };
        let jobs = Self { worker, months, checks: checks.clone(), stats: Arc::default() };
        let oldest = jobs.clone();
        let dead = jobs.clone();
        metrics.register_gauge_fn(
            "bahay_oldest_due_job_seconds",
            "Time for which the oldest due job has waited",
            move || oldest.stats().oldest_due.as_secs(),
        );
        metrics.register_gauge_fn(
            "bahay_dead_jobs",
            "Jobs whose attempts are used up and that wait for an operator",
            move || dead.stats().dead,
        );
        jobs
    }

    /// Adds the announcement of tournaments by their schedules.
    pub fn with_schedules(self, schedules: &TournamentSchedules) -> Self {
        let announce = call!(schedules, announce_due);
        let worker = self.worker.every(SCHEDULE_PERIOD, ANNOUNCE_TOURNAMENTS, announce);
        Self { worker, ..self }
    }

    /// Runs the jobs until the server stops, and returns when they have ended or are handed back.
    pub async fn run(self, stopping: watch::Receiver<bool>) {
        let observed = self.clone().observe_until(stopping.clone());
        tokio::join!(self.worker.run(stopping), observed);
    }

    /// Runs all due jobs, and returns their number; for tests.
    pub async fn run_jobs(&self) -> Result<u32, sqlx::Error> {
        self.worker.run_jobs().await
    }

    /// Reads all results of jobs, of any node, for the metrics and the probes of this one.
    pub async fn observe(&self) -> Result<(), sqlx::Error> {
        self.months.observe().await?;
        self.observe_often().await
    }

    async fn observe_often(&self) -> Result<(), sqlx::Error> {
        self.checks.observe().await?;
        let stats = self.worker.read_stats().await?;
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner) = stats;
        Ok(())
    }

    async fn observe_until(self, mut stopping: watch::Receiver<bool>) {
        let [mut ticks, mut month_ticks] = [OBSERVE_INTERVAL, months::PERIOD].map(interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let observed = tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                observed = async {
                    tokio::select! {
                        _ = ticks.tick() => self.observe_often().await,
                        _ = month_ticks.tick() => {
                            let observed = self.months.observe().await;
                            if observed.is_err() {
                                month_ticks.reset_after(OBSERVE_INTERVAL);
                            }
                            observed.map(|_| ())
                        }
                    }
                } => observed,
            };
            if let Err(error) = observed {
                tracing::warn!(%error, "the results of jobs cannot be read");
            }
        }
    }

    fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers counters of the ended attempts, and returns the function that increments them.
fn count_outcomes(metrics: &Metrics) -> impl Fn(&'static str, Outcome) + Send + Sync + 'static {
    let register = |name, help| {
        let counts = CounterFamily::default();
        let names = [
            REMOVE_EXPIRED_ROWS,
            MAINTAIN_MONTHS,
            CHECK_LEDGER,
            ARCHIVE_RECORDS,
            ANNOUNCE_TOURNAMENTS,
            MEASURE_CONDUCT,
        ];
        counts.expose("name", &names);
        metrics.register_counts(name, help, &counts);
        counts
    };
    let done = register("bahay_jobs_done", "Jobs that this process has done");
    let failed = register("bahay_jobs_failed", "Failed attempts of jobs by this process");
    let dead = register("bahay_jobs_dead", "Jobs whose last attempt failed in this process");
    move |job, outcome| {
        let counts = match outcome {
            Outcome::Done => &done,
            Outcome::Failed => &failed,
            Outcome::Dead => &dead,
        };
        // The label `job` is Prometheus' own, for the group of scraped servers.
        counts.increment("name", job);
    }
}
