//! Bans and mutes.

mod api;
pub(crate) mod desk;
mod query;

use bahay_api::operator::sanctions as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::LIST_SANCTIONS, api::list_sanctions)
        .bind(&operations::IMPOSE_SANCTION, api::impose_sanction)
        .bind(&operations::LIFT_SANCTIONS, api::lift_sanctions)
}
