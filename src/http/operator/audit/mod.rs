//! Audit entries.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::audit as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_AUDIT_ENTRIES, api::list_audit_entries)
        .bind(&operations::EXPORT_AUDIT_ENTRIES, api::export_audit_entries)
}
