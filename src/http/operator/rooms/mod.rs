//! The management of rooms.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(api::create_room))
        .routes(describe!(api::change_room))
        .routes(describe!(api::list_room_revisions))
        .routes(describe!(api::open_room))
        .routes(describe!(api::close_room))
}
