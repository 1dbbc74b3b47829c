//! Games and their replays.

mod api;
pub(crate) mod desk;
pub(crate) mod game_rows;
mod query;
mod replay;

use bahay_api::operator::games as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SHOW_DOSSIER, api::show_dossier)
        .bind(&operations::REPLAY_GAME, api::replay_game)
}
