//! The probes of liveness and readiness, and the metrics.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bahay_api::server::{Health, LedgerCheck};
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;

use crate::clock::Moment;
use crate::db::{self, PgPool};
use crate::metrics::Metrics;
use crate::verify::hourly::LastCheck;

use crate::http::{Code, CodeExt as _, Problem, Services, Time};

/// The time within which a probe has to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The time for which results are reused, so that frequent requests to an open endpoint do not load
/// the probed services.
const CACHE_TTL: Duration = Duration::from_secs(1);

/// The interval at which a node probes by itself, for its metrics.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// A service that must answer for the server to be ready.
#[derive(Clone)]
pub struct Probe {
    name: &'static str,
    check: Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>,
}

impl Probe {
    /// Creates a probe. The error of `check` is the reason for the log.
    pub fn new<F>(name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { name, check: Arc::new(move || Box::pin(check())) }
    }

    async fn measure(&self) -> ProbeMeasurement {
        let begun = Moment::now();
        let is_answering = self.is_answering().await;
        ProbeMeasurement { name: self.name, is_answering, taken: begun.elapsed() }
    }

    async fn is_answering(&self) -> bool {
        let answer = tokio::time::timeout(TIMEOUT, (self.check)()).await;
        let reason = match answer {
            Ok(Ok(())) => return true,
            Ok(Err(reason)) => reason,
            Err(_) => format!("no answer within {} ms", TIMEOUT.as_millis()),
        };
        tracing::warn!(probe = self.name, reason, "not ready");
        false
    }
}

/// The probes that decide on readiness. They run at most once a second. Clones share the results.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<ReadinessInner>);

#[derive(Debug)]
struct ReadinessInner {
    probes: Vec<Probe>,
    /// The latest results. The lock is held while probes run, so that concurrent requests share one
    /// run.
    last: Mutex<Option<(Moment, ProbeResults)>>,
    /// The latest measurements, for a scrape, which does not wait for a running probe.
    measured: SyncMutex<Vec<ProbeMeasurement>>,
}

/// The result of the latest probe of a service, and the time that it took.
#[derive(Clone, Copy, Debug)]
struct ProbeMeasurement {
    name: &'static str,
    is_answering: bool,
    taken: Duration,
}

/// The names of the services that answered, and of those that did not.
#[derive(Clone, Debug, Default)]
struct ProbeResults {
    answering: Vec<&'static str>,
    missing: Vec<&'static str>,
}

impl Readiness {
    /// Creates the readiness check. PostgreSQL is not among `probes`; it is probed over the pool.
    pub fn new(probes: Vec<Probe>) -> Self {
        let last = Mutex::default();
        let measured = SyncMutex::default();
        Self(Arc::new(ReadinessInner { probes, last, measured }))
    }

    /// Registers the latest results as metrics.
    pub fn register_metrics(&self, metrics: &Metrics) {
        let ready = self.clone();
        metrics.register_gauges_fn(
            "bahay_service_ready",
            "Whether a service that readiness depends on answered its last probe",
            "service",
            move || {
                let measured = ready.measurements().into_iter();
                measured.map(|probe| (probe.name, u64::from(probe.is_answering))).collect()
            },
        );
        let timed = self.clone();
        metrics.register_times_fn(
            "bahay_service_probe_seconds",
            "Time of the last probe of a service that readiness depends on",
            "service",
            move || {
                timed.measurements().into_iter().map(|probe| (probe.name, probe.taken)).collect()
            },
        );
    }

    /// Probes at intervals, so that the metrics are current although nobody requests readiness.
    /// Runs for as long as it is polled.
    pub async fn run(self, pool: PgPool) {
        let mut ticks = tokio::time::interval(PROBE_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.check_probes(&pool).await;
        }
    }

    fn measurements(&self) -> Vec<ProbeMeasurement> {
        self.0.measured.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn check_probes(&self, pool: &PgPool) -> ProbeResults {
        let mut last = self.0.last.lock().await;
        if let Some((checked_at, results)) = &*last
            && checked_at.elapsed() < CACHE_TTL
        {
            return results.clone();
        }
        let pool = pool.clone();
        let postgres = Probe::new("postgres", move || {
            let pool = pool.clone();
            async move {
                match db::takes_writes(&pool).await {
                    Ok(true) => Ok(()),
                    Ok(false) => Err("it accepts no writes".to_owned()),
                    Err(error) => Err(error.to_string()),
                }
            }
        });
        let probes: Vec<_> = std::iter::once(&postgres).chain(&self.0.probes).collect();
        let measured = join_all(probes.iter().map(|probe| probe.measure())).await;
        let mut results = ProbeResults::default();
        for probe in &measured {
            let ProbeResults { answering, missing } = &mut results;
            let names = if probe.is_answering { answering } else { missing };
            names.push(probe.name);
        }
        *self.0.measured.lock().unwrap_or_else(PoisonError::into_inner) = measured;
        *last = Some((Moment::now(), results.clone()));
        results
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.name).finish()
    }
}

pub(crate) async fn is_alive() -> Json<Health> {
    Json(Health { status: "alive", answering: Vec::new(), ledger: None })
}

/// Returns whether the server is ready: PostgreSQL and Redis have accepted writes within the last
/// second. A difference in the ledger is reported, but does not make the server unready.
pub(crate) async fn is_ready(State(services): State<Services>) -> Result<Json<Health>, Problem> {
    let ProbeResults { answering, missing } = services.readiness.check_probes(&services.pool).await;
    if missing.is_empty() {
        let ledger = services.checks.last().map(|LastCheck { finished_at_ms, differences }| {
            LedgerCheck { checked_at: Time::from_ms(finished_at_ms), is_clean: differences == 0 }
        });
        return Ok(Json(Health { status: "ready", answering, ledger }));
    }
    let missing = missing.join(", ");
    Err(Code::Unavailable.with_detail(format!("not ready: {missing}")))
}

/// Returns the metrics of this process, in the text format of Prometheus.
pub(crate) async fn show_metrics(
    State(metrics): State<Metrics>,
) -> Result<impl IntoResponse, Problem> {
    let text = metrics.text().map_err(|error| Problem::internal(&error))?;
    Ok(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}
