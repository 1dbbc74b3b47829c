//! The search box of every page, the page of its matches, and the suggestions of players.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use bahay_api::operator::players::PlayerMatch;
use bahay_api::operator::search::{SearchHit, SearchKind};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query;
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession, RoomTitles, id, page, table_of};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Query, Services};
use crate::reports::Reports;

/// The maximum number of suggested players.
const SUGGESTIONS_MAX: usize = 10;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchBox {
    text: String,
}

/// Shows the matches, or the page of the only one.
pub(crate) async fn show_matches(
    State(services): State<Services>,
    session: OperatorSession,
    Query(SearchBox { text }): Query<SearchBox>,
) -> Result<Response, ErrorPage> {
    let hits = match text.trim() {
        "" => Vec::new(),
        text => query::search(&services, text).await?,
    };
    if let [only] = hits.as_slice() {
        return Ok(Redirect::to(&path_of(only)).into_response());
    }
    let players = hits.iter().filter_map(player_of);
    let named = NamedPlayers::load(&services, players).await?;
    let body = html! {
        p {
            @if text.trim().is_empty() {
                "Search for a part of a name, such as that of a player, a room or a tournament, an id or its "
                "first digits, the number or key of an "
                "operation, or an account such as wallet:ID."
            } @else { "Matches of “" (text.trim()) "”." }
        }
        (table_of(
            "Matches, at most 20 of each kind",
            &hits,
            &[
                ("Kind", &|hit| html! { (hit.kind.as_str()) }),
                ("Name", &|hit| {
                    let name = name_of(&session.rooms, hit);
                    html! { a href=(path_of(hit)) { (name) } (badges(&named, hit)) }
                }),
                ("Id", &|hit| id(&hit.id)),
            ],
        ))
    };
    Ok(page(&session, "Search", body))
}

/// Returns the players whom the script suggests while a name is typed, as JSON.
pub(crate) async fn suggest_players(
    State(reports): State<Reports>,
    _: OperatorSession,
    Query(SearchBox { text }): Query<SearchBox>,
) -> Result<Json<Vec<PlayerMatch>>, ErrorPage> {
    let mut players = match text.trim() {
        "" => Vec::new(),
        text => reports.find_players(query::check_text(text)?).await?,
    };
    players.truncate(SUGGESTIONS_MAX);
    Ok(Json(players))
}

fn player_of(hit: &SearchHit) -> Option<Uuid> {
    if hit.kind == SearchKind::Player { hit.id.parse().ok() } else { None }
}

fn badges(named: &NamedPlayers, hit: &SearchHit) -> Markup {
    html! { @if let Some(player) = player_of(hit) { (named.badges(player)) } }
}

fn name_of(rooms: &RoomTitles, hit: &SearchHit) -> Markup {
    match hit.kind {
        SearchKind::Game => html! { "game in " (rooms.title(&hit.title)) },
        SearchKind::Table => html! { "table in " (rooms.title(&hit.title)) },
        SearchKind::Account => html! { "balance " (hit.title) },
        SearchKind::Player
        | SearchKind::Room
        | SearchKind::Tournament
        | SearchKind::Operation
        | SearchKind::Correction => html! { (hit.title) },
    }
}

/// Returns the path of the page about a match.
fn path_of(hit: &SearchHit) -> String {
    let (page, id) = match hit.kind {
        SearchKind::Player => ("/desk/players/", &hit.id),
        SearchKind::Room => ("/desk/rooms/", &hit.id),
        SearchKind::Game => ("/desk/games/", &hit.id),
        SearchKind::Table => ("/desk/tables/", &hit.id),
        SearchKind::Tournament => ("/desk/tournaments/", &hit.id),
        SearchKind::Correction => ("/desk/corrections/", &hit.id),
        SearchKind::Operation => ("/desk/ledger?operation=", &hit.id),
        SearchKind::Account => ("/desk/ledger?account=", &hit.id),
    };
    format!("{page}{id}")
}
