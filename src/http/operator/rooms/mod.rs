//! The management of rooms, and the main switch of the house.

mod api;
pub(crate) mod desk;
pub(crate) mod house;
mod query;

use bahay_api::operator::house as house_operations;
use bahay_api::operator::rooms as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::CREATE_ROOM, api::create_room)
        .bind(&operations::CHANGE_ROOM, api::change_room)
        .bind(&operations::LIST_ROOM_REVISIONS, api::list_room_revisions)
        .bind(&operations::OPEN_ROOM, api::open_room)
        .bind(&operations::CLOSE_ROOM, api::close_room)
        .bind(&house_operations::SHOW_HOUSE, house::show_house)
        .bind(&house_operations::CLOSE_HOUSE, house::close_house)
        .bind(&house_operations::OPEN_HOUSE, house::open_house)
}
