//! The house's switch.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(api::show_house))
        .routes(describe!(api::close_house))
        .routes(describe!(api::open_house))
}
