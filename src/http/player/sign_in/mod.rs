//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

mod guest;
mod openid;
mod password;
mod proof;
mod sessions;

use bahay_api::player::sign_in as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SIGN_IN_GUEST, guest::sign_in_guest)
        .bind(&operations::SIGN_IN_PASSWORD, password::sign_in_password)
        .bind(&operations::ASK_NONCE, openid::ask_nonce)
        .bind(&operations::SIGN_IN_OPENID, openid::sign_in_openid)
        .bind(&operations::REFRESH_TOKEN, guest::refresh_token)
        .bind(&operations::SIGN_OUT, guest::sign_out)
        .bind(&operations::SHOW_PROOF, proof::show_proof)
        .bind(&operations::SET_FIRST_PASSWORD, password::set_first_password)
        .bind(&operations::CHANGE_PASSWORD, password::change_password)
        .bind(&operations::SHOW_SIGN_IN_METHODS, openid::show_sign_in_methods)
        .bind(&operations::LINK_IDENTITY, openid::link_identity)
        .bind(&operations::UNLINK_IDENTITY, openid::unlink_identity)
        .bind(&operations::LIST_MY_SESSIONS, sessions::list_my_sessions)
        .bind(&operations::SIGN_OUT_EVERYWHERE, sessions::sign_out_everywhere)
        .bind(&operations::END_MY_SESSION, sessions::end_my_session)
        .bind(&operations::FORGET_MY_DEVICES, sessions::forget_my_devices)
        .bind(&operations::CHANGE_MY_DEVICE, sessions::change_my_device)
}
