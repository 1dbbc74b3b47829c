//! The desk: pages on which operators run the house, under `/desk`.
//!
//! Pages are rendered completely on the server and work without a script; scripts refresh live
//! parts, ask for confirmation of irreversible acts, send forms so that a refused one keeps its
//! fields, and suggest players while a name is typed. A handler takes an [`OperatorSession`], whose
//! value proves an operator's session, or an [`OperatorForm`], which also proves that the form was
//! sent by a page of the desk. It calls the functions that the operators' API calls, and displays
//! the result with [`layout::page`].
//!
//! The content security policy lists the resources that a page may load; it allows no inline
//! script, no inline style, and nothing from other sites.

pub(crate) mod form;
pub(crate) mod layout;
pub(crate) mod operator_session;
pub(crate) mod problem_pages;
mod titles;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Router};
use bahay_desk_ui::find_asset;

use crate::http::core::routing::{get, post};
use crate::http::operator::alerts::desk as alerts;
use crate::http::operator::audit::desk as audit;
use crate::http::operator::collusion::desk as collusion;
use crate::http::operator::corrections::desk as corrections;
use crate::http::operator::games::desk as game;
use crate::http::operator::house::desk as house;
use crate::http::operator::jobs::desk as jobs;
use crate::http::operator::ledger::desk as ledger;
use crate::http::operator::operators::desk as operators;
use crate::http::operator::operators::sign_in::{desk as sign_in, enrolment};
use crate::http::operator::operators::tokens::desk as token;
use crate::http::operator::player_reports::desk as reports;
use crate::http::operator::players::desk as player;
use crate::http::operator::rooms::desk as rooms;
use crate::http::operator::sanctions::desk as sanctions;
use crate::http::operator::search::desk as search;
use crate::http::operator::settlements::desk as settlements;
use crate::http::operator::statements::desk as statements;
use crate::http::operator::tables::{desk as tables, orders as table_orders};
use crate::http::operator::today::{comparison_page, desk as today};
use crate::http::operator::tournament_requests::desk as tournament_requests;
use crate::http::operator::tournament_schedules::desk as schedules;
use crate::http::operator::tournaments::{
    cancellation, collusion as tournament_pairs, desk as tournaments,
};
use crate::http::operator::transfers::desk as transfers;
use crate::http::{DeskOptions, Services};

pub(crate) use bahay_desk_ui::{
    Field, HouseZone, SearchForm, SortDirection, SortLink, author_text, badge, coins, count,
    draw_table, facts, field, format_decimal, game_link, group_thousands, id, operator_title,
    pager, parse_amount, parse_decimal, player_link, select, sortable_by_script, sortable_table_of,
    table, table_of, text_area, text_area_of, visitor_page,
};
pub(crate) use form::{FilterForm, OperatorForm, button};
pub(crate) use layout::{ErrorPage, page, page_with_heading};
pub(crate) use operator_session::OperatorSession;
pub(crate) use titles::{
    RoomTitles, account_name, account_title, action_title, describe_item, ending_title,
    operation_title, purpose_title,
};

/// The content security policy: the resources that a page may load, and the targets of its forms.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    // Without any referrer, browsers would not send the origin of a form either.
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=()"),
    ),
];

/// Returns the routes of all pages and of their forms.
pub(crate) fn routes(options: DeskOptions) -> Router<Services> {
    Router::new()
        .route("/desk", get(redirect_home))
        .route("/desk/sign-in", get(sign_in::show_sign_in).merge(post(sign_in::sign_in)))
        .route("/desk/sign-out", post(sign_in::sign_out))
        .route("/desk/enrolment", get(enrolment::show_enrolment).merge(post(enrolment::begin)))
        .route("/desk/enrolment/completion", post(enrolment::complete))
        .route("/desk/alerts", get(alerts::refresh))
        .route("/desk/search", get(search::show_matches))
        .route("/desk/search/names", get(search::suggest_players))
        .route("/desk/today", get(today::show_today))
        .route("/desk/today/live", get(today::refresh))
        .route("/desk/today/compare", get(comparison_page::show_comparison))
        .route("/desk/settlements", get(settlements::list))
        .route("/desk/settlements/live", get(settlements::refresh))
        .route("/desk/settlements.csv", get(settlements::export_csv))
        .route("/desk/games/{id}", get(game::show_game))
        .route("/desk/games/{id}/replay", get(game::show_replay))
        .route("/desk/players", get(player::find))
        .route("/desk/players/{id}", get(player::show_player))
        .route("/desk/players/{id}/statement", get(statements::show_statement))
        .route("/desk/players/{id}/statement.csv", get(statements::export_csv))
        .route("/desk/players/{id}/notes", post(player::write_note))
        .route("/desk/players/{id}/sign-out", post(player::sign_out))
        .route("/desk/players/{id}/sanctions", post(sanctions::begin))
        .route("/desk/players/{id}/sanctions/lifting", post(sanctions::lift))
        .route("/desk/sanctions", get(sanctions::list))
        .route("/desk/sanctions/{id}/lifting", post(sanctions::lift_one))
        .route("/desk/reports", get(reports::list))
        .route("/desk/reports/{id}/decision", post(reports::decide))
        .route("/desk/collusion", get(collusion::list))
        .route("/desk/collusion/{first}/{second}", get(collusion::show_pair))
        .route("/desk/collusion/{first}/{second}/review", post(collusion::review))
        .route("/desk/ledger", get(ledger::show_ledger))
        .route("/desk/ledger/trial-balance", get(ledger::load_trial_balance))
        .route("/desk/transfers", get(transfers::show_transfers))
        .route("/desk/transfers.csv", get(transfers::export_csv))
        .route("/desk/transfers/bookings.csv", get(transfers::export_bookings))
        .route("/desk/corrections", get(corrections::list).merge(post(corrections::request)))
        .route("/desk/corrections/new", get(corrections::form))
        .route("/desk/corrections/{id}", get(corrections::show_correction))
        .route("/desk/corrections/{id}/approval", post(corrections::approve))
        .route("/desk/corrections/{id}/rejection", post(corrections::reject))
        .route("/desk/corrections/{id}/withdrawal", post(corrections::withdraw))
        .route("/desk/rooms", get(rooms::list).merge(post(rooms::create)))
        .route("/desk/rooms/{room}", get(rooms::show_room).merge(post(rooms::change)))
        .route("/desk/rooms/{room}/opening", post(rooms::open))
        .route("/desk/rooms/{room}/closing", post(rooms::close))
        .route("/desk/tables", get(tables::list))
        .route("/desk/tables/{id}", get(tables::show_table))
        .route("/desk/tables/{id}/live", get(tables::refresh))
        .route("/desk/tables/{id}/hands", post(tables::reveal_hands))
        .route(
            "/desk/tables/{id}/voiding",
            get(table_orders::preview).merge(post(table_orders::void)),
        )
        .route("/desk/tables/{id}/release", post(table_orders::release))
        .route(
            "/desk/tables/{id}/pot-refund",
            get(table_orders::preview_pot_refund).merge(post(table_orders::refund_pot)),
        )
        .route("/desk/tournaments", get(tournaments::list).merge(post(tournaments::announce)))
        .route("/desk/tournaments/new", get(tournaments::form))
        .route("/desk/tournaments/{id}", get(tournaments::show_tournament))
        .route("/desk/tournaments/{id}/collusion", get(tournament_pairs::show_pairs))
        .route("/desk/tournaments/{id}/results.jsonl", get(cancellation::export_results))
        .route(
            "/desk/tournaments/{id}/cancellation",
            get(cancellation::preview).merge(post(cancellation::cancel)),
        )
        .route(
            "/desk/tournament-requests",
            get(tournament_requests::list).merge(post(tournament_requests::request)),
        )
        .route("/desk/tournament-requests/{id}", get(tournament_requests::show_request))
        .route("/desk/tournament-requests/{id}/approval", post(tournament_requests::approve))
        .route("/desk/tournament-requests/{id}/rejection", post(tournament_requests::reject))
        .route("/desk/tournament-requests/{id}/withdrawal", post(tournament_requests::withdraw))
        .route("/desk/tournament-schedules", get(schedules::list).merge(post(schedules::create)))
        .route("/desk/tournament-schedules/new", get(schedules::form))
        .route("/desk/tournament-schedules/{id}/pause", post(schedules::pause))
        .route("/desk/tournament-schedules/{id}/resumption", post(schedules::resume))
        .route("/desk/tournament-schedules/{id}/deletion", post(schedules::delete))
        .route("/desk/switches", get(house::show_switches))
        .route("/desk/switches/house/closing", post(house::close))
        .route("/desk/switches/house/opening", post(house::open))
        .route("/desk/operators", get(operators::list).merge(post(operators::add)))
        .route("/desk/operators/{name}/role", post(operators::change_role))
        .route("/desk/operators/{name}/enrolment", post(operators::reset))
        .route("/desk/operators/{name}/disabling", post(operators::disable))
        .route("/desk/token", get(token::show_token).merge(post(token::create)))
        .route("/desk/token/revocation", post(token::revoke))
        .route("/desk/jobs", get(jobs::list))
        .route("/desk/jobs/{job}/retry", post(jobs::retry))
        .route("/desk/jobs/{job}/discarding", post(jobs::discard))
        .route("/desk/audit", get(audit::list))
        .route("/desk/audit.csv", get(audit::export))
        .route("/desk/assets/{name}", get(serve_asset))
        .layer(from_fn(async |request, next: axum::middleware::Next| {
            with_security_headers(next.run(request).await)
        }))
        .layer(Extension(options))
}

/// Adds the security headers of every page.
fn with_security_headers(mut response: Response) -> Response {
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, value);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Serves the stylesheet or a script. Its path changes with its content.
async fn serve_asset(uri: Uri) -> Response {
    let Some(asset) = find_asset(uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let cache = "public, max-age=31536000, immutable";
    ([(CONTENT_TYPE, asset.content_type), (CACHE_CONTROL, cache)], asset.text).into_response()
}

async fn redirect_home(_: OperatorSession) -> Redirect {
    Redirect::to(layout::HOME)
}
