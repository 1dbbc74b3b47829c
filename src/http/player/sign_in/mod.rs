//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

mod guest;
mod openid;
mod password;
pub(crate) mod proof;
mod sessions;

use bahay_api::player::sign_in as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&operations::SIGN_IN_GUEST, guest::sign_in_guest)
        .on(&operations::SIGN_IN_PASSWORD, password::sign_in_password)
        .on(&operations::ASK_NONCE, openid::ask_nonce)
        .on(&operations::SIGN_IN_OPENID, openid::sign_in_openid)
        .on(&operations::REFRESH_TOKEN, guest::refresh_token)
        .on(&operations::SIGN_OUT, guest::sign_out)
        .on(&operations::SHOW_PROOF, proof::show_proof)
        .on(&operations::SET_FIRST_PASSWORD, password::set_first_password)
        .on(&operations::CHANGE_PASSWORD, password::change_password)
        .on(&operations::SHOW_SIGN_IN_METHODS, openid::show_sign_in_methods)
        .on(&operations::LINK_IDENTITY, openid::link_identity)
        .on(&operations::UNLINK_IDENTITY, openid::unlink_identity)
        .on(&operations::LIST_MY_SESSIONS, sessions::list_my_sessions)
        .on(&operations::SIGN_OUT_EVERYWHERE, sessions::sign_out_everywhere)
        .on(&operations::END_MY_SESSION, sessions::end_my_session)
        .on(&operations::FORGET_MY_DEVICES, sessions::forget_my_devices)
        .on(&operations::CHANGE_MY_DEVICE, sessions::change_my_device)
}
