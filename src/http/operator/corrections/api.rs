//! Corrections of the books: requested by one operator, decided by another.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_engine::coins;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::ids::{CorrectionId, PlayerId};
use crate::ledger::LedgerError;
use crate::operators::{
    self, Correction, CorrectionError, Corrections, Decision, Operator, Subject,
};
use crate::reason::Reason;

use crate::http::core::idempotency::{IdempotentRequest, RequiredKeyHeader};
use crate::http::core::pagination::Limit;
use crate::http::{
    Code, Coins, Cursors, PageOf, Path, Problem, ProblemBody, Query, ReasonText, Time,
};

/// A correction to request, with its reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum RequestCorrection {
    /// Coins given to a player's wallet or taken from it.
    Adjustment {
        player: Uuid,
        /// In hundredths of a coin, not zero; a negative amount takes coins. A setting of the
        /// server limits a single adjustment, by default to a million coins.
        #[schema(value_type = Coins)]
        amount: i64,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
    /// The reversal of an operation of the ledger: a grant, an adjustment, or a settlement that
    /// paid no POT. Each payment goes back from the winner to the player who paid it, each fee to
    /// the player from whom it was taken.
    Reversal {
        /// The operation's id in the ledger.
        #[schema(minimum = 1, example = 4711)]
        operation: i64,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
}

/// A rejection of a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectCorrection {
    /// The reason, which is stored with the correction.
    #[schema(value_type = ReasonText)]
    reason: Reason,
}

/// A correction and its outcome.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Correction)]
pub(crate) struct CorrectionBody {
    id: Uuid,
    #[schema(inline)]
    kind: CorrectionKind,
    /// The player whose wallet is adjusted; null for a reversal.
    #[schema(required = true)]
    player: Option<Uuid>,
    /// The coins that the wallet receives, negative if they are taken from it; null for a reversal.
    #[schema(required = true)]
    amount: Option<Coins>,
    /// The operation that is reversed; null for an adjustment.
    #[schema(required = true)]
    reversed_operation: Option<i64>,
    reason: String,
    #[schema(inline)]
    state: StateBody,
    /// The requester's name.
    #[schema(example = "ate.luz")]
    requested_by: String,
    requested_at: Time,
    /// The name of the deciding operator; null while the request is open.
    #[schema(required = true, example = "kuya.ben")]
    decided_by: Option<String>,
    #[schema(required = true)]
    decided_at: Option<Time>,
    /// The reason of a rejection.
    #[schema(required = true)]
    rejection_reason: Option<String>,
    /// The operation of the ledger that booked the correction; null unless it is approved.
    #[schema(required = true)]
    operation: Option<i64>,
}

/// The kind of a correction.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CorrectionKind {
    Adjustment,
    Reversal,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateBody {
    Open,
    Approved,
    Rejected,
}

impl From<operators::State> for StateBody {
    fn from(state: operators::State) -> Self {
        match state {
            operators::State::Open => Self::Open,
            operators::State::Approved => Self::Approved,
            operators::State::Rejected => Self::Rejected,
        }
    }
}

impl From<StateBody> for operators::State {
    fn from(state: StateBody) -> Self {
        match state {
            StateBody::Open => Self::Open,
            StateBody::Approved => Self::Approved,
            StateBody::Rejected => Self::Rejected,
        }
    }
}

impl From<Correction> for CorrectionBody {
    fn from(correction: Correction) -> Self {
        let (kind, player, amount, reversed_operation) = match correction.subject {
            Subject::Adjustment { player, amount } => {
                (CorrectionKind::Adjustment, Some(player.0), Some(amount.into()), None)
            }
            Subject::Reversal { operation } => {
                (CorrectionKind::Reversal, None, None, Some(operation))
            }
        };
        let (decided_by, decided_at, rejection_reason) = match correction.decision {
            Some(Decision { by, at, reason }) => (Some(by), Some(at.into()), reason),
            None => (None, None, None),
        };
        Self {
            id: correction.id.0,
            kind,
            player,
            amount,
            reversed_operation,
            reason: correction.reason,
            state: correction.state.into(),
            requested_by: correction.requested_by,
            requested_at: correction.requested_at.into(),
            decided_by,
            decided_at,
            rejection_reason,
            operation: correction.operation,
        }
    }
}

/// Request a correction
///
/// Nothing moves before another operator has approved it. For the roles `finance` and `admin`, in a
/// session with the second factor.
#[utoipa::path(
    post,
    path = "/v1/operator/corrections",
    tag = "operators",
    security(("operator_token" = [])),
    params(RequiredKeyHeader),
    request_body = RequestCorrection,
    responses(
        (status = 201, description = "The request, which waits for a decision", body = CorrectionBody),
        (
            status = 403,
            description = "`operator_role_missing` or `second_factor_missing`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 404,
            description = "`player_not_found` or `operation_not_found`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 409,
            description = "`not_reversible`, `already_reversed`, `reversal_requested`: another \
                request waits for a decision, or `adjustment_day_max`: the adjustments \
                of one operator and of one player in 24 hours are limited. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 422,
            description = "`body_invalid`, `adjustment_too_large`, `idempotency_key_invalid` or \
                `idempotency_key_reused`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn request_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let (subject, reason) = match request.parse_body()? {
        RequestCorrection::Adjustment { amount: 0, .. } => {
            return Err(Code::BodyInvalid.with_detail("the amount of an adjustment is zero"));
        }
        RequestCorrection::Adjustment { player, amount, reason } => {
            let amount = coins::Coins::from_hundredths(amount);
            (Subject::Adjustment { player: PlayerId(player), amount }, reason)
        }
        RequestCorrection::Reversal { operation, reason } => {
            (Subject::Reversal { operation }, reason)
        }
    };
    let work = async move |attempt| {
        let correction = corrections.request(&by, subject, &reason, attempt).await?;
        Ok((StatusCode::CREATED, Json(CorrectionBody::from(correction))))
    };
    Ok(request.execute(&operator, work).await)
}

/// A filter on corrections, with the position of a page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CorrectionsQuery {
    /// Only corrections in this state.
    #[param(inline)]
    state: Option<StateBody>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

/// List corrections
///
/// Newest first. For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/corrections",
    tag = "operators",
    security(("operator_token" = [])),
    params(CorrectionsQuery),
    responses((status = 200, description = "A page of corrections", body = PageOf<CorrectionBody>))
)]
pub(crate) async fn list_corrections(
    State(corrections): State<Corrections>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<CorrectionsQuery>,
) -> Result<Json<PageOf<CorrectionBody>>, Problem> {
    let state = query.state.map(operators::State::from);
    let list = format!("corrections {}", state.map_or("all", operators::State::as_str));
    let cursor = cursors.open(&list, &operator, query.cursor.as_deref())?;
    let page = corrections.list(&operator, state, cursor, query.limit.items()).await?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(CorrectionBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &operator, &next)),
    }))
}

/// Show a correction
///
/// For operators of every role.
#[utoipa::path(
    get,
    path = "/v1/operator/corrections/{id}",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The correction")),
    responses(
        (status = 200, description = "The correction", body = CorrectionBody),
        (
            status = 404,
            description = "`correction_not_found`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn show_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<CorrectionBody>, Problem> {
    let correction = corrections.find(&operator, CorrectionId(id)).await?;
    Ok(Json(correction.into()))
}

/// Approve a correction
///
/// Books it and marks it as approved in one transaction. For the roles `finance` and `admin`, in a
/// session with the second factor; never for the requester, nor for an operator who is not
/// independent of the requester: until a day after an enrolment code was used, replaced or has
/// expired, its owner and its issuer do not decide on each other's requests. If a wallet cannot
/// pay, nothing moves and the request stays open.
#[utoipa::path(
    post,
    path = "/v1/operator/corrections/{id}/approval",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The correction"), RequiredKeyHeader),
    responses(
        (status = 200, description = "The approved correction", body = CorrectionBody),
        (
            status = 403,
            description = "`operator_role_missing`, `second_factor_missing`, or `correction_own` \
                or `correction_not_independent`: another operator decides",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 404,
            description = "`correction_not_found`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 409,
            description = "`correction_decided`, `adjustment_day_max`, `overdrawn`, \
                `not_reversible` or `already_reversed`. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 422,
            description = "`path_invalid`, `idempotency_key_invalid` or \
                `idempotency_key_reused`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn approve_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| {
        let correction = corrections.approve(&by, CorrectionId(id)).await?;
        Ok(Json(CorrectionBody::from(correction)))
    };
    Ok(request.execute(&operator, work).await)
}

/// Reject a correction
///
/// For the roles `finance` and `admin`, in a session with the second factor, and only for operators
/// who may approve it.
#[utoipa::path(
    post,
    path = "/v1/operator/corrections/{id}/rejection",
    tag = "operators",
    security(("operator_token" = [])),
    params(("id" = Uuid, Path, description = "The correction"), RequiredKeyHeader),
    request_body = RejectCorrection,
    responses(
        (status = 200, description = "The rejected correction", body = CorrectionBody),
        (
            status = 403,
            description = "`operator_role_missing`, `second_factor_missing`, or `correction_own` \
                or `correction_not_independent`: another operator decides",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 404,
            description = "`correction_not_found`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 409,
            description = "`correction_decided`. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (
            status = 422,
            description = "`path_invalid`, `body_invalid`, `idempotency_key_invalid` or \
                `idempotency_key_reused`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn reject_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let RejectCorrection { reason } = request.parse_body()?;
    let work = async move |_| {
        let correction = corrections.reject(&by, CorrectionId(id), &reason).await?;
        Ok(Json(CorrectionBody::from(correction)))
    };
    Ok(request.execute(&operator, work).await)
}

impl From<CorrectionError> for Problem {
    fn from(error: CorrectionError) -> Self {
        let code = match &error {
            CorrectionError::Unknown { .. } => Code::CorrectionNotFound,
            CorrectionError::Own => Code::CorrectionOwn,
            CorrectionError::SessionEnded => Code::SessionEnded,
            CorrectionError::NotIndependent => Code::CorrectionNotIndependent,
            CorrectionError::Decided { .. } => Code::CorrectionDecided,
            CorrectionError::ReversalRequested { .. } => Code::ReversalRequested,
            CorrectionError::PlayerUnknown { .. } => Code::PlayerNotFound,
            CorrectionError::TooLarge { .. } => Code::AdjustmentTooLarge,
            CorrectionError::DailyLimit(_) => Code::AdjustmentDayMax,
            CorrectionError::Refused(refusal) => match refusal {
                LedgerError::OperationUnknown { .. } => Code::OperationNotFound,
                LedgerError::NotReversible { .. } => Code::NotReversible,
                LedgerError::AlreadyReversed { .. } => Code::AlreadyReversed,
                LedgerError::Overdrawn { .. } => Code::Overdrawn,
                LedgerError::Invalid { .. }
                | LedgerError::Unavailable { .. }
                | LedgerError::KeyReused { .. }
                | LedgerError::GameUnknown { .. }
                | LedgerError::GameNotOpen { .. }
                | LedgerError::TableBusy { .. }
                | LedgerError::GameDiffers { .. }
                | LedgerError::PotEmpty { .. }
                | LedgerError::Settlement { .. }
                | LedgerError::Broken { .. } => return Self::internal(&error),
            },
            CorrectionError::Unavailable { .. } => return Self::unavailable(&error),
            CorrectionError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
