//! The part of operators that the API and the desk share: the administration of operators.

use bahay_api::operator::operators::{AddOperator, ChangeRole};

use crate::auth::EnrolmentCode;
use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::operators::{Operator, OperatorAdminError, OperatorName, ParseOperatorNameError};

/// Adds an operator and returns its enrolment code.
pub(super) async fn add(
    Services { operators, clock, .. }: &Services,
    operator: &Operator,
    AddOperator { name, role }: AddOperator,
) -> Result<EnrolmentCode, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_name(&name, Code::BodyInvalid)?;
    Ok(operators.add(by.actor(), &name, role, clock.now()).await?)
}

/// Resets the sign-in of an operator and returns its enrolment code.
pub(super) async fn reset(
    Services { operators, clock, .. }: &Services,
    operator: &Operator,
    name: &str,
) -> Result<EnrolmentCode, Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_name(name, Code::OperatorNotFound)?;
    Ok(operators.reset(by.actor(), &name, clock.now()).await?)
}

/// Changes the role of an operator.
pub(super) async fn change_role(
    Services { operators, .. }: &Services,
    operator: &Operator,
    name: &str,
    ChangeRole { role }: ChangeRole,
) -> Result<(), Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_name(name, Code::OperatorNotFound)?;
    Ok(operators.change_role(by.actor(), &name, role).await?)
}

/// Disables an operator.
pub(super) async fn disable(
    Services { operators, clock, .. }: &Services,
    operator: &Operator,
    name: &str,
) -> Result<(), Problem> {
    let by = operator.require_administrator()?.require_session()?;
    let name = parse_name(name, Code::OperatorNotFound)?;
    Ok(operators.disable(by.actor(), &name, clock.now()).await?)
}

/// Parses an operator's name, or returns a problem with the given code.
fn parse_name(text: &str, code: Code) -> Result<OperatorName, Problem> {
    text.parse().map_err(|error: ParseOperatorNameError| code.with_detail(error.to_string()))
}

impl From<OperatorAdminError> for Problem {
    fn from(error: OperatorAdminError) -> Self {
        let code = match error {
            OperatorAdminError::NameTaken { .. } => Code::OperatorTaken,
            OperatorAdminError::NoSuchOperator { .. } => Code::OperatorNotFound,
            OperatorAdminError::Own => Code::OperatorOwn,
            OperatorAdminError::LastAdministrator { .. } => Code::LastAdministrator,
            OperatorAdminError::Database(error) => return error.into(),
        };
        code.with_detail(error.to_string())
    }
}
