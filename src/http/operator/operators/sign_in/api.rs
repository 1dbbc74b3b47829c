//! Sessions of operators over the API: sign-in by name, password and second factor, as at the desk.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use bahay_api::operator::operators::{OperatorSession, OperatorSignIn};

use crate::http::core::request_limits::OperatorSignInRate;
use crate::http::{Body, Code, CodeExt as _, Problem};
use crate::operators::audit::Channel;
use crate::operators::{Operator, OperatorAuth, OperatorAuthError, SignInClient, SignInRequest};
use crate::rate_limit::Address;

pub(crate) async fn sign_in_operator(
    State(auth): State<OperatorAuth>,
    address: Option<Extension<Address>>,
    rate: OperatorSignInRate,
    Body(OperatorSignIn { name, password, code }): Body<OperatorSignIn>,
) -> Result<Json<OperatorSession>, Problem> {
    let address = address.map(|Extension(address)| address.to_string());
    let from = SignInClient { channel: Channel::Api, address, browser: None };
    let request = SignInRequest { name, password, code, from, rate_limited_for: rate.limited_for };
    let opened = auth.sign_in(&request).await?;
    Ok(Json(OperatorSession { token: opened.token.reveal().to_owned() }))
}

pub(crate) async fn sign_out_operator(
    State(auth): State<OperatorAuth>,
    operator: Operator,
) -> Result<StatusCode, Problem> {
    auth.sign_out(&operator).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<OperatorAuthError> for Problem {
    fn from(error: OperatorAuthError) -> Self {
        let detail = error.to_string();
        let code = match &error {
            OperatorAuthError::Busy => Code::SignInBusy,
            OperatorAuthError::Locked { retry_after } => {
                return Code::SignInLocked.with_detail(detail).with_retry_after(*retry_after);
            }
            OperatorAuthError::RateLimited { retry_after } => {
                return Code::TooManyRequests.with_detail(detail).with_retry_after(*retry_after);
            }
            OperatorAuthError::Refused
            | OperatorAuthError::EnrolmentUnknown
            | OperatorAuthError::EnrolmentElsewhere
            | OperatorAuthError::CodeWrong => Code::CredentialsWrong,
            OperatorAuthError::PasswordEasy | OperatorAuthError::PasswordShort => {
                Code::PasswordEasy
            }
            OperatorAuthError::SessionEnded => Code::SessionEnded,
            OperatorAuthError::NoSession(_) => Code::SecondFactorMissing,
            OperatorAuthError::Unavailable { .. } => return Self::unavailable(&error),
            OperatorAuthError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(detail)
    }
}
