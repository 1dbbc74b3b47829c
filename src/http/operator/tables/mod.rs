//! Tables, running and stranded.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::tables as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_TABLES, api::list_tables)
        .bind(&operations::LIST_STRANDED, api::list_stranded)
        .bind(&operations::SHOW_OPERATED_TABLE, api::show_operated_table)
        .bind(&operations::VIEW_HANDS, api::view_hands)
        .bind(&operations::VOID_TABLE, api::void_table)
        .bind(&operations::RELEASE_TABLE, api::release_table)
        .bind(&operations::REFUND_LOST_POT, api::refund_lost_pot)
}
