//! Signing in, staying signed in, signing out.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{
    AccountError, Accounts, DeviceId, DeviceTimeZone, GuestSignIn, Name, Profile, Tokens,
};
use crate::auth::{Player, RefreshToken};

use super::me::Me;
use super::security_log::Concerns;
use super::visit::Visit;
use super::{
    Body, Code, DeviceText, DeviceTimeZoneText, NameText, Problem, ProblemBody, Services, Time,
};
use crate::openid::OpenIdError;

/// A device asks for its player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GuestSignIn)]
pub(super) struct GuestSignInBody {
    /// A random text that this installation has drawn once and keeps. It works like a password.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// For a new player. A known player keeps its name.
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// For a player that has none yet: the IANA name of its time zone.
    /// One that the server does not know is left out: `time_zone` of the answer's player tells.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    time_zone: DeviceTimeZone,
}

/// The tokens of a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tokens)]
pub(super) struct TokensBody {
    /// The session that the tokens are for.
    session: Uuid,
    /// To be sent as `Authorization: Bearer <token>`.
    access_token: String,
    access_expires_at: Time,
    /// Good for one use; keep the newest.
    #[schema(example = "rt_0000000000000000000000000000000000000000000000000000000000000000")]
    refresh_token: String,
    refresh_expires_at: Time,
}

impl From<Tokens> for TokensBody {
    fn from(tokens: Tokens) -> Self {
        Self {
            session: tokens.session.0,
            access_expires_at: tokens.access.expires_at.into(),
            access_token: tokens.access.reveal(),
            refresh_token: tokens.refresh.reveal(),
            refresh_expires_at: tokens.refresh_expires_at.into(),
        }
    }
}

/// A player and the tokens of its new session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SignedIn {
    player: Me,
    #[serde(flatten)]
    tokens: TokensBody,
}

impl IntoResponse for SignedIn {
    fn into_response(self) -> Response {
        let concerns = Concerns(self.player.id());
        let mut response = Json(self).into_response();
        response.extensions_mut().insert(concerns);
        response
    }
}

impl From<(Profile, Tokens)> for SignedIn {
    fn from((profile, tokens): (Profile, Tokens)) -> Self {
        Self { player: profile.into(), tokens: tokens.into() }
    }
}

/// Sign in as a guest
///
/// The same device id signs in the same player. A new one makes a player with the welcome grant,
/// once, however many requests race. A network (an IPv4 address, or the first 48 bits of an IPv6
/// address) has so many welcomes a day; who comes beyond that is let in without, and gets it when it
/// signs in or refreshes on another day, or links an identity. Every sign-in opens a session of its
/// own.
#[utoipa::path(
    post,
    path = "/v1/sign-in/guest",
    tag = "sign in",
    request_body = GuestSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignedIn),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`name_taken`: a new player may not have this name, or one \
            that looks like it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`; `name_reserved`: a new \
            player may not have a name by which the house is meant", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in_guest(
    State(accounts): State<Accounts>,
    visit: Visit,
    Body(body): Body<GuestSignInBody>,
) -> Result<SignedIn, Problem> {
    let GuestSignInBody { device_id: device, name, time_zone } = body;
    let DeviceTimeZone(time_zone) = time_zone;
    let visitor = visit.with_device(Some(device.clone()));
    let request = GuestSignIn { device, name, time_zone, visitor };
    Ok(accounts.sign_in_guest(&request).await?.into())
}

/// A refresh token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Refresh {
    /// The newest of the session.
    #[schema(
        max_length = 67,
        example = "rt_0000000000000000000000000000000000000000000000000000000000000000"
    )]
    refresh_token: String,
    /// The device of the session, as it was named when signing in; a session without a device takes
    /// the first one that is named here. By it alone a repetition is told from a theft.
    #[serde(default)]
    #[schema(value_type = Option<DeviceText>)]
    device_id: Option<DeviceId>,
}

/// Trade a refresh token for new tokens
///
/// The token is used up. Within 60 seconds the same request by the same device gets the same new
/// refresh token, as often as it comes: repeat it if the answer was lost, or if two tabs have the same
/// token. That takes `device_id` in the first request and in the repetition, and ends when the new
/// token is used. If the token comes a second time in any other way, somebody has a copy of it, and
/// its session ends on the spot: every token of it stops working, the newest ones too.
#[utoipa::path(
    post,
    path = "/v1/token/refresh",
    tag = "sign in",
    request_body = Refresh,
    responses(
        (status = 200, description = "New tokens of the same session", body = TokensBody),
        (
            status = 401,
            description = "`refresh_token_unknown`, `session_ended`, `refresh_token_reused` or \
                `refresh_token_expired`: sign in again",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn refresh_token(
    State(accounts): State<Accounts>,
    visit: Visit,
    Body(body): Body<Refresh>,
) -> Result<Json<TokensBody>, Problem> {
    let unknown = || Code::RefreshTokenUnknown.plain();
    let token: RefreshToken = body.refresh_token.parse().map_err(|_| unknown())?;
    let (_, tokens) = accounts.refresh(&token, &visit.with_device(body.device_id)).await?;
    Ok(Json(tokens.into()))
}

/// Sign out
///
/// Ends this session; others of the same player go on. Within a second its access tokens are
/// refused on every node.
#[utoipa::path(
    post,
    path = "/v1/sign-out",
    tag = "sign in",
    security(("access_token" = [])),
    responses((status = 204, description = "The session has ended"))
)]
pub(super) async fn sign_out(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<StatusCode, Problem> {
    accounts.sign_out(&player).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl axum::extract::FromRef<Services> for Accounts {
    fn from_ref(services: &Services) -> Self {
        services.accounts.clone()
    }
}

impl From<AccountError> for Problem {
    fn from(error: AccountError) -> Self {
        let code = match &error {
            AccountError::RefreshTokenUnknown => Code::RefreshTokenUnknown,
            AccountError::SessionEnded => Code::SessionEnded,
            AccountError::RefreshTokenReused => Code::RefreshTokenReused,
            AccountError::RefreshTokenExpired => Code::RefreshTokenExpired,
            AccountError::Busy => Code::SignInBusy,
            AccountError::Locked { retry_after, .. } => {
                return Code::SignInLocked.because(error.to_string()).again_after(*retry_after);
            }
            AccountError::OpenId(OpenIdError::IssuerUnknown) => Code::IssuerUnknown,
            AccountError::OpenId(OpenIdError::Unavailable { .. }) => {
                return Code::IssuerUnavailable.plain();
            }
            AccountError::OpenId(
                OpenIdError::Malformed
                | OpenIdError::Algorithm
                | OpenIdError::KeyUnknown
                | OpenIdError::Forged
                | OpenIdError::OtherIssuer
                | OpenIdError::OtherAudience
                | OpenIdError::Expired
                | OpenIdError::Nonce,
            ) => Code::IdTokenRefused,
            AccountError::CredentialsWrong => Code::CredentialsWrong,
            AccountError::PasswordWrong => Code::PasswordWrong,
            AccountError::DeviceWrong => Code::DeviceWrong,
            AccountError::DeviceTaken => Code::DeviceTaken,
            AccountError::IdentityWrong => Code::IdentityWrong,
            AccountError::ProofInsufficient => Code::ProofInsufficient,
            AccountError::Banned(_) => Code::Banned,
            AccountError::PasswordEasy => Code::PasswordEasy,
            AccountError::NameReserved => Code::NameReserved,
            AccountError::NameChangedLately { .. } => Code::NameChangedLately,
            AccountError::NameTaken => Code::NameTaken,
            AccountError::PasswordSet => Code::PasswordSet,
            AccountError::PasswordNotSet => Code::PasswordNotSet,
            AccountError::IdentityTaken => Code::IdentityTaken,
            AccountError::IssuerLinked => Code::IssuerLinked,
            AccountError::LastSignIn => Code::LastSignIn,
            AccountError::InGame => Code::InGame,
            AccountError::SessionNotFound => Code::SessionNotFound,
            // Its token has not been heard to be revoked yet on this node.
            AccountError::PlayerGone => Code::TokenRevoked,
            AccountError::Unavailable { .. } => return Self::unavailable(&error),
            AccountError::Broken { .. } => return Self::internal(&error),
        };
        code.because(error.to_string())
    }
}
