//! Authentication by the headers of a request.

use bahay_base::ids::PlayerId;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::{Auth, AuthError, ReturningPlayer};

impl Auth {
    /// Authenticates a returning player by a request's headers, even while sessions cannot be read.
    ///
    /// # Errors
    /// As [`Auth::authenticate_for_return`].
    pub async fn authenticate_returning(
        &self,
        headers: &HeaderMap,
    ) -> Result<ReturningPlayer, AuthError> {
        self.authenticate_for_return(bearer_token(headers)?).await
    }

    /// Returns the player that an access token names, without any I/O, for rate limits and logs.
    /// The session of the token may not exist.
    pub fn claimant(&self, headers: &HeaderMap) -> Option<PlayerId> {
        let token = bearer_token(headers).ok()?;
        self.verify_token(token).ok().map(|player| player.id)
    }
}

/// Returns the token of the `Authorization: Bearer` header, which must occur once.
pub fn bearer_token(headers: &HeaderMap) -> Result<&str, AuthError> {
    let mut headers = headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or(AuthError::Missing)?;
    if headers.next().is_some() {
        return Err(AuthError::Malformed);
    }
    let text = header.to_str().map_err(|_| AuthError::Malformed)?;
    let (scheme, token) = text.split_once(' ').ok_or(AuthError::Malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(AuthError::Missing) }
}
