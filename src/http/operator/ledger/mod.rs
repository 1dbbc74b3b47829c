//! The ledger: books, accounts, operations.

pub(crate) mod api;
pub(crate) mod desk;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(api::show_books))
        .routes(describe!(api::show_account))
        .routes(describe!(api::list_account_entries))
        .routes(describe!(api::list_operations))
        .routes(describe!(api::show_operation))
}
