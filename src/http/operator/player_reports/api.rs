//! Reports by players about other players: a list, and a decision on each report.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::operators::{Moderation, Operator};
use crate::reason::Reason;
use crate::social::{
    ReportDecision, ReportError, ReportOutcome, ReportRecord, ReportState, Social,
};

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::core::pagination::Limit;
use bahay_api::player::people::ReportReason;
use crate::http::{
    Code, CodeExt as _, Cursors, PageOf, Path, Problem, ProblemBody, Query, ReasonText, Time,
    database_problem,
};

/// A report by a player about another player of the same game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlayerReport)]
pub(crate) struct PlayerReportBody {
    id: Uuid,
    /// The game, whose record is the evidence.
    game: Uuid,
    reporter: Uuid,
    reported: Uuid,
    #[schema(inline)]
    reason: ReportReason,
    /// A description in the reporter's own words.
    #[schema(required = true, example = "They showed each other their cards.")]
    words: Option<String>,
    created_at: Time,
    /// Null while the report is open.
    #[schema(required = true)]
    decision: Option<ReportDecisionBody>,
}

/// The decision on a report.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReportDecision)]
pub(crate) struct ReportDecisionBody {
    #[schema(inline)]
    outcome: ReportOutcomeBody,
    /// The operator's id.
    decided_by: Uuid,
    decided_at: Time,
    #[schema(example = "The record shows soft play.")]
    note: String,
}

/// `upheld`: the report is justified. `dismissed`: it is not, or there is no evidence.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportOutcomeBody {
    Upheld,
    Dismissed,
}

/// The state of a report.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportStateBody {
    Open,
    Closed,
}

/// A filter on reports, with the position of a page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportsQuery {
    /// Only reports in this state.
    #[param(inline)]
    state: Option<ReportStateBody>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

/// A decision on a report.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecideReport {
    #[schema(inline)]
    outcome: ReportOutcomeBody,
    /// The reason, which is stored with the report.
    #[schema(value_type = ReasonText)]
    note: Reason,
}

/// List players' reports
///
/// Newest first. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/reports",
    tag = "operators",
    security(("operator_token" = [])),
    params(ReportsQuery),
    responses((status = 200, description = "A page of reports", body = PageOf<PlayerReportBody>))
)]
pub(crate) async fn list_reports(
    State(social): State<Social>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<ReportsQuery>,
) -> Result<Json<PageOf<PlayerReportBody>>, Problem> {
    let (state, list) = match query.state {
        None => (None, "reports all"),
        Some(ReportStateBody::Open) => (Some(ReportState::Open), "reports open"),
        Some(ReportStateBody::Closed) => (Some(ReportState::Closed), "reports closed"),
    };
    let below: Option<Uuid> = cursors.open(list, &operator, query.cursor.as_deref())?;
    let page =
        social.list_reports(state, below, query.limit.items()).await.map_err(database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(PlayerReportBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(list, &operator, &next)),
    }))
}

/// Decide on a player's report
///
/// Each report is decided once. The decision changes nothing but the report: a sanction is a
/// separate request. For the roles `support` and `admin`.
#[utoipa::path(
    post,
    path = "/v1/operator/reports/{id}/decision",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The report"), RequiredKeyHeader),
    request_body = DecideReport,
    responses(
        (status = 200, description = "The closed report", body = PlayerReportBody),
        (status = 404, description = "`report_not_found`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`report_decided`. Or `idempotency_key_in_use`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`path_invalid`, `body_invalid`, `idempotency_key_invalid` or \
            `idempotency_key_reused`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn decide_report(
    State(moderation): State<Moderation>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_moderator()?;
    let request = request.require_key()?;
    let DecideReport { outcome, note } = request.parse_body()?;
    let work = async move |_| {
        let decided = moderation.decide_report(&by, id, outcome.into(), &note).await?;
        Ok(Json(PlayerReportBody::from(decided)))
    };
    Ok(request.execute(&operator, work).await)
}

impl From<ReportRecord> for PlayerReportBody {
    fn from(kept: ReportRecord) -> Self {
        let ReportRecord { id, report, created_at_ms, decision } = kept;
        Self {
            id,
            game: report.game.0,
            reporter: report.reporter.0,
            reported: report.reported.0,
            reason: report.reason,
            words: report.words,
            created_at: Time::from_ms(created_at_ms),
            decision: decision.map(ReportDecisionBody::from),
        }
    }
}

impl From<ReportDecision> for ReportDecisionBody {
    fn from(decision: ReportDecision) -> Self {
        let ReportDecision { outcome, by, at_ms, note } = decision;
        let outcome = match outcome {
            ReportOutcome::Upheld => ReportOutcomeBody::Upheld,
            ReportOutcome::Dismissed => ReportOutcomeBody::Dismissed,
        };
        Self { outcome, decided_by: by.0, decided_at: Time::from_ms(at_ms), note }
    }
}

impl From<ReportOutcomeBody> for ReportOutcome {
    fn from(outcome: ReportOutcomeBody) -> Self {
        match outcome {
            ReportOutcomeBody::Upheld => Self::Upheld,
            ReportOutcomeBody::Dismissed => Self::Dismissed,
        }
    }
}

impl From<ReportError> for Problem {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Unknown => Code::ReportNotFound.problem(),
            ReportError::Decided => Code::ReportDecided.problem(),
            ReportError::Database(error) => database_problem(error),
        }
    }
}
