//! Whether the server lives, and whether it can work.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRef, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use futures_util::future::{BoxFuture, join_all};
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use crate::clock::Moment;
use crate::db::{self, PgPool};
use crate::metrics::Metrics;
use crate::verify::hourly::LastCheck;

use super::{Code, Problem, Services, Time};

/// What has not answered within this time is not ready.
const TIMEOUT: Duration = Duration::from_secs(2);

/// For so long an answer is given again: anybody may ask, and nobody else is asked for that.
const KEPT: Duration = Duration::from_secs(1);

/// Something that must answer for the server to be ready.
#[derive(Clone)]
pub struct Probe {
    name: &'static str,
    ask: Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>,
}

impl Probe {
    /// `ask` says why not, for the log.
    pub fn new<F>(name: &'static str, ask: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { name, ask: Arc::new(move || Box::pin(ask())) }
    }

    async fn answers(&self) -> bool {
        let answer = tokio::time::timeout(TIMEOUT, (self.ask)()).await;
        let why = match answer {
            Ok(Ok(())) => return true,
            Ok(Err(why)) => why,
            Err(_) => format!("no answer within {} ms", TIMEOUT.as_millis()),
        };
        tracing::warn!(what = self.name, why, "not ready");
        false
    }
}

/// What must answer for the server to be ready, asked once a second at most. Clones share the answer.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<ReadinessInner>);

#[derive(Debug)]
struct ReadinessInner {
    probes: Vec<Probe>,
    /// Held while they are asked, so that those who come meanwhile get the same answer.
    last: Mutex<Option<(Moment, Answers)>>,
}

/// Who answers, and who does not.
#[derive(Clone, Debug, Default)]
struct Answers {
    answering: Vec<&'static str>,
    missing: Vec<&'static str>,
}

impl Readiness {
    /// PostgreSQL aside, which is asked over the pool.
    pub fn new(probes: Vec<Probe>) -> Self {
        Self(Arc::new(ReadinessInner { probes, last: Mutex::default() }))
    }

    async fn ask(&self, pool: &PgPool) -> Answers {
        let mut last = self.0.last.lock().await;
        if let Some((asked_at, answers)) = &*last
            && asked_at.elapsed() < KEPT
        {
            return answers.clone();
        }
        let pool = pool.clone();
        let postgres = Probe::new("postgres", move || {
            let pool = pool.clone();
            async move {
                match db::takes_writes(&pool).await {
                    Ok(true) => Ok(()),
                    Ok(false) => Err("it takes no writes".to_owned()),
                    Err(error) => Err(error.to_string()),
                }
            }
        });
        let probes: Vec<_> = std::iter::once(&postgres).chain(&self.0.probes).collect();
        let answered = join_all(probes.iter().map(|probe| probe.answers())).await;
        let mut answers = Answers::default();
        for (probe, answered) in probes.iter().zip(answered) {
            let named = if answered { &mut answers.answering } else { &mut answers.missing };
            named.push(probe.name);
        }
        *last = Some((Moment::now(), answers.clone()));
        answers
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.name).finish()
    }
}

/// The state of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `alive` or `ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// What answers, by name.
    #[schema(example = json!(["postgres", "redis"]))]
    answering: Vec<&'static str>,
    /// The last check of the ledger, once there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    ledger: Option<LedgerCheck>,
}

/// How the books were found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LedgerCheck {
    checked_at: Time,
    /// Whether everything added up. If not, the log and `ledger_checks` say what does not.
    is_clean: bool,
}

impl From<LastCheck> for LedgerCheck {
    fn from(last: LastCheck) -> Self {
        let LastCheck { finished_at_ms, differences } = last;
        Self { checked_at: Time::from_ms(finished_at_ms), is_clean: differences == 0 }
    }
}

/// Say whether the process lives
///
/// For whoever restarts processes: it asks nothing of anybody.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses((status = 200, description = "It does", body = Health))
)]
pub(super) async fn is_alive() -> Json<Health> {
    Json(Health { status: "alive", answering: Vec::new(), ledger: None })
}

/// Returns whether the server can work: PostgreSQL and Redis were asked within the last second whether
/// they take writes. A ledger that does not add up is shown and stops nothing.
pub(super) async fn is_ready(State(services): State<Services>) -> Result<Json<Health>, Problem> {
    let Answers { answering, missing } = services.readiness.ask(&services.pool).await;
    if missing.is_empty() {
        let ledger = services.checks.last().map(LedgerCheck::from);
        return Ok(Json(Health { status: "ready", answering, ledger }));
    }
    let missing = missing.join(", ");
    Err(Code::Unavailable.because(format!("not ready: {missing}")))
}

/// The figures of this process, in the text format of Prometheus.
pub(super) async fn show_metrics(
    State(metrics): State<Metrics>,
) -> Result<impl IntoResponse, Problem> {
    let text = metrics.text().map_err(|error| Problem::internal(&error))?;
    Ok(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}

impl FromRef<Services> for Metrics {
    fn from_ref(services: &Services) -> Self {
        services.metrics.clone()
    }
}
