//! Players and the notes about them.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::players as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&operations::FIND_PLAYERS, api::find_players)
        .on(&operations::SHOW_PLAYER_REPORT, api::show_player_report)
        .on(&operations::LIST_PARTNERS, api::list_partners)
        .on(&operations::WRITE_NOTE, api::write_note)
        .on(&operations::END_SESSIONS, api::end_sessions)
}
