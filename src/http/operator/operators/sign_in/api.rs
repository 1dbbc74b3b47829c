//! Sessions of operators over the API: sign-in by name, password and second factor, as at the desk.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::accounts::PasswordAttempt;
use crate::operators::audit::Channel;
use crate::operators::{Operator, OperatorAuth, SignInClient, SignInRequest};
use crate::rate_limit::Address;

use crate::http::core::request_limits::OperatorSignInRate;
use crate::http::{Body, Problem, ProblemBody};

/// The credentials of an operator.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorSignIn {
    #[schema(max_length = 32, example = "ate.luz")]
    name: String,
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    password: PasswordAttempt,
    /// The six digits that the authenticator displays now; each code is accepted once.
    #[schema(max_length = 6, example = "287082")]
    code: String,
}

/// A session of an operator.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OperatorSession)]
pub(crate) struct OperatorSessionBody {
    /// The token to be sent as `Authorization: Bearer`. The session ends after 30 minutes without a
    /// request, and after 12 hours.
    token: String,
}

/// Sign an operator in
///
/// With the password and the second factor that the operator has set at `/desk/enrolment`. A
/// session may do everything that the operator's API token may, and in addition: request
/// corrections and decide on them, void and release tables, refund POTs, view hands of running
/// games, add, reset and disable operators, and create an API token. A name may be tried five times
/// a minute from one address, and fifty times from all addresses from which its operator has not
/// signed in within 90 days.
#[utoipa::path(
    post,
    path = "/v1/operator/sign-in",
    tag = "operators",
    request_body = OperatorSignIn,
    responses(
        (status = 200, description = "The session, whose token is returned once", body = OperatorSessionBody),
        (status = 401, description = "`credentials_wrong`: name, password and code do not \
            match, or the code was used before", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn sign_in_operator(
    State(auth): State<OperatorAuth>,
    address: Option<Extension<Address>>,
    rate: OperatorSignInRate,
    Body(OperatorSignIn { name, password, code }): Body<OperatorSignIn>,
) -> Result<Json<OperatorSessionBody>, Problem> {
    let address = address.map(|Extension(address)| address.to_string());
    let from = SignInClient { channel: Channel::Api, address, browser: None };
    let request = SignInRequest { name, password, code, from, rate_limited_for: rate.limited_for };
    let opened = auth.sign_in(&request).await?;
    Ok(Json(OperatorSessionBody { token: opened.token.reveal().to_owned() }))
}

/// Sign an operator out
///
/// Ends the session whose token is sent.
#[utoipa::path(
    post,
    path = "/v1/operator/sign-out",
    tag = "operators",
    security(("operator_token" = [])),
    responses(
        (status = 204, description = "The session has ended"),
        (status = 403, description = "`second_factor_missing`: the token is not a session's",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn sign_out_operator(
    State(auth): State<OperatorAuth>,
    operator: Operator,
) -> Result<StatusCode, Problem> {
    auth.sign_out(&operator).await?;
    Ok(StatusCode::NO_CONTENT)
}
