//! Operators: their administration, sessions and tokens.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod sign_in;
pub(crate) mod tokens;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    tokens::routes(sign_in::routes(routes))
        .routes(describe!(api::list_operators, api::add_operator))
        .routes(describe!(api::disable_operator))
        .routes(describe!(api::reset_operator))
}
