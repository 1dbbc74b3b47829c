//! Passwords: signing in by name and password, and setting and changing a password.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use bahay_api::player::account::OwnProfile;
use bahay_api::player::sign_in::{FirstPasswordRequest, PasswordChangeRequest, PasswordSignIn};

use super::guest::{SignInResponse, sign_in_response};
use crate::accounts::Accounts;
use crate::auth::{Holder, Player};
use crate::http::core::client_info::ClientInfo;
use crate::http::{Body, Problem};

pub(crate) async fn sign_in_password(
    State(accounts): State<Accounts>,
    client: ClientInfo,
    Body(body): Body<PasswordSignIn>,
) -> Result<SignInResponse, Problem> {
    let visitor = client.into_visitor(body.device_id.clone());
    Ok(sign_in_response(accounts.sign_in_password(&body, &visitor).await?))
}

pub(crate) async fn set_first_password(
    State(accounts): State<Accounts>,
    holder: Holder,
    Body(body): Body<FirstPasswordRequest>,
) -> Result<Json<OwnProfile>, Problem> {
    let FirstPasswordRequest { name, password } = body;
    Ok(Json(accounts.set_first_password(&holder.player, &name, &password).await?))
}

pub(crate) async fn change_password(
    State(accounts): State<Accounts>,
    player: Player,
    Body(body): Body<PasswordChangeRequest>,
) -> Result<StatusCode, Problem> {
    let PasswordChangeRequest { current_password, password } = body;
    accounts.change_password(&player, &current_password, &password).await?;
    Ok(StatusCode::NO_CONTENT)
}
