//! Players' reports of others.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::player_reports as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_REPORTS, api::list_reports)
        .bind(&operations::DECIDE_REPORT, api::decide_report)
}
