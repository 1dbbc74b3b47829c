//! Passwords: signing in by name and password, and setting and changing a password.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::accounts::{Accounts, DeviceId, Name, NewPassword, PasswordAttempt, PasswordSignIn};
use crate::auth::{Holder, Player};

use super::guest::SignInResponse;
use crate::http::core::client_info::ClientInfo;
use crate::http::player::account::own_account::OwnProfile;
use crate::http::{Body, NameText, Problem, ProblemBody};
use bahay_api::ProofHeader;

/// A sign-in by name and password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordSignIn)]
pub(crate) struct PasswordSignInBody {
    /// The player's name, in upper or lower case.
    #[schema(max_length = 256, example = "Mang Tomás")]
    name: String,
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    password: PasswordAttempt,
    /// The device's id, as for guests. It does not sign in by itself; it shows which players use
    /// the same device.
    #[schema(
        value_type = Option<String>,
        pattern = "^[!-~]{16,128}$",
        example = "3f0c2b0e-6d7a-4b60-9a51-8a3c1c7f2d11"
    )]
    device_id: Option<DeviceId>,
}

/// Sign in by name and password
///
/// An unknown name and a wrong password get the same response after the same work. After five
/// failures within a minute, sign-ins by that name are refused until the minute has passed, from
/// every address and on every node. Hashing a password is expensive by design; when too many
/// sign-ins are waiting, further ones are refused with `sign_in_busy`.
#[utoipa::path(
    post,
    path = "/v1/sign-in/password",
    tag = "sign in",
    request_body = PasswordSignInBody,
    responses(
        (status = 200, description = "Signed in", body = SignInResponse),
        (status = 401, description = "`credentials_wrong`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`: wait for the time in \
            `Retry-After`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn sign_in_password(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<PasswordSignInBody>,
) -> Result<SignInResponse, Problem> {
    let PasswordSignInBody { name, password, device_id } = body;
    let request = PasswordSignIn { name, password, visitor: client.into_visitor(device_id) };
    Ok(accounts.sign_in_password(&request).await?.into())
}

/// A first password, with the player's name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstPasswordRequest {
    /// The name by which the player signs in and is shown to others. It may be the present name.
    #[schema(value_type = NameText)]
    name: Name,
    /// Any characters. Passwords that are commonly guessed are refused.
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
/// Turns a guest into a player with a name and a password. The player keeps its id, its wallet and
/// its seat, and its device continues to sign it in. The name is reserved for the player from now
/// on: nobody else can take it or a confusable name.
#[utoipa::path(
    post,
    path = "/v1/me/password",
    tag = "me",
    security(("access_token" = [])),
    params(ProofHeader),
    request_body = FirstPasswordRequest,
    responses(
        (status = 200, description = "The player after the change", body = OwnProfile),
        (status = 403, description = "`proof_missing`, `proof_refused`: obtain an account proof by \
            `POST /v1/me/proof` first", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 409, description = "`password_set`: the player has a password, which can be \
            changed. `name_taken`; `name_changed_lately`: the detail states the time of the next \
            change",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `name_reserved`, `password_easy`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn set_first_password(
    State(accounts): State<Accounts>,
    holder: Holder,
    Body(body): Body<FirstPasswordRequest>,
) -> Result<Json<OwnProfile>, Problem> {
    let FirstPasswordRequest { name, password } = body;
    Ok(Json(accounts.set_first_password(&holder.player, &name, &password).await?.into()))
}

/// A change of the password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordChangeRequest {
    #[schema(
        value_type = String,
        format = Password,
        max_length = 512,
        example = "rain on a tin roof"
    )]
    current_password: PasswordAttempt,
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
/// Ends all other sessions of the player. Wrong passwords count as failed sign-ins.
#[utoipa::path(
    put,
    path = "/v1/me/password",
    tag = "me",
    security(("access_token" = [])),
    request_body = PasswordChangeRequest,
    responses(
        (status = 204, description = "The change is made"),
        (status = 403, description = "`password_wrong`: the current password is another one",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`password_not_set`: the player has no password",
            body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, `password_easy`", body = ProblemBody,
            content_type = "application/problem+json"),
        (status = 429, description = "`sign_in_locked`, `too_many_requests`: wait for the time in \
            `Retry-After`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`sign_in_busy`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn change_password(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<PasswordChangeRequest>,
) -> Result<StatusCode, Problem> {
    let PasswordChangeRequest { current_password, password } = body;
    accounts.change_password(&player, &current_password, &password).await?;
    Ok(StatusCode::NO_CONTENT)
}
