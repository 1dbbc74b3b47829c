//! Administration of operators. A response with an enrolment code is never stored, so these calls
//! are not idempotent: they take no `Idempotency-Key`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::EnrolmentCode;
use crate::clock::Clock;
use crate::db::Failure;
use crate::operators::{
    Operator, OperatorAdminError, OperatorName, OperatorSummary, Operators, ParseOperatorNameError,
    Role,
};

use crate::http::{Body, Code, CodeExt as _, Path, Problem, ProblemBody, Services, Time};

/// The role of an operator.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperatorRole {
    Viewer,
    Support,
    Finance,
    Admin,
}

impl From<OperatorRole> for Role {
    fn from(role: OperatorRole) -> Self {
        match role {
            OperatorRole::Viewer => Self::Viewer,
            OperatorRole::Support => Self::Support,
            OperatorRole::Finance => Self::Finance,
            OperatorRole::Admin => Self::Admin,
        }
    }
}

/// An operator to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddOperator {
    #[schema(example = "ate.luz", pattern = "^[a-z][a-z0-9.-]{0,31}$")]
    name: String,
    #[schema(inline)]
    role: OperatorRole,
}

/// An enrolment code, displayed once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuedEnrolment {
    /// The code with which the operator sets a password and a second factor at `/desk/enrolment`,
    /// within a day.
    enrolment_code: String,
}

impl From<EnrolmentCode> for IssuedEnrolment {
    fn from(code: EnrolmentCode) -> Self {
        Self { enrolment_code: code.reveal().to_owned() }
    }
}

/// An operator.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Operator)]
pub(crate) struct OperatorBody {
    #[schema(example = "ate.luz")]
    name: String,
    #[schema(example = "finance")]
    role: String,
    created_at: Time,
    #[schema(required = true)]
    disabled_at: Option<Time>,
    /// True if a password and a second factor are set.
    is_enrolled: bool,
    /// The time of the operator's last request in a session.
    #[schema(required = true)]
    last_seen_at: Option<Time>,
    /// The expiry of the API token; null without one.
    #[schema(required = true)]
    token_expires_at: Option<Time>,
}

/// All operators, disabled ones included, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OperatorList {
    items: Vec<OperatorBody>,
}

impl From<OperatorSummary> for OperatorBody {
    fn from(summary: OperatorSummary) -> Self {
        let OperatorSummary { name, role, is_enrolled, .. } = summary;
        Self {
            name,
            role,
            created_at: summary.created_at.into(),
            disabled_at: summary.disabled_at.map(Time::from),
            is_enrolled,
            last_seen_at: summary.last_seen_at.map(Time::from),
            token_expires_at: summary.token_expires_at.map(Time::from),
        }
    }
}

/// List the operators
///
/// For the role `admin`.
#[utoipa::path(
    get,
    path = "/v1/operator/operators",
    tag = "operators",
    security(("operator_token" = [])),
    responses(
        (status = 200, description = "The operators", body = OperatorList),
        (status = 403, description = "`operator_role_missing`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_operators(
    State(operators): State<Operators>,
    operator: Operator,
) -> Result<Json<OperatorList>, Problem> {
    operator.require_administrator()?;
    let items = operators.list().await?.into_iter().map(OperatorBody::from).collect();
    Ok(Json(OperatorList { items }))
}

/// Add an operator
///
/// For the role `admin`, in a session with the second factor.
#[utoipa::path(
    post,
    path = "/v1/operator/operators",
    tag = "operators",
    security(("operator_token" = [])),
    request_body = AddOperator,
    responses(
        (status = 201, description = "The code, displayed once", body = IssuedEnrolment),
        (status = 403, description = "`operator_role_missing`, `second_factor_missing`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`operator_taken`: names are not reused",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn add_operator(
    State(services): State<Services>,
    operator: Operator,
    Body(AddOperator { name, role }): Body<AddOperator>,
) -> Result<(StatusCode, Json<IssuedEnrolment>), Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_operator_name(&name, Code::BodyInvalid)?;
    let now = services.clock.now();
    let code = services.operators.add(by.actor(), &name, role.into(), now).await?;
    Ok((StatusCode::CREATED, Json(code.into())))
}

/// Disable an operator
///
/// Permanently; its token and its sessions end at once. For the role `admin`, in a session with the
/// second factor, and never for oneself.
#[utoipa::path(
    post,
    path = "/v1/operator/operators/{name}/disabling",
    tag = "operators",
    security(("operator_token" = [])),
    params(("name" = String, Path, max_length = 32, description = "The operator's name", example = "ate.luz")),
    responses(
        (status = 204, description = "The operator is disabled"),
        (status = 403, description = "`operator_role_missing`, `second_factor_missing`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`operator_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`operator_own`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn disable_operator(
    State(operators): State<Operators>,
    State(clock): State<Clock>,
    operator: Operator,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_operator_name(&name, Code::OperatorNotFound)?;
    operators.disable(by.actor(), &name, clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reset an operator's sign-in
///
/// Issues an enrolment code. The previous password, second factor and token become invalid, and all
/// sessions end. For the role `admin`, in a session with the second factor, and never for oneself.
#[utoipa::path(
    post,
    path = "/v1/operator/operators/{name}/enrolment",
    tag = "operators",
    security(("operator_token" = [])),
    params(("name" = String, Path, max_length = 32, description = "The operator's name", example = "ate.luz")),
    responses(
        (status = 200, description = "The code, displayed once", body = IssuedEnrolment),
        (status = 403, description = "`operator_role_missing`, `second_factor_missing`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 404, description = "`operator_not_found`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`operator_own`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn reset_operator(
    State(operators): State<Operators>,
    State(clock): State<Clock>,
    operator: Operator,
    Path(name): Path<String>,
) -> Result<Json<IssuedEnrolment>, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let code = operators
        .reset(by.actor(), &parse_operator_name(&name, Code::OperatorNotFound)?, clock.now())
        .await?;
    Ok(Json(code.into()))
}

/// Parses an operator's name, or returns a problem with the given code.
pub(crate) fn parse_operator_name(text: &str, code: Code) -> Result<OperatorName, Problem> {
    text.parse().map_err(|error: ParseOperatorNameError| code.with_detail(error.to_string()))
}

impl From<OperatorAdminError> for Problem {
    fn from(error: OperatorAdminError) -> Self {
        match &error {
            OperatorAdminError::NameTaken { .. } => {
                Code::OperatorTaken.with_detail(error.to_string())
            }
            OperatorAdminError::NoSuchOperator { .. } => {
                Code::OperatorNotFound.with_detail(error.to_string())
            }
            OperatorAdminError::Own => Code::OperatorOwn.with_detail(error.to_string()),
            OperatorAdminError::Database(cause) => {
                if Failure::classify(cause).is_transient() {
                    Self::unavailable(&error)
                } else {
                    Self::internal(&error)
                }
            }
        }
    }
}
