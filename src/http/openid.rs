//! Accounts elsewhere: signing in by them, linking them, and how a player can sign in at all.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::accounts::{
    Accounts, DeviceId, DeviceTimeZone, DrawnNonce, Linked, Name, OpenIdSignIn, WaysIn,
};
use crate::auth::{Holder, Player};
use crate::openid::{ADDRESS_CHARS_MAX, IdToken};

use super::proof::ProofHeader;
use super::sign_in::SignedIn;
use super::visit::Visit;
use super::{
    Body, Code, DeviceText, DeviceTimeZoneText, IdTokenText, IssuerText, NameText, Path, Problem,
    ProblemBody, Time,
};

/// An ID token asks for its player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OpenIdSignIn)]
pub(super) struct OpenIdSignInBody {
    /// As the house's settings call it.
    #[schema(value_type = IssuerText)]
    issuer: String,
    /// As the issuer gave it to the client.
    #[schema(value_type = IdTokenText)]
    id_token: String,
    /// That which asked for the nonce in the token. It does not sign in by itself; it tells who plays from
    /// one device.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// For a new player. A known player keeps its name.
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// For a new player: the IANA name of its time zone.
    /// One that the server does not know is left out: `time_zone` of the answer's player tells.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    time_zone: DeviceTimeZone,
}

/// A device that is about to sign its user in with an issuer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskNonce {
    /// As for guests. The token is to be brought by the same device.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
}

/// A nonce.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Nonce)]
pub(super) struct NonceBody {
    /// To be given to the issuer, which puts it into the ID token.
    #[schema(
        min_length = 112,
        max_length = 112,
        example = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    nonce: String,
    expires_at: Time,
}

/// Ask for a nonce
///
/// Before the client signs its user in with an issuer, to sign in here, to link the identity, or to show
/// that the account is the user's. It is good for ten minutes, for this device, and once.
#[utoipa::path(
    post,
    path = "/v1/sign-in/openid/nonce",
    tag = "sign in",
    request_body = AskNonce,
    responses(
        (status = 200, description = "A nonce", body = NonceBody),
        (status = 422, description = "`body_invalid`", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn ask_nonce(
    State(accounts): State<Accounts>,
    Body(body): Body<AskNonce>,
) -> Json<NonceBody> {
    let DrawnNonce { text: nonce, expires_at } = accounts.draw_nonce(&body.device_id);
    Json(NonceBody { nonce, expires_at: expires_at.into() })
}

/// Sign in by an account elsewhere
///
/// The client has signed its user in with an issuer that the house trusts (OpenID Connect), and
/// brings the ID token: signed by RS256 or ES256, for the house, not expired, with a nonce that the same
/// device has asked for. A token is good once. The same subject signs in the same player; a new one makes
/// a player with the welcome grant.
#[utoipa::path(
    post,
    path = "/v1/sign-in/openid",
    tag = "sign in",
    request_body = OpenIdSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignedIn),
        (status = 401, description = "`id_token_refused`: the detail says why", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`issuer_unknown`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`name_taken`: a new player may not have this name",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `name_reserved`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`issuer_unavailable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in_openid(
    State(accounts): State<Accounts>,
    visit: Visit,
    Body(body): Body<OpenIdSignInBody>,
) -> Result<SignedIn, Problem> {
    let OpenIdSignInBody { issuer, id_token, device_id: device, name, time_zone } = body;
    let DeviceTimeZone(time_zone) = time_zone;
    let token = IdToken { issuer, token: id_token };
    let visitor = visit.with_device(Some(device.clone()));
    let request = OpenIdSignIn { token, device, name, time_zone, visitor };
    Ok(accounts.sign_in_openid(&request).await?.into())
}

/// How a player can sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WaysIn)]
pub(super) struct WaysInBody {
    /// How many devices sign the player in by themselves.
    #[schema(example = 1)]
    devices: u32,
    /// Null without a password.
    #[schema(required = true)]
    password_set_at: Option<Time>,
    identities: Vec<IdentityBody>,
}

/// An account elsewhere that signs the player in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Identity)]
pub(super) struct IdentityBody {
    /// As the house's settings call it; its address, where they do so no more.
    #[schema(max_length = 255, example = "google")]
    issuer: String,
    /// What the issuer calls its user.
    #[schema(example = "110169484474386276334")]
    subject: String,
    linked_at: Time,
}

impl From<Linked> for IdentityBody {
    fn from(linked: Linked) -> Self {
        let Linked { issuer, subject, linked_at } = linked;
        Self { issuer, subject, linked_at: linked_at.into() }
    }
}

impl From<WaysIn> for WaysInBody {
    fn from(ways: WaysIn) -> Self {
        Self {
            devices: ways.devices,
            password_set_at: ways.password_set_at.map(Time::from),
            identities: ways.identities.into_iter().map(IdentityBody::from).collect(),
        }
    }
}

/// Show how I can sign in
#[utoipa::path(
    get,
    path = "/v1/me/ways-in",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "Devices, password, identities", body = WaysInBody))
)]
pub(super) async fn show_ways_in(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<Json<WaysInBody>, Problem> {
    Ok(Json(accounts.ways_in(player.id).await?.into()))
}

/// An ID token whose subject is to sign in the player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkIdentity {
    /// As the house's settings call it.
    #[schema(value_type = IssuerText)]
    issuer: String,
    #[schema(value_type = IdTokenText)]
    id_token: String,
    /// That which asked for the nonce in the token.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
}

/// Link an account elsewhere
///
/// From now on it signs this player in. Linking the same one again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/me/identities",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    request_body = LinkIdentity,
    responses(
        (status = 200, description = "How the player can sign in now", body = WaysInBody),
        (status = 401, description = "`id_token_refused`: the detail says why; or the access token \
            is refused", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "`proof_missing`, `proof_refused`: show first by \
            `POST /v1/me/proof` that the account is yours", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 404, description = "`issuer_unknown`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`identity_taken`: it signs in another player. \
            `issuer_linked`: another identity of this issuer is linked", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 503, description = "`issuer_unavailable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn link_identity(
    State(accounts): State<Accounts>,
    holder: Holder,
    Body(body): Body<LinkIdentity>,
) -> Result<Json<WaysInBody>, Problem> {
    let LinkIdentity { issuer, id_token, device_id } = body;
    let token = IdToken { issuer, token: id_token };
    accounts.link_identity(&holder.player, &token, &device_id).await?;
    Ok(Json(accounts.ways_in(holder.player.id).await?.into()))
}

/// Unlink an account elsewhere
///
/// It signs the player in no more. One that is not linked changes nothing.
#[utoipa::path(
    delete,
    path = "/v1/me/identities/{issuer}",
    tag = "me",
    security(("access_token" = [])),
    params(
        ("issuer" = String, Path, max_length = 255, description = "As the list has it", example = "google"),
        ProofHeader
    ),
    responses(
        (status = 204, description = "It is not linked"),
        (status = 403, description = "`proof_missing`, `proof_refused`: show first by \
            `POST /v1/me/proof` that the account is yours", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`last_sign_in`: there would be no way left to sign in",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn unlink_identity(
    State(accounts): State<Accounts>,
    holder: Holder,
    Path(issuer): Path<String>,
) -> Result<StatusCode, Problem> {
    if issuer.chars().count() > ADDRESS_CHARS_MAX {
        return Err(Code::PathInvalid.because("an issuer has at most 255 characters"));
    }
    accounts.unlink_identity(&holder.player, &issuer).await?;
    Ok(StatusCode::NO_CONTENT)
}
