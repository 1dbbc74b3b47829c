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
        .on(&operations::SHOW_BOOKS, api::show_books)
        .on(&operations::SHOW_ACCOUNT, api::show_account)
        .on(&operations::LIST_ACCOUNT_ENTRIES, api::list_account_entries)
        .on(&operations::LIST_OPERATIONS, api::list_operations)
        .on(&operations::SHOW_OPERATION, api::show_operation)
}
