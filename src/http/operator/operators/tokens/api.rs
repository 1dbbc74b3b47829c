//! The API token of an operator, which only the operator itself creates and sees.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Clock;
use crate::operators::{Operator, Operators};

use crate::http::{Problem, ProblemBody, Time};

/// An API token for an operator's programs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    /// The token to be sent as `Authorization: Bearer`.
    token: String,
    expires_at: Time,
}

/// Create an API token
///
/// For the programs of the requesting operator, in a session with the second factor; nobody creates
/// a token for another operator. It is valid for 90 days and replaces the previous token. The audit
/// log distinguishes acts by a token from those in a session. The response is not stored, so the
/// call is not idempotent.
#[utoipa::path(
    post,
    path = "/v1/operator/token",
    tag = "operators",
    security(("operator_token" = [])),
    responses(
        (status = 201, description = "The token, displayed once", body = CreatedToken),
        (status = 403, description = "`second_factor_missing`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn create_token(
    State(operators): State<Operators>,
    State(clock): State<Clock>,
    operator: Operator,
) -> Result<(StatusCode, Json<CreatedToken>), Problem> {
    let by = operator.require_session()?;
    let (token, expires_at) = operators.create_token(&by, clock.now()).await?;
    let body = CreatedToken { token: token.reveal().to_owned(), expires_at: expires_at.into() };
    Ok((StatusCode::CREATED, Json(body)))
}

/// Revoke the API token
///
/// That of the requesting operator, in a session with the second factor.
#[utoipa::path(
    delete,
    path = "/v1/operator/token",
    tag = "operators",
    security(("operator_token" = [])),
    responses(
        (status = 204, description = "The token is revoked"),
        (status = 403, description = "`second_factor_missing`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn revoke_token(
    State(operators): State<Operators>,
    operator: Operator,
) -> Result<StatusCode, Problem> {
    operators.revoke_token(&operator.require_session()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
