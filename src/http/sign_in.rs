//! Signing in, staying signed in, signing out.

use axum::Json;
use axum::extract::State;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::{AccountError, Accounts, DeviceId, GuestSignIn, Name, TimeZone, Tokens};
use crate::auth::{Player, RefreshToken};

use super::me::Me;
use super::{Body, Code, NameText, Problem, ProblemBody, Services, Time};

/// A device asks for its player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GuestSignIn)]
pub(super) struct GuestSignInBody {
    /// A random text that this installation has drawn once and keeps. It works like a password.
    #[schema(
        value_type = String,
        pattern = "^[!-~]{16,128}$",
        example = "3f0c2b0e-6d7a-4b60-9a51-8a3c1c7f2d11"
    )]
    device_id: DeviceId,
    /// For a new player. A known player keeps its name.
    #[schema(value_type = Option<NameText>)]
    name: Option<Name>,
    /// For a player that has none yet: the IANA name of its time zone.
    #[schema(
        value_type = Option<String>,
        pattern = "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$",
        example = "Asia/Manila"
    )]
    time_zone: Option<TimeZone>,
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

/// Sign in as a guest
///
/// The same device id signs in the same player. A new one makes a player with the welcome grant,
/// once, however many requests race. Every sign-in opens a session of its own.
#[utoipa::path(
    post,
    path = "/v1/sign-in/guest",
    tag = "sign in",
    request_body = GuestSignInBody,
    responses((status = 200, description = "Signed in", body = SignedIn))
)]
pub(super) async fn sign_in_guest(
    State(accounts): State<Accounts>,
    headers: HeaderMap,
    Body(body): Body<GuestSignInBody>,
) -> Result<Json<SignedIn>, Problem> {
    let GuestSignInBody { device_id: device, name, time_zone } = body;
    let user_agent = headers.get(USER_AGENT).and_then(|text| text.to_str().ok());
    let user_agent = user_agent.map(str::to_owned);
    let request = GuestSignIn { device, name, time_zone, user_agent };
    let (profile, tokens) = accounts.sign_in_guest(&request).await?;
    Ok(Json(SignedIn { player: profile.into(), tokens: tokens.into() }))
}

/// A refresh token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Refresh {
    /// The newest of the session.
    #[schema(example = "rt_0000000000000000000000000000000000000000000000000000000000000000")]
    refresh_token: String,
}

/// Trade a refresh token for new tokens
///
/// The token is used up. If it comes a second time, somebody has a copy of it, and its session
/// ends on the spot: every token of it stops working, the newest ones too. There is no grace, so
/// a client must not send the same token twice at once.
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
        )
    )
)]
pub(super) async fn refresh_token(
    State(accounts): State<Accounts>,
    Body(body): Body<Refresh>,
) -> Result<Json<TokensBody>, Problem> {
    let unknown = || Code::RefreshTokenUnknown.plain();
    let token: RefreshToken = body.refresh_token.parse().map_err(|_| unknown())?;
    let (_, tokens) = accounts.refresh(&token).await?;
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
            AccountError::Unavailable { .. } => return Self::unavailable(&error),
            AccountError::Broken { .. } => return Self::internal(&error),
        };
        code.because(error.to_string())
    }
}
