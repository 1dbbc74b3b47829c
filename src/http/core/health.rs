//! The probes of liveness and readiness, and the metrics.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bahay_api::server::{Health, LedgerCheck};
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Mutex;

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
        Self(Arc::new(ReadinessInner { probes, last: Mutex::default() }))
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
        let answered = join_all(probes.iter().map(|probe| probe.is_answering())).await;
        let mut results = ProbeResults::default();
        for (probe, answered) in probes.iter().zip(answered) {
            let names = if answered { &mut results.answering } else { &mut results.missing };
            names.push(probe.name);
        }
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
