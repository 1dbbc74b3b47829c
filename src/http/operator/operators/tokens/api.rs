//! The operators' API of tokens.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::operator::operators::CreatedToken;

use crate::clock::Clock;
use crate::http::Problem;
use crate::operators::{Operator, Operators};

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

pub(crate) async fn revoke_token(
    State(operators): State<Operators>,
    operator: Operator,
) -> Result<StatusCode, Problem> {
    operators.revoke_token(&operator.require_session()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
