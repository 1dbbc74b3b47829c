//! Sign-in with external identities (OpenID Connect): signing in, linking and unlinking, and the
//! list of a player's sign-in methods.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::sign_in::{
    Identity, IdentityLinkRequest, Nonce, NonceRequest, OpenIdSignIn, SignInMethods,
};

use super::guest::{SignInResponse, sign_in_response};
use crate::accounts::{self, Accounts, IssuedNonce, LinkedIdentity};
use crate::auth::{Holder, Player};
use crate::http::core::client_info::ClientInfo;
use crate::http::{Body, Code, CodeExt as _, Path, Problem, Time};
use crate::openid::{ADDRESS_CHARS_MAX, IdToken};

// The documentation states the maximum length of an issuer.
const _: () = assert!(ADDRESS_CHARS_MAX == 255);

pub(crate) async fn ask_nonce(
    State(accounts): State<Accounts>,
    Body(body): Body<NonceRequest>,
) -> Json<Nonce> {
    let IssuedNonce { text: nonce, expires_at } = accounts.issue_nonce(&body.device_id);
    Json(Nonce { nonce, expires_at: expires_at.into() })
}

pub(crate) async fn sign_in_openid(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<OpenIdSignIn>,
) -> Result<SignInResponse, Problem> {
    let OpenIdSignIn { issuer, id_token: token, device_id: device, name, time_zone } = body;
    let token = IdToken { issuer, token };
    let visitor = client.into_visitor(Some(device.clone()));
    let request = accounts::OpenIdSignIn { token, device, name, time_zone: time_zone.0, visitor };
    Ok(sign_in_response(accounts.sign_in_openid(&request).await?))
}

impl From<LinkedIdentity> for Identity {
    fn from(linked: LinkedIdentity) -> Self {
        let LinkedIdentity { issuer, subject, linked_at } = linked;
        Self { issuer, subject, linked_at: linked_at.into() }
    }
}

impl From<accounts::SignInMethods> for SignInMethods {
    fn from(methods: accounts::SignInMethods) -> Self {
        Self {
            devices: methods.devices,
            password_set_at: methods.password_set_at.map(Time::from),
            identities: methods.identities.into_iter().map(Identity::from).collect(),
        }
    }
}

pub(crate) async fn show_sign_in_methods(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<SignInMethods>, Problem> {
    Ok(Json(accounts.sign_in_methods(player.id).await?.into()))
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
