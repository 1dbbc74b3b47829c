//! Account proofs: a recent sign-in that permits changes of the account, and the header that
//! carries it.
//!
//! A handler that takes a [`Holder`] is called only with a valid proof in the header
//! `Account-Proof`, beside the access token.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderName;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::accounts::{Accounts, DeviceId, PasswordAttempt, ProofCredential};
use crate::auth::{Holder, HolderProof, Player};
use crate::openid::IdToken;

use crate::http::{
    Body, Code, CodeExt as _, DeviceText, IdTokenText, IssuerText, Problem, ProblemBody, Services,
    Time,
};

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

/// A sign-in method of the player, presented once more.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ProofRequest {
    /// A device that signs the player in. Accepted only from a player with neither a password nor a
    /// linked identity.
    Device {
        #[schema(value_type = DeviceText)]
        device_id: DeviceId,
    },
    /// The password.
    Password {
        #[schema(
            value_type = String,
            format = Password,
            max_length = 512,
            example = "rain on a tin roof"
        )]
        password: PasswordAttempt,
    },
    /// A fresh ID token of a linked identity.
    Identity {
        /// The issuer's name in the house's settings.
        #[schema(value_type = IssuerText)]
        issuer: String,
        #[schema(value_type = IdTokenText)]
        id_token: String,
        /// The device that requested the nonce in the token.
        #[schema(value_type = DeviceText)]
        device_id: DeviceId,
    },
}

/// A proof, for the header `Account-Proof`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountProof {
    #[schema(
        example = "ap_0000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    proof: String,
    expires_at: Time,
}

/// Prove that the account is mine
///
/// Required for calls that change the sign-in methods or delete the account. An access token does
/// not suffice for them, so that somebody who has copied one cannot take over the account. The
/// proof is valid for five minutes, in this session, as the header `Account-Proof`. A player with a
/// password or a linked identity must present one of those; a player with neither presents the
/// device. Wrong passwords count as failed sign-ins.
#[utoipa::path(
    post,
    path = "/v1/me/proof",
    tag = "me",
    security(("access_token" = [])),
    request_body = ProofRequest,
    responses(
        (status = 200, description = "The proof", body = AccountProof),
        (status = 401, description = "`id_token_refused`: the detail states the reason; or the \
            access token was rejected",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "`device_wrong`, `password_wrong`, `identity_wrong`: it does \
            not belong to this player. `proof_insufficient`: a player with a password or an \
            identity cannot use a device",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`issuer_unknown`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`password_not_set`: the player has no password",
            body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`: wait for the time in \
            `Retry-After`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `issuer_unavailable`, `timed_out`, \
            `unavailable`", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show_proof(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ProofRequest>,
) -> Result<Json<AccountProof>, Problem> {
    let method = match body {
        ProofRequest::Device { device_id } => ProofCredential::Device(device_id),
        ProofRequest::Password { password } => ProofCredential::Password(password),
        ProofRequest::Identity { issuer, id_token: token, device_id } => {
            ProofCredential::Identity(IdToken { issuer, token }, device_id)
        }
    };
    let proof = accounts.prove(&player, &method).await?;
    Ok(Json(AccountProof { proof: proof.reveal(), expires_at: proof.expires_at.into() }))
}
