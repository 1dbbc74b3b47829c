//! [`Operator`] as an argument of a handler.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;

use super::{Operator, OperatorError, Operators};
use crate::auth::bearer;

impl<S> FromRequestParts<S> for Operator
where
    S: Send + Sync,
    Operators: FromRef<S>,
{
    type Rejection = OperatorError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, OperatorError> {
        let token = bearer(parts)?.to_owned();
        Operators::from_ref(state).authenticate(&token).await
    }
}
