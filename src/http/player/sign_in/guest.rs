//! Guest sign-in, token refresh, and sign-out.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use bahay_api::player::account::OwnProfile;
use bahay_api::player::sign_in::{GuestSignIn, RefreshRequest, SignedIn, Tokens};

use crate::accounts::{self, AccountError, Accounts};
use crate::auth::{Player, RefreshToken};
use crate::http::core::client_info::ClientInfo;
use crate::http::core::security_log::ConcernedPlayer;
use crate::http::{Body, Code, CodeExt as _, Problem};
use crate::ids::PlayerId;
use crate::openid::OpenIdError;

impl From<accounts::Tokens> for Tokens {
    fn from(tokens: accounts::Tokens) -> Self {
        Self {
            session: tokens.session.0,
            access_expires_at: tokens.access.expires_at.into(),
            access_token: tokens.access.reveal(),
            refresh_token: tokens.refresh.reveal(),
            refresh_expires_at: tokens.refresh_expires_at.into(),
        }
    }
}

/// The response to a sign-in, which names its player to the security log.
pub(super) type SignInResponse = (Extension<ConcernedPlayer>, Json<SignedIn>);

pub(super) fn sign_in_response((player, tokens): (OwnProfile, accounts::Tokens)) -> SignInResponse {
    let concerned = ConcernedPlayer(PlayerId(player.id));
    (Extension(concerned), Json(SignedIn { player, tokens: tokens.into() }))
}

pub(crate) async fn sign_in_guest(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<GuestSignIn>,
) -> Result<SignInResponse, Problem> {
    let visitor = client.into_visitor(Some(body.device_id.clone()));
    Ok(sign_in_response(accounts.sign_in_guest(&body, &visitor).await?))
}

pub(crate) async fn refresh_token(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<RefreshRequest>,
) -> Result<Json<Tokens>, Problem> {
    let unknown = || Code::RefreshTokenUnknown.problem();
    let token: RefreshToken = body.refresh_token.parse().map_err(|_| unknown())?;
    let (_, tokens) = accounts.refresh(&token, &client.into_visitor(body.device_id)).await?;
    Ok(Json(tokens.into()))
}

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
