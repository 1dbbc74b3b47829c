//! Tables, running and stranded.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(api::list_tables))
        .routes(describe!(api::list_stranded))
        .routes(describe!(api::show_operated_table))
        .routes(describe!(api::view_hands))
        .routes(describe!(api::void_table))
        .routes(describe!(api::release_table))
        .routes(describe!(api::refund_lost_pot))
}
