//! Audit entries.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.routes(describe!(api::list_audit_entries)).routes(describe!(api::export_audit_entries))
}
