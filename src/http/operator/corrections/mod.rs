//! Corrections of the books.

pub(crate) mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::corrections as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::REQUEST_CORRECTION, api::request_correction)
        .bind(&operations::LIST_CORRECTIONS, api::list_corrections)
        .bind(&operations::SHOW_CORRECTION, api::show_correction)
        .bind(&operations::APPROVE_CORRECTION, api::approve_correction)
        .bind(&operations::REJECT_CORRECTION, api::reject_correction)
}
