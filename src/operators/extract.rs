//! The extractor of [`Operator`], from an API token or from the token of a session.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;

use super::audit::Channel;
use super::{Operator, OperatorAuth, OperatorError, Operators, RequestContext};
use crate::auth::{DeskToken, bearer_token};
use crate::clock::Clock;
use crate::rate_limit::Address;

impl<S> FromRequestParts<S> for Operator
where
    S: Send + Sync,
    Operators: FromRef<S>,
    OperatorAuth: FromRef<S>,
    Clock: FromRef<S>,
{
    type Rejection = OperatorError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, OperatorError> {
        let token = bearer_token(&parts.headers)?.to_owned();
        let address = parts.extensions.get::<Address>().map(ToString::to_string);
        if let Ok(session) = token.parse::<DeskToken>() {
            let context = RequestContext { channel: Channel::Api, is_interactive: true, address };
            return Ok(OperatorAuth::from_ref(state).authenticate(&session, context).await?);
        }
        let now = Clock::from_ref(state).now();
        Operators::from_ref(state).authenticate(&token, now, address).await
    }
}
