//! Account proofs: a recent sign-in that permits changes of the account, and the header that
//! carries it.
//!
//! A handler that takes a [`Holder`] is called only with a valid proof in the header
//! `Account-Proof`, beside the access token.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderName;
use axum::http::request::Parts;
use bahay_api::player::sign_in::{AccountProof, ProofRequest};

use crate::accounts::Accounts;
use crate::auth::{Holder, HolderProof, Player};
use crate::http::{Body, Code, CodeExt as _, Problem, Services};

pub(crate) const ACCOUNT_PROOF: HeaderName = HeaderName::from_static("account-proof");

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
        let proof = proof.ok_or_else(|| Code::InvalidProofError.problem())?;
        let held = state.auth.holder(player, &proof);
        held.map_err(|error| Code::InvalidProofError.with_detail(error.to_string()))
    }
}

pub(crate) async fn show_proof(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ProofRequest>,
) -> Result<Json<AccountProof>, Problem> {
    let proof = accounts.prove(&player, body).await?;
    Ok(Json(AccountProof { proof: proof.reveal(), expires_at: proof.expires_at.into() }))
}
