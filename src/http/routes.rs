//! Every route, on one page.

use axum::Router;
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    Code, Options, Services, docs, games, health, me, middleware, openapi, operators::corrections,
    rewards, rooms, sign_in, sort, tickets,
};

/// The whole service over HTTP. `more` are routes of others, such as the socket; they get the
/// same middleware.
pub fn router(services: Services, options: &Options, more: Router) -> Router {
    let (routes, document) = documented();
    let auth = services.auth.clone();
    let routes = routes
        .merge(undocumented(document))
        .with_state(services)
        .merge(more)
        .fallback(async || Code::RouteNotFound.plain())
        .method_not_allowed_fallback(async || Code::MethodNotAllowed.plain());
    middleware::around(routes, options, auth)
}

/// The routes of openapi.yaml, and that document.
pub(super) fn documented() -> (Router<Services>, OpenApi) {
    let (routes, mut document) = OpenApiRouter::with_openapi(openapi::frame())
        // Signing in.
        .routes(routes!(sign_in::sign_in_guest))
        .routes(routes!(sign_in::refresh_token))
        .routes(routes!(sign_in::sign_out))
        // The player itself.
        .routes(routes!(me::show_me, me::change_me))
        .routes(routes!(me::show_wallet))
        .routes(routes!(me::list_wallet_entries))
        .routes(routes!(games::list_my_games))
        .routes(routes!(rewards::show_rewards))
        .routes(routes!(rewards::claim_daily))
        .routes(routes!(rewards::claim_relief))
        // Rooms and the way to a table.
        .routes(routes!(rooms::list_rooms))
        .routes(routes!(rooms::take_seat))
        .routes(routes!(rooms::show_table, rooms::leave_table))
        .routes(routes!(tickets::make_ticket))
        // Games.
        .routes(routes!(games::show_game_record))
        .routes(routes!(sort::sort_cards))
        // For operators.
        .routes(routes!(corrections::request_correction, corrections::list_corrections))
        .routes(routes!(corrections::show_correction))
        .routes(routes!(corrections::approve_correction))
        .routes(routes!(corrections::reject_correction))
        // The server.
        .routes(routes!(health::is_alive))
        .routes(routes!(health::is_ready))
        .routes(routes!(health::show_metrics))
        .split_for_parts();
    openapi::complete(&mut document);
    (routes, document)
}

/// The routes that describe the others.
fn undocumented(document: OpenApi) -> Router<Services> {
    Router::new()
        .route("/openapi.json", docs::openapi_json(&document))
        .route("/docs", get(docs::page))
        .route("/docs/start.js", get(docs::start_script))
        .route("/docs/swagger-ui-bundle.js", get(docs::script))
        .route("/docs/swagger-ui.css", get(docs::style))
        .route("/problems", get(docs::problems))
}
