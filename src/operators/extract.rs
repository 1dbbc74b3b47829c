//! [`Operator`] as an argument of a handler.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;

use super::{Operator, OperatorError, Operators};
use crate::auth::bearer;
use crate::edge::Address;

impl<S> FromRequestParts<S> for Operator
where
    S: Send + Sync,
    Operators: FromRef<S>,
{
    type Rejection = OperatorError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, OperatorError> {
        let token = bearer(parts)?.to_owned();
        let address = parts.extensions.get::<Address>().map(ToString::to_string);
        Operators::from_ref(state).authenticate(&token, address).await
    }
}
