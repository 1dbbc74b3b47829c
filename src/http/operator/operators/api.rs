//! The operators' API of operators. A response with an enrolment code is never stored, so these
//! calls are not idempotent: they take no `Idempotency-Key`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::operator::operators::{AddOperator, ChangeRole, IssuedEnrolment, OperatorList};

use super::query;
use crate::auth::EnrolmentCode;
use crate::http::{Body, Path, Problem, Services};
use crate::operators::{Operator, Operators};

fn enrolment_body(code: &EnrolmentCode) -> Json<IssuedEnrolment> {
    Json(IssuedEnrolment { enrolment_code: code.reveal().to_owned() })
}

pub(crate) async fn list_operators(
    State(operators): State<Operators>,
    operator: Operator,
) -> Result<Json<OperatorList>, Problem> {
    operator.require_administrator()?;
    Ok(Json(OperatorList { items: operators.list().await? }))
}

pub(crate) async fn add_operator(
    State(services): State<Services>,
    operator: Operator,
    Body(request): Body<AddOperator>,
) -> Result<(StatusCode, Json<IssuedEnrolment>), Problem> {
    let code = query::add(&services, &operator, request).await?;
    Ok((StatusCode::CREATED, enrolment_body(&code)))
}

pub(crate) async fn change_operator_role(
    State(services): State<Services>,
    operator: Operator,
    Path(name): Path<String>,
    Body(request): Body<ChangeRole>,
) -> Result<StatusCode, Problem> {
    query::change_role(&services, &operator, &name, request).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn disable_operator(
    State(services): State<Services>,
    operator: Operator,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    query::disable(&services, &operator, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn reset_operator(
    State(services): State<Services>,
    operator: Operator,
    Path(name): Path<String>,
) -> Result<Json<IssuedEnrolment>, Problem> {
    Ok(enrolment_body(&query::reset(&services, &operator, &name).await?))
}
