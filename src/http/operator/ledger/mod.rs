//! The ledger: books, accounts, operations.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::ledger as operations;

use crate::http::core::routing::Routes;

pub(crate) use query::list_entries;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SHOW_BOOKS, api::show_books)
        .bind(&operations::SHOW_ACCOUNT, api::show_account)
        .bind(&operations::LIST_ACCOUNT_ENTRIES, api::list_account_entries)
        .bind(&operations::LIST_OPERATIONS, api::list_operations)
        .bind(&operations::SHOW_OPERATION, api::show_operation)
}
