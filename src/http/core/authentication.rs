//! The extractors of authenticated players.
//!
//! A handler that takes a [`Player`] is called only with a valid access token; one that takes a
//! [`Holder`], only with a valid account proof in the header `Account-Proof` beside it.

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;

use super::services::Services;
use crate::auth::{Holder, HolderProof, Player, bearer_token};
use crate::http::{Code, CodeExt as _, Problem};

pub(crate) const ACCOUNT_PROOF: HeaderName = HeaderName::from_static("account-proof");

/// The player whom the access token of a request names.
impl FromRequestParts<Services> for Player {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, Problem> {
        Ok(state.auth.authenticate(bearer_token(&parts.headers)?).await?)
    }
}

/// The player whom the access token names and who has proved that the account is its own.
impl FromRequestParts<Services> for Holder {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Services) -> Result<Self, Problem> {
        let player = Player::from_request_parts(parts, state).await?;
        let mut headers = parts.headers.get_all(ACCOUNT_PROOF).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else {
            return Err(Code::ProofMissing.with_detail(
                "obtain a proof by POST /v1/me/proof, and send it as the single \
                 header Account-Proof",
            ));
        };
        let proof = header.to_str().ok().and_then(|text| text.parse::<HolderProof>().ok());
        let proof = proof.ok_or_else(|| Code::ProofRefused.problem())?;
        let held = state.auth.holder(player, &proof);
        held.map_err(|error| Code::ProofRefused.with_detail(error.to_string()))
    }
}
