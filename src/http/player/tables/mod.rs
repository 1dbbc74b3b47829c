//! Rooms, matchmaking, tables of every kind, and the tickets of sockets.

mod matchmaking;
mod private_tables;
mod rooms;
mod socket_tickets;

use bahay_api::player::{
    matchmaking as matchmaking_api, private_tables as private_tables_api, rooms as rooms_api,
};

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&rooms_api::LIST_ROOMS, rooms::list_rooms)
        .bind(&rooms_api::LIST_WATCHABLE_TABLES, rooms::list_watchable_tables)
        .bind(&rooms_api::TAKE_SEAT, rooms::take_seat)
        .bind(&rooms_api::SHOW_TABLE, rooms::show_table)
        .bind(&rooms_api::LEAVE_TABLE, rooms::leave_table)
        .bind(&rooms_api::MAKE_TICKET, socket_tickets::make_ticket)
        .bind(&matchmaking_api::SEEK_TABLE, matchmaking::seek_table)
        .bind(&matchmaking_api::SHOW_SEEK, matchmaking::show_seek)
        .bind(&matchmaking_api::CANCEL_SEEK, matchmaking::cancel_seek)
        .bind(&private_tables_api::OPEN_PRIVATE_TABLE, private_tables::open_private_table)
        .bind(&private_tables_api::SHOW_PRIVATE_TABLE, private_tables::show_private_table)
        .bind(&private_tables_api::JOIN_PRIVATE_TABLE, private_tables::join_private_table)
        .bind(
            &private_tables_api::REMOVE_FROM_PRIVATE_TABLE,
            private_tables::remove_from_private_table,
        )
        .bind(&private_tables_api::FILL_PRIVATE_TABLE, private_tables::fill_private_table)
        .bind(&private_tables_api::REQUEST_REMATCH, private_tables::request_rematch)
        .bind(&private_tables_api::OPEN_PRACTICE_TABLE, private_tables::open_practice_table)
}
