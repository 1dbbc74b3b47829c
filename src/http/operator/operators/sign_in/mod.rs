//! The sign-in of operators, and the enrolment of a second factor.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod enrolment;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes.routes(describe!(api::sign_in_operator)).routes(describe!(api::sign_out_operator))
}
