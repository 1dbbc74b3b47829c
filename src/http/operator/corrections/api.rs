//! The operators' API of corrections.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bahay_api::operator::corrections::{
    Correction, CorrectionFilter, CorrectionPreview, RejectCorrection,
};
use uuid::Uuid;

use super::query;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Path, Problem};
use crate::ids::CorrectionId;
use crate::ledger::LedgerError;
use crate::operators::{CorrectionError, Corrections, Operator};
use crate::passes::RevocationError;

pub(crate) async fn request_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let (content, reason) = query::content(request.parse_body()?)?;
    let work = async move |attempt| {
        let correction = corrections.request(&by, content, &reason, attempt).await?;
        Ok((StatusCode::CREATED, Json(correction)))
    };
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn list_corrections(
    State(corrections): State<Corrections>,
    request: PageRequest<Operator, CorrectionFilter>,
) -> Result<Json<PageOf<Correction>>, Problem> {
    Ok(Json(query::list(&corrections, &request).await?))
}

pub(crate) async fn show_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<Correction>, Problem> {
    Ok(Json(corrections.find(&operator, CorrectionId(id)).await?))
}

pub(crate) async fn preview_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<CorrectionPreview>, Problem> {
    Ok(Json(query::preview(&corrections, &operator, CorrectionId(id)).await?))
}

pub(crate) async fn approve_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(corrections.approve(&by, CorrectionId(id)).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn reject_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let RejectCorrection { reason } = request.parse_body()?;
    let work = async move |_| Ok(Json(corrections.reject(&by, CorrectionId(id), &reason).await?));
    Ok(request.execute(&operator, work).await)
}

pub(crate) async fn withdraw_correction(
    State(corrections): State<Corrections>,
    operator: Operator,
    Path(id): Path<Uuid>,
    request: IdempotentRequest,
) -> Result<Response, Problem> {
    let by = operator.require_corrections_role()?.require_session()?;
    let request = request.require_key()?;
    let work = async move |_| Ok(Json(corrections.withdraw(&by, CorrectionId(id)).await?));
    Ok(request.execute(&operator, work).await)
}

impl From<CorrectionError> for Problem {
    fn from(error: CorrectionError) -> Self {
        let code = match &error {
            CorrectionError::Unknown { .. } => Code::CorrectionNotFound,
            CorrectionError::Own => Code::CorrectionOwn,
            CorrectionError::NotOwn => Code::CorrectionNotOwn,
            CorrectionError::SessionEnded => Code::SessionEnded,
            CorrectionError::NotIndependent => Code::CorrectionNotIndependent,
            CorrectionError::Decided { .. } => Code::CorrectionDecided,
            CorrectionError::ReversalRequested { .. } => Code::ReversalRequested,
            CorrectionError::AdjustmentRequested => Code::AdjustmentRequested,
            CorrectionError::PlayerUnknown { .. } => Code::PlayerNotFound,
            CorrectionError::TooLarge { .. } => Code::AdjustmentTooLarge,
            CorrectionError::Revocation(RevocationError::Unknown { .. }) => Code::PassNotFound,
            CorrectionError::Revocation(RevocationError::Held { .. }) => Code::PassHeld,
            CorrectionError::Revocation(RevocationError::Revoked) => Code::PassRevoked,
            CorrectionError::RevocationRequested => Code::RevocationRequested,
            CorrectionError::DailyLimit(_) => Code::AdjustmentDayMax,
            CorrectionError::Refused(LedgerError::OperationUnknown { .. }) => {
                Code::OperationNotFound
            }
            CorrectionError::Refused(LedgerError::NotReversible { .. }) => Code::NotReversible,
            CorrectionError::Refused(LedgerError::AlreadyReversed { .. }) => Code::AlreadyReversed,
            CorrectionError::Refused(LedgerError::Overdrawn { .. }) => Code::Overdrawn,
            CorrectionError::Unavailable { .. } => return Self::unavailable(&error),
            CorrectionError::Refused(_) | CorrectionError::Broken { .. } => {
                return Self::internal(&error);
            }
        };
        code.with_detail(error.to_string())
    }
}
