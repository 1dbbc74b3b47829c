//! Players and the notes about them.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::players as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::FIND_PLAYERS, api::find_players)
        .bind(&operations::SHOW_PLAYER_REPORT, api::show_player_report)
        .bind(&operations::LIST_PARTNERS, api::list_partners)
        .bind(&operations::WRITE_NOTE, api::write_note)
        .bind(&operations::END_SESSIONS, api::end_sessions)
}
