//! [`Player`] as an argument of a handler.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::{Auth, AuthError, Player};

impl<S> FromRequestParts<S> for Player
where
    S: Send + Sync,
    Auth: FromRef<S>,
{
    type Rejection = AuthError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AuthError> {
        Auth::from_ref(state).authenticate(bearer(parts)?)
    }
}

/// The token of the one `Authorization: Bearer` header.
pub(crate) fn bearer(parts: &Parts) -> Result<&str, AuthError> {
    let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or(AuthError::Missing)?;
    if headers.next().is_some() {
        return Err(AuthError::Malformed);
    }
    let text = header.to_str().map_err(|_| AuthError::Malformed)?;
    let (scheme, token) = text.split_once(' ').ok_or(AuthError::Malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(AuthError::Missing) }
}
