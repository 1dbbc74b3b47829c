//! Account proofs: a recent sign-in that permits changes of the account.

use axum::Json;
use axum::extract::State;
use bahay_api::player::sign_in::{AccountProof, ProofRequest};

use crate::accounts::Accounts;
use crate::auth::Player;
use crate::http::{Body, Problem};

pub(crate) async fn show_proof(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ProofRequest>,
) -> Result<Json<AccountProof>, Problem> {
    let proof = accounts.prove(&player, body).await?;
    Ok(Json(AccountProof { proof: proof.reveal(), expires_at: proof.expires_at.into() }))
}
