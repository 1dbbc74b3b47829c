//! Sign-in with external identities (OpenID Connect): signing in, linking and unlinking, and the
//! list of a player's sign-in methods.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::sign_in::{
    IdentityLinkRequest, Nonce, NonceRequest, OpenIdSignIn, SignInMethods,
};

use super::guest::{SignInResponse, sign_in_response};
use crate::accounts::Accounts;
use crate::auth::{Holder, Player};
use crate::http::core::client_info::ClientInfo;
use crate::http::{Body, Code, CodeExt as _, Path, Problem};
use crate::openid::{ADDRESS_CHARS_MAX, IdToken};

// The documentation states the maximum length of an issuer.
const _: () = assert!(ADDRESS_CHARS_MAX == 255);

pub(crate) async fn ask_nonce(
    State(accounts): State<Accounts>,
    Body(body): Body<NonceRequest>,
) -> Json<Nonce> {
    Json(accounts.issue_nonce(&body.device_id))
}

pub(crate) async fn sign_in_openid(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<OpenIdSignIn>,
) -> Result<SignInResponse, Problem> {
    let visitor = client.into_visitor(Some(body.device_id.clone()));
    Ok(sign_in_response(accounts.sign_in_openid(&body, &visitor).await?))
}

pub(crate) async fn show_sign_in_methods(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<SignInMethods>, Problem> {
    Ok(Json(accounts.sign_in_methods(player.id).await?))
}

pub(crate) async fn link_identity(
    State(accounts): State<Accounts>,
    Holder { player, .. }: Holder,
    Body(body): Body<IdentityLinkRequest>,
) -> Result<Json<SignInMethods>, Problem> {
    let IdentityLinkRequest { issuer, id_token: token, device_id } = body;
    accounts.link_identity(&player, &IdToken { issuer, token }, &device_id).await?;
    show_sign_in_methods(State(accounts), player).await
}

pub(crate) async fn unlink_identity(
    State(accounts): State<Accounts>,
    holder: Holder,
    Path(issuer): Path<String>,
) -> Result<StatusCode, Problem> {
    if issuer.chars().count() > ADDRESS_CHARS_MAX {
        return Err(Code::PathInvalid.with_detail("an issuer has at most 255 characters"));
    }
    accounts.unlink_identity(&holder.player, &issuer).await?;
    Ok(StatusCode::NO_CONTENT)
}
