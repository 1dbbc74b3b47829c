//! Sign-in with external identities (OpenID Connect): signing in, linking and unlinking, and the
//! list of a player's sign-in methods.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::accounts::{
    Accounts, DeviceId, DeviceTimeZone, IssuedNonce, LinkedIdentity, Name, OpenIdSignIn,
    SignInMethods,
};
use crate::auth::{Holder, Player};
use crate::openid::{ADDRESS_CHARS_MAX, IdToken};

use super::guest::SignInResponse;
use crate::http::core::client_info::ClientInfo;
use crate::http::{
    Body, Code, CodeExt as _, DeviceText, DeviceTimeZoneText, IdTokenText, IssuerText, NameText,
    Path, Problem, ProblemBody, Time,
};
use bahay_api::ProofHeader;

/// A sign-in with an ID token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenIdSignIn)]
pub(crate) struct OpenIdSignInBody {
    /// The issuer's name in the house's settings.
    #[schema(value_type = IssuerText)]
    issuer: String,
    /// The ID token as the issuer gave it to the client.
    #[schema(value_type = IdTokenText)]
    id_token: String,
    /// The device that requested the nonce in the token. It does not sign in by itself; it shows
    /// which players use the same device.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// The name of a new player. An existing player keeps its name.
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// The IANA name of a new player's time zone. A name that the server does not know is ignored;
    /// `time_zone` of the player in the response shows the result.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    time_zone: DeviceTimeZone,
}

/// A request for a nonce, made by a device before it signs its user in with an issuer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NonceRequest {
    /// The device's id, as for guests. The same device must present the token.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
}

/// A nonce.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Nonce)]
pub(crate) struct NonceBody {
    /// The nonce to pass to the issuer, which puts it into the ID token.
    #[schema(
        min_length = 112,
        max_length = 112,
        example = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    nonce: String,
    expires_at: Time,
}

/// Request a nonce
///
/// Required before the client signs its user in with an issuer in order to sign in, to link an
/// identity, or to prove possession of the account. The nonce is valid for ten minutes, for this
/// device, and once.
#[utoipa::path(
    post,
    path = "/v1/sign-in/openid/nonce",
    tag = "sign in",
    request_body = NonceRequest,
    responses(
        (status = 200, description = "A nonce", body = NonceBody),
        (status = 422, description = "`body_invalid`", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
pub(crate) async fn ask_nonce(
    State(accounts): State<Accounts>,
    Body(body): Body<NonceRequest>,
) -> Json<NonceBody> {
    let IssuedNonce { text: nonce, expires_at } = accounts.issue_nonce(&body.device_id);
    Json(NonceBody { nonce, expires_at: expires_at.into() })
}

/// Sign in with an external identity
///
/// The client has signed its user in with an issuer that the house trusts (OpenID Connect), and
/// presents the ID token. The token must be signed with RS256 or ES256, be issued for the house, be
/// unexpired, and contain a nonce that the same device has requested. A token can be used once. The
/// same subject always signs in the same player; a new subject creates a player with the welcome
/// grant.
#[utoipa::path(
    post,
    path = "/v1/sign-in/openid",
    tag = "sign in",
    request_body = OpenIdSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignInResponse),
        (status = 401, description = "`id_token_refused`: the detail states the reason",
            body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`issuer_unknown`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`name_taken`: the name, or a confusable one, is taken",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `name_reserved`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`issuer_unavailable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn sign_in_openid(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<OpenIdSignInBody>,
) -> Result<SignInResponse, Problem> {
    let OpenIdSignInBody { issuer, id_token, device_id: device, name, time_zone } = body;
    let DeviceTimeZone(time_zone) = time_zone;
    let token = IdToken { issuer, token: id_token };
    let visitor = client.into_visitor(Some(device.clone()));
    let request = OpenIdSignIn { token, device, name, time_zone, visitor };
    Ok(accounts.sign_in_openid(&request).await?.into())
}

/// The sign-in methods of a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignInMethods)]
pub(crate) struct SignInMethodsBody {
    /// The number of devices that sign the player in by themselves.
    #[schema(example = 1)]
    devices: u32,
    /// The time at which the password was set; null without a password.
    #[schema(required = true)]
    password_set_at: Option<Time>,
    identities: Vec<IdentityBody>,
}

/// An external identity that signs the player in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Identity)]
pub(crate) struct IdentityBody {
    /// The issuer's name in the house's settings, or its address if the settings no longer contain
    /// it.
    #[schema(max_length = 255, example = "google")]
    issuer: String,
    /// The subject, by which the issuer identifies its user.
    #[schema(example = "110169484474386276334")]
    subject: String,
    linked_at: Time,
}

impl From<LinkedIdentity> for IdentityBody {
    fn from(linked: LinkedIdentity) -> Self {
        let LinkedIdentity { issuer, subject, linked_at } = linked;
        Self { issuer, subject, linked_at: linked_at.into() }
    }
}

impl From<SignInMethods> for SignInMethodsBody {
    fn from(methods: SignInMethods) -> Self {
        Self {
            devices: methods.devices,
            password_set_at: methods.password_set_at.map(Time::from),
            identities: methods.identities.into_iter().map(IdentityBody::from).collect(),
        }
    }
}

/// Show my sign-in methods
#[utoipa::path(
    get,
    path = "/v1/me/sign-in-methods",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The sign-in methods", body = SignInMethodsBody))
)]
pub(crate) async fn show_sign_in_methods(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<SignInMethodsBody>, Problem> {
    Ok(Json(accounts.sign_in_methods(player.id).await?.into()))
}

/// An ID token whose subject is to be linked to the player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IdentityLinkRequest {
    /// The issuer's name in the house's settings.
    #[schema(value_type = IssuerText)]
    issuer: String,
    #[schema(value_type = IdTokenText)]
    id_token: String,
    /// The device that requested the nonce in the token.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
}

/// Link an external identity
///
/// From now on the identity signs this player in. Idempotent: linking the same identity again
/// changes nothing.
#[utoipa::path(
    post,
    path = "/v1/me/identities",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    request_body = IdentityLinkRequest,
    responses(
        (status = 200, description = "The sign-in methods after the change",
            body = SignInMethodsBody),
        (status = 401, description = "`id_token_refused`: the detail states the reason; or the \
            access token was rejected",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "`proof_missing`, `proof_refused`: obtain an account proof by \
            `POST /v1/me/proof` first", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 404, description = "`issuer_unknown`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`identity_taken`: the identity signs in another player. \
            `issuer_linked`: another identity of this issuer is linked", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`issuer_unavailable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn link_identity(
    State(accounts): State<Accounts>,
    holder: Holder,
    Body(body): Body<IdentityLinkRequest>,
) -> Result<Json<SignInMethodsBody>, Problem> {
    let IdentityLinkRequest { issuer, id_token, device_id } = body;
    let token = IdToken { issuer, token: id_token };
    accounts.link_identity(&holder.player, &token, &device_id).await?;
    Ok(Json(accounts.sign_in_methods(holder.player.id).await?.into()))
}

/// Unlink an external identity
///
/// The identity no longer signs the player in. Idempotent: unlinking an identity that is not linked
/// changes nothing.
#[utoipa::path(
    delete,
    path = "/v1/me/identities/{issuer}",
    tag = "me",
    security(("access_token" = [])),
    params(
        ("issuer" = String, Path, max_length = 255, description = "The issuer's name, as in the \
            list of sign-in methods", example = "google"),
        ProofHeader
    ),
    responses(
        (status = 204, description = "The identity is not linked"),
        (status = 403, description = "`proof_missing`, `proof_refused`: obtain an account proof by \
            `POST /v1/me/proof` first", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`last_sign_in`: the player would have no sign-in method left",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
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
