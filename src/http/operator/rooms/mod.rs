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
        .on(&operations::CREATE_ROOM, api::create_room)
        .on(&operations::CHANGE_ROOM, api::change_room)
        .on(&operations::LIST_ROOM_REVISIONS, api::list_room_revisions)
        .on(&operations::OPEN_ROOM, api::open_room)
        .on(&operations::CLOSE_ROOM, api::close_room)
        .on(&house_operations::SHOW_HOUSE, house::show_house)
        .on(&house_operations::CLOSE_HOUSE, house::close_house)
        .on(&house_operations::OPEN_HOUSE, house::open_house)
}
