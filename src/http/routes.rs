//! The list of all routes.

use axum::Router;
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::core::{health, middleware, openapi};
use crate::http::operator::audit::api as audit;
use crate::http::operator::corrections::api as corrections;
use crate::http::operator::desk_ui as desk;
use crate::http::operator::games::api as operator_games;
use crate::http::operator::house::api as house;
use crate::http::operator::ledger::api as ledger;
use crate::http::operator::operators::api as operator_admin;
use crate::http::operator::operators::sign_in::api as operator_sign_in;
use crate::http::operator::operators::tokens::api as tokens;
use crate::http::operator::player_reports::api as player_reports;
use crate::http::operator::players::api as operator_players;
use crate::http::operator::rooms::api as room_admin;
use crate::http::operator::sanctions::api as sanctions;
use crate::http::operator::settlements::api as settlements;
use crate::http::operator::tables::api as tables;
use crate::http::operator::today::api as today;
use crate::http::pages::{docs, play};
use crate::http::player::account::{export, own_account};
use crate::http::player::games::{analysis, fairness, game_steps, hand_sorting, records as games};
use crate::http::player::people::{leaderboards, players, profiles, social};
use crate::http::player::sign_in::{guest as sign_in, openid, password, proof, sessions};
use crate::http::player::tables::{
    matchmaking, practice, private_tables, rematch, rooms, socket_tickets, watchable_tables,
};
use crate::http::player::{notices, rewards};
use crate::http::{Code, Options, Services};

/// Returns the router of the whole service. The routes in `more`, such as the socket's, get the
/// same middleware.
pub fn router(services: Services, options: &Options, more: Router) -> Router {
    let (routes, document) = documented_routes();
    let auth = services.auth.clone();
    let routes = routes
        .merge(documentation_routes(document))
        .merge(desk::routes(options.desk))
        .merge(play::routes())
        .with_state(services)
        .merge(more)
        .fallback(async || Code::RouteNotFound.problem())
        .method_not_allowed_fallback(async || Code::MethodNotAllowed.problem());
    middleware::apply(routes, options, auth)
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

/// Returns the routes of openapi.yaml, and the document.
pub(crate) fn documented_routes() -> (Router<Services>, OpenApi) {
    let (routes, mut document) = OpenApiRouter::with_openapi(openapi::base_document())
        // Sign-in.
        .routes(routes!(sign_in::sign_in_guest))
        .routes(routes!(password::sign_in_password))
        .routes(routes!(openid::ask_nonce))
        .routes(routes!(openid::sign_in_openid))
        .routes(routes!(sign_in::refresh_token))
        .routes(routes!(sign_in::sign_out))
        // The player's own account.
        .routes(routes!(own_account::show_me, own_account::change_me, own_account::delete_me))
        .routes(routes!(export::export_me))
        .routes(routes!(password::set_first_password, password::change_password))
        .routes(routes!(proof::show_proof))
        .routes(routes!(openid::show_sign_in_methods))
        .routes(routes!(openid::link_identity))
        .routes(routes!(openid::unlink_identity))
        .routes(routes!(sessions::list_my_sessions, sessions::sign_out_everywhere))
        .routes(routes!(sessions::end_my_session))
        .routes(routes!(sessions::forget_my_devices))
        .routes(routes!(sessions::change_my_device))
        .routes(routes!(own_account::show_wallet))
        .routes(routes!(own_account::list_wallet_entries))
        .routes(routes!(games::list_my_games))
        .routes(routes!(profiles::show_my_statistics))
        .routes(routes!(rewards::show_rewards))
        .routes(routes!(rewards::claim_daily))
        .routes(routes!(rewards::claim_relief))
        .routes(routes!(notices::list_my_notices))
        .routes(routes!(notices::read_my_notice))
        // The public data of players.
        .routes(routes!(players::look_up_players))
        .routes(routes!(players::list_avatars))
        // Rooms and tables.
        .routes(routes!(rooms::list_rooms))
        .routes(routes!(rooms::take_seat))
        .routes(routes!(watchable_tables::list_watchable_tables))
        .routes(routes!(rooms::show_table, rooms::leave_table))
        .routes(routes!(matchmaking::seek_table))
        .routes(routes!(matchmaking::show_seek, matchmaking::cancel_seek))
        .routes(routes!(private_tables::open_private_table))
        .routes(routes!(private_tables::show_private_table))
        .routes(routes!(private_tables::join_private_table))
        .routes(routes!(private_tables::remove_from_private_table))
        .routes(routes!(private_tables::fill_private_table))
        .routes(routes!(rematch::request_rematch))
        .routes(routes!(practice::open_practice_table))
        .routes(routes!(socket_tickets::make_ticket))
        // Games.
        .routes(routes!(games::show_game))
        .routes(routes!(games::show_game_record))
        .routes(routes!(game_steps::list_game_steps))
        .routes(routes!(analysis::analyze_game))
        .routes(routes!(fairness::show_fairness))
        .routes(routes!(fairness::show_deals))
        .routes(routes!(fairness::list_unrevealed_commitments))
        .routes(routes!(hand_sorting::sort_cards))
        // Relations between players.
        .routes(routes!(profiles::show_player))
        .routes(routes!(leaderboards::show_leaderboard))
        .routes(routes!(social::list_blocks))
        .routes(routes!(social::block_player, social::unblock_player))
        .routes(routes!(social::list_mutes))
        .routes(routes!(social::mute_player, social::unmute_player))
        .routes(routes!(social::report_player))
        // For operators.
        .routes(routes!(operator_sign_in::sign_in_operator))
        .routes(routes!(operator_sign_in::sign_out_operator))
        .routes(routes!(tokens::create_token, tokens::revoke_token))
        .routes(routes!(corrections::request_correction, corrections::list_corrections))
        .routes(routes!(corrections::show_correction))
        .routes(routes!(corrections::approve_correction))
        .routes(routes!(corrections::reject_correction))
        .routes(routes!(player_reports::list_reports))
        .routes(routes!(player_reports::decide_report))
        .routes(routes!(room_admin::create_room))
        .routes(routes!(room_admin::change_room))
        .routes(routes!(room_admin::list_room_revisions))
        .routes(routes!(room_admin::open_room))
        .routes(routes!(room_admin::close_room))
        .routes(routes!(today::show_today))
        .routes(routes!(settlements::list_settlements))
        .routes(routes!(settlements::total_settlements))
        .routes(routes!(settlements::export_settlements))
        .routes(routes!(operator_games::show_dossier))
        .routes(routes!(operator_games::replay_game))
        .routes(routes!(operator_players::find_players))
        .routes(routes!(operator_players::show_player_report))
        .routes(routes!(operator_players::list_partners))
        .routes(routes!(operator_players::write_note))
        .routes(routes!(operator_players::end_sessions))
        .routes(routes!(ledger::show_books))
        .routes(routes!(ledger::show_account))
        .routes(routes!(ledger::list_account_entries))
        .routes(routes!(ledger::list_operations))
        .routes(routes!(ledger::show_operation))
        .routes(routes!(house::show_house))
        .routes(routes!(house::close_house))
        .routes(routes!(house::open_house))
        .routes(routes!(sanctions::list_sanctions, sanctions::impose_sanction))
        .routes(routes!(sanctions::lift_sanctions))
        .routes(routes!(tables::list_tables))
        .routes(routes!(tables::list_stranded))
        .routes(routes!(tables::show_operated_table))
        .routes(routes!(tables::view_hands))
        .routes(routes!(tables::void_table))
        .routes(routes!(tables::release_table))
        .routes(routes!(tables::refund_lost_pot))
        .routes(routes!(audit::list_audit_entries))
        .routes(routes!(audit::export_audit_entries))
        .routes(routes!(operator_admin::list_operators, operator_admin::add_operator))
        .routes(routes!(operator_admin::disable_operator))
        .routes(routes!(operator_admin::reset_operator))
        // The server.
        .routes(routes!(health::is_alive))
        .split_for_parts();
    openapi::complete_document(&mut document);
    (routes, document)
}

/// Returns the routes that serve the documentation.
fn documentation_routes(document: OpenApi) -> Router<Services> {
    Router::new()
        .route("/openapi.json", docs::openapi_json(&document))
        .route("/docs", get(docs::serve_page))
        .route("/docs/start.js", get(docs::serve_start_script))
        .route("/docs/swagger-ui-bundle.js", get(docs::serve_script))
        .route("/docs/swagger-ui.css", get(docs::serve_stylesheet))
        .route("/problems", get(docs::serve_problems))
}
