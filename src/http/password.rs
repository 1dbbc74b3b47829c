//! Names with passwords: the first password of a guest, another one, signing in.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::accounts::{Accounts, Attempt, DeviceId, Name, NewPassword, PasswordSignIn};
use crate::auth::{Holder, Player};

use super::me::Me;
use super::proof::ProofHeader;
use super::sign_in::SignedIn;
use super::visit::Visit;
use super::{Body, NameText, Problem, ProblemBody};

/// A name and a password ask for their player.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordSignIn)]
pub(super) struct PasswordSignInBody {
    /// In great or small letters.
    #[schema(max_length = 256, example = "Mang Tomás")]
    name: String,
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    password: Attempt,
    /// As for guests. It does not sign in by itself; it tells who plays from one device.
    #[schema(
        value_type = Option<String>,
        pattern = "^[!-~]{16,128}$",
        example = "3f0c2b0e-6d7a-4b60-9a51-8a3c1c7f2d11"
    )]
    device_id: Option<DeviceId>,
}

/// Sign in by name and password
///
/// A name that nobody has and a wrong password get the same answer after the same work. After five
/// failures within a minute a name is refused until that minute has passed, whoever asks and on
/// whatever node. Hashing passwords is dear on purpose; who comes when too many wait is refused as
/// `sign_in_busy`.
#[utoipa::path(
    post,
    path = "/v1/sign-in/password",
    tag = "sign in",
    request_body = PasswordSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignedIn),
        (status = 401, description = "`credentials_wrong`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`: wait as long as \
            `Retry-After` says", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in_password(
    State(accounts): State<Accounts>,
    visit: Visit,
    Body(body): Body<PasswordSignInBody>,
) -> Result<SignedIn, Problem> {
    let PasswordSignInBody { name, password, device_id } = body;
    let request = PasswordSignIn { name, password, visitor: visit.with_device(device_id) };
    Ok(accounts.sign_in_password(&request).await?.into())
}

/// A first password, and the name that goes with it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstPassword {
    /// By which to sign in, and be seen. It may be the one that the player has.
    #[schema(value_type = NameText)]
    name: Name,
    /// Any characters. What everybody tries first is refused.
    #[schema(
        value_type = String,
        format = Password,
        min_length = 8,
        max_length = 128,
        example = "rain on a tin roof"
    )]
    password: NewPassword,
}

/// Set my first password
///
/// A guest becomes a player with a name and a password, and keeps everything: its id, its wallet,
/// its seat. Its device signs it in as before. The name is from now on its own: nobody else can
/// take it, or one that looks like it.
#[utoipa::path(
    post,
    path = "/v1/me/password",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    request_body = FirstPassword,
    responses(
        (status = 200, description = "The player as it is now", body = Me),
        (status = 403, description = "`proof_missing`, `proof_refused`: show first by \
            `POST /v1/me/proof` that the account is yours", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`password_set`: there is one, which can be changed. \
            `name_taken`; `name_changed_lately`: the detail says from when on it may be changed",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `name_reserved`, `password_easy`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn set_first_password(
    State(accounts): State<Accounts>,
    holder: Holder,
    Body(body): Body<FirstPassword>,
) -> Result<Json<Me>, Problem> {
    let FirstPassword { name, password } = body;
    Ok(Json(accounts.set_first_password(&holder.player, &name, &password).await?.into()))
}

/// Another password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangePassword {
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    current_password: Attempt,
    #[schema(
        value_type = String,
        format = Password,
        min_length = 8,
        max_length = 128,
        example = "two carabaos and a jeepney"
    )]
    password: NewPassword,
}

/// Change my password
///
/// All other sessions of the player end. Wrong tries count as failed sign-ins do.
#[utoipa::path(
    put,
    path = "/v1/me/password",
    tag = "me",
    security(("access_token" = [])),
    request_body = ChangePassword,
    responses(
        (status = 204, description = "It is changed"),
        (status = 403, description = "`password_wrong`: the current one is another",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`password_not_set`: there is none yet", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `password_easy`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`: wait as long as \
            `Retry-After` says", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn change_password(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<ChangePassword>,
) -> Result<StatusCode, Problem> {
    let ChangePassword { current_password, password } = body;
    accounts.change_password(&player, &current_password, &password).await?;
    Ok(StatusCode::NO_CONTENT)
}
