//! Players' reports of others.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::player_reports as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&operations::LIST_REPORTS, api::list_reports)
        .on(&operations::DECIDE_REPORT, api::decide_report)
}
