//! Sign-in methods, tokens, sessions, and proofs of the owner of an account.

pub(crate) mod guest;
pub(crate) mod openid;
pub(crate) mod password;
pub(crate) mod proof;
pub(crate) mod sessions;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(guest::sign_in_guest))
        .routes(describe!(password::sign_in_password))
        .routes(describe!(openid::ask_nonce))
        .routes(describe!(openid::sign_in_openid))
        .routes(describe!(guest::refresh_token))
        .routes(describe!(guest::sign_out))
        .routes(describe!(password::set_first_password, password::change_password))
        .routes(describe!(proof::show_proof))
        .routes(describe!(openid::show_sign_in_methods))
        .routes(describe!(openid::link_identity))
        .routes(describe!(openid::unlink_identity))
        .routes(describe!(sessions::list_my_sessions, sessions::sign_out_everywhere))
        .routes(describe!(sessions::end_my_session))
        .routes(describe!(sessions::forget_my_devices))
        .routes(describe!(sessions::change_my_device))
}
