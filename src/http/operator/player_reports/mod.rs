//! Players' reports of others.

pub(crate) mod api;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.routes(describe!(api::list_reports)).routes(describe!(api::decide_report))
}
