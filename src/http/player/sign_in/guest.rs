//! Guest sign-in, token refresh, and sign-out.

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

use crate::http::core::client_info::ClientInfo;
use crate::http::core::security_log::ConcernedPlayer;
use crate::http::player::account::own_account::OwnProfile;
use crate::http::{
    Body, Code, CodeExt as _, DeviceText, DeviceTimeZoneText, NameText, Problem, ProblemBody, Time,
};
use crate::openid::OpenIdError;

/// A guest's sign-in with a device.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GuestSignIn)]
pub(crate) struct GuestSignInBody {
    /// A random text that the installation has generated once and keeps. It is as secret as a
    /// password.
    #[schema(value_type = DeviceText)]
    device_id: DeviceId,
    /// The name of a new player. An existing player keeps its name.
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// The IANA name of the time zone, for a player that has none yet. A name that the server does
    /// not know is ignored; `time_zone` of the player in the response shows the result.
    #[serde(default)]
    #[schema(value_type = Option<DeviceTimeZoneText>)]
    time_zone: DeviceTimeZone,
}

/// The tokens of a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tokens)]
pub(crate) struct TokensBody {
    /// The session to which the tokens belong.
    session: Uuid,
    /// The access token, to be sent as `Authorization: Bearer <token>`.
    access_token: String,
    access_expires_at: Time,
    /// The refresh token, valid for one use; keep the newest.
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
#[schema(as = SignedIn)]
pub(crate) struct SignInResponse {
    player: OwnProfile,
    #[serde(flatten)]
    tokens: TokensBody,
}

impl IntoResponse for SignInResponse {
    fn into_response(self) -> Response {
        let concerns = ConcernedPlayer(self.player.id());
        let mut response = Json(self).into_response();
        response.extensions_mut().insert(concerns);
        response
    }
}

impl From<(Profile, Tokens)> for SignInResponse {
    fn from((profile, tokens): (Profile, Tokens)) -> Self {
        Self { player: profile.into(), tokens: tokens.into() }
    }
}

/// Sign in as a guest
///
/// A device id always signs in the same player. A new id creates a player with the welcome grant,
/// once, regardless of concurrent requests. The number of welcome grants per network (an IPv4
/// address, or the first 48 bits of an IPv6 address) and day is limited; further players are signed
/// in without the grant, and receive it when they sign in or refresh on another day, or link an
/// identity. Every sign-in opens a session of its own.
#[utoipa::path(
    post,
    path = "/v1/sign-in/guest",
    tag = "sign in",
    request_body = GuestSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignInResponse),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`name_taken`: the name, or a confusable one, is taken",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`; `name_reserved`: the name is reserved for \
            the house", body = ProblemBody,
            content_type = "application/problem+json"),
    )
)]
pub(crate) async fn sign_in_guest(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<GuestSignInBody>,
) -> Result<SignInResponse, Problem> {
    let GuestSignInBody { device_id: device, name, time_zone } = body;
    let DeviceTimeZone(time_zone) = time_zone;
    let visitor = client.into_visitor(Some(device.clone()));
    let request = GuestSignIn { device, name, time_zone, visitor };
    Ok(accounts.sign_in_guest(&request).await?.into())
}

/// A request for new tokens.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefreshRequest {
    /// The newest refresh token of the session.
    #[schema(
        max_length = 67,
        example = "rt_0000000000000000000000000000000000000000000000000000000000000000"
    )]
    refresh_token: String,
    /// The device of the session, as named at sign-in. A session without a device adopts the first
    /// one that is named here. Only the device distinguishes a retry from a stolen token.
    #[serde(default)]
    #[schema(value_type = Option<DeviceText>)]
    device_id: Option<DeviceId>,
}

/// Exchange a refresh token for new tokens
///
/// Uses up the token. Within 60 seconds the same request by the same device returns the same new
/// refresh token, any number of times: retry if the response was lost, or if two tabs share a
/// token. This requires `device_id` in the first request and in the retry, and ends when the new
/// token is used. If the token is presented again in any other way, it must have been copied, and
/// its session ends at once: all its tokens, including the newest, stop working.
#[utoipa::path(
    post,
    path = "/v1/token/refresh",
    tag = "sign in",
    request_body = RefreshRequest,
    responses(
        (status = 200, description = "New tokens of the same session", body = TokensBody),
        (
            status = 401,
            description = "`refresh_token_unknown`, `session_ended`, `refresh_token_reused` or \
                `refresh_token_expired`: sign in again",
            body = ProblemBody,
            content_type = "application/problem+json"
        ),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(crate) async fn refresh_token(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<RefreshRequest>,
) -> Result<Json<TokensBody>, Problem> {
    let unknown = || Code::RefreshTokenUnknown.problem();
    let token: RefreshToken = body.refresh_token.parse().map_err(|_| unknown())?;
    let (_, tokens) = accounts.refresh(&token, &client.into_visitor(body.device_id)).await?;
    Ok(Json(tokens.into()))
}

/// Sign out
///
/// Ends this session; other sessions of the player continue. Within a second its access tokens are
/// refused on every node.
#[utoipa::path(
    post,
    path = "/v1/sign-out",
    tag = "sign in",
    security(("access_token" = [])),
    responses((status = 204, description = "The session has ended"))
)]
pub(crate) async fn sign_out(
    State(accounts): State<Accounts>,
    player: Player,
) -> Result<StatusCode, Problem> {
    accounts.sign_out(&player).await?;
    Ok(StatusCode::NO_CONTENT)
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
                return Code::SignInLocked
                    .with_detail(error.to_string())
                    .with_retry_after(*retry_after);
            }
            AccountError::OpenId(OpenIdError::IssuerUnknown) => Code::IssuerUnknown,
            AccountError::OpenId(OpenIdError::Unavailable { .. }) => {
                return Code::IssuerUnavailable.problem();
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
            // This node has not yet received the revocation of the token.
            AccountError::PlayerGone => Code::TokenRevoked,
            AccountError::Unavailable { .. } => return Self::unavailable(&error),
            AccountError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
