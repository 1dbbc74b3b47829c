//! Tables, running and stranded.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::tables as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&operations::LIST_TABLES, api::list_tables)
        .on(&operations::LIST_STRANDED, api::list_stranded)
        .on(&operations::SHOW_OPERATED_TABLE, api::show_operated_table)
        .on(&operations::VIEW_HANDS, api::view_hands)
        .on(&operations::VOID_TABLE, api::void_table)
        .on(&operations::RELEASE_TABLE, api::release_table)
        .on(&operations::REFUND_LOST_POT, api::refund_lost_pot)
}
