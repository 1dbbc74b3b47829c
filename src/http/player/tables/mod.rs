//! Rooms, matchmaking, and tables of every kind.

pub(crate) mod matchmaking;
pub(crate) mod practice;
pub(crate) mod private_tables;
pub(crate) mod rematch;
pub(crate) mod rooms;
pub(crate) mod socket_tickets;
pub(crate) mod watchable_tables;

use bahay_api::player::rooms as rooms_api;
use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&rooms_api::LIST_ROOMS, rooms::list_rooms)
        .on(&rooms_api::TAKE_SEAT, rooms::take_seat)
        .on(&rooms_api::SHOW_TABLE, rooms::show_table)
        .on(&rooms_api::LEAVE_TABLE, rooms::leave_table)
        .routes(describe!(watchable_tables::list_watchable_tables))
        .routes(describe!(matchmaking::seek_table))
        .routes(describe!(matchmaking::show_seek, matchmaking::cancel_seek))
        .routes(describe!(private_tables::open_private_table))
        .routes(describe!(private_tables::show_private_table))
        .routes(describe!(private_tables::join_private_table))
        .routes(describe!(private_tables::remove_from_private_table))
        .routes(describe!(private_tables::fill_private_table))
        .routes(describe!(rematch::request_rematch))
        .routes(describe!(practice::open_practice_table))
        .routes(describe!(socket_tickets::make_ticket))
}
