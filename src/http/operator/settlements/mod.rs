//! Settlements, their totals and export.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::settlements as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_SETTLEMENTS, api::list_settlements)
        .bind(&operations::TOTAL_SETTLEMENTS, api::total_settlements)
        .bind(&operations::EXPORT_SETTLEMENTS, api::export_settlements)
}
