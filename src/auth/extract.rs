//! The extractor of [`Player`] for handlers.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use crate::ids::PlayerId;

use super::{Auth, AuthError, Player, ReturningPlayer};

impl<S> FromRequestParts<S> for Player
where
    S: Send + Sync,
    Auth: FromRef<S>,
{
    type Rejection = AuthError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AuthError> {
        Auth::from_ref(state).authenticate(bearer_token(parts)?).await
    }
}

impl Auth {
    /// Authenticates the player by a request's headers, as the extractor does.
    ///
    /// # Errors
    /// The first reason of [`AuthError`] that applies.
    pub async fn authenticate_headers(&self, headers: &HeaderMap) -> Result<Player, AuthError> {
        self.authenticate(bearer_from_headers(headers)?).await
    }

    /// Authenticates a returning player by a request's headers, even while sessions cannot be read.
    ///
    /// # Errors
    /// As [`Auth::authenticate_for_return`].
    pub async fn authenticate_returning(
        &self,
        headers: &HeaderMap,
    ) -> Result<ReturningPlayer, AuthError> {
        self.authenticate_for_return(bearer_from_headers(headers)?).await
    }

    /// Returns the player that an access token names, without any I/O, for rate limits and logs.
    /// The session of the token may not exist.
    pub fn claimant(&self, headers: &HeaderMap) -> Option<PlayerId> {
        let token = bearer_from_headers(headers).ok()?;
        self.verify_token(token).ok().map(|player| player.id)
    }
}

/// Returns the token of the `Authorization: Bearer` header, which must occur once.
pub(crate) fn bearer_token(parts: &Parts) -> Result<&str, AuthError> {
    bearer_from_headers(&parts.headers)
}

fn bearer_from_headers(headers: &HeaderMap) -> Result<&str, AuthError> {
    let mut headers = headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or(AuthError::Missing)?;
    if headers.next().is_some() {
        return Err(AuthError::Malformed);
    }
    let text = header.to_str().map_err(|_| AuthError::Malformed)?;
    let (scheme, token) = text.split_once(' ').ok_or(AuthError::Malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(AuthError::Missing) }
}
