//! The routers of the service and of its probes.

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use bahay_api::{Operation, server};

use crate::http::core::routing::Routes;
use crate::http::core::{health, middleware};
use crate::http::operator::desk_ui as desk;
use crate::http::pages::{docs, play};
use crate::http::{Code, CodeExt as _, Options, Services, operator, player};

/// Returns the router of the whole service. The routes in `more`, such as the socket's, get the
/// same middleware.
pub fn router(services: Services, options: &Options, more: Router) -> Router {
    let auth = services.auth.clone();
    let routes = documented_routes()
        .into_router()
        .merge(docs::routes())
        .merge(desk::routes(options.desk))
        .merge(play::routes())
        .with_state(services)
        .merge(more)
        .fallback(async || Code::RouteNotFound.problem())
        .method_not_allowed_fallback(async || Code::MethodNotAllowed.problem());
    middleware::apply(routes, options, auth).layer(from_fn(desk::problem_pages::draw_problems))
}

/// Returns the router for supervisors and Prometheus. It is served on a listener of its own and is
/// not part of openapi.yaml, because its endpoints query PostgreSQL and Redis and reveal the state
/// of the house.
pub fn probe_router(services: Services) -> Router {
    Router::new()
        .route("/healthz", get(health::is_alive))
        .route("/readyz", get(health::is_ready))
        .route("/metrics", get(health::show_metrics))
        .with_state(services)
        .fallback(async || Code::RouteNotFound.problem())
}

/// Returns the operations of openapi.yaml, with the type names of their handlers.
pub fn bound_handlers() -> Vec<(&'static Operation, &'static str)> {
    documented_routes().bound().to_vec()
}

/// Returns the routes of openapi.yaml.
fn documented_routes() -> Routes {
    operator::routes(player::routes(Routes::default())).bind(&server::IS_ALIVE, health::is_alive)
}
