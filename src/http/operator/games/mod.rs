//! Games and their replays.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod game_rows;
pub(crate) mod replay;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.routes(describe!(api::show_dossier)).routes(describe!(api::replay_game))
}
