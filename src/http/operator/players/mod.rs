//! Players and the notes about them.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(api::find_players))
        .routes(describe!(api::show_player_report))
        .routes(describe!(api::list_partners))
        .routes(describe!(api::write_note))
        .routes(describe!(api::end_sessions))
}
