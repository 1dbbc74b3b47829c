//! Settled games: a filtered list that is refreshed continuously, its totals, and an export as CSV.

use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use bahay_engine::catalog::{self, Kind};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::api::{cursor_scope, export_csv as write_export};
use crate::clock::Timestamp;
use crate::http::operator::desk_ui::components::{
    Column, Field, badge, coins, facts, field, pager, select, table, time,
};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::parse::{parse_non_negative_amount, parse_time};
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession};
use crate::http::{Code, CodeExt as _, Cursors, Problem, Query, database_problem};
use crate::ids::{PlayerId, RoomId};
use crate::operators::Audit;
use crate::reports::{Reports, SettlementFilter, SettlementRow, Totals};

const HERE: &str = "/desk/settlements";
const LIVE: &str = "/desk/settlements/live";
const FILE: &str = "/desk/settlements.csv";

/// The number of settlements on one page.
const PAGE: u32 = 50;

/// The search form. An empty field sets no condition.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SettlementSearchForm {
    from: String,
    to: String,
    room: String,
    player: String,
    kind: String,
    ending: String,
    least: String,
    most: String,
    pot: String,
    takeover: String,
    cursor: String,
}

impl SettlementSearchForm {
    fn pairs(&self) -> [(&str, &str); 10] {
        [
            ("from", &self.from),
            ("to", &self.to),
            ("room", &self.room),
            ("player", &self.player),
            ("kind", &self.kind),
            ("ending", &self.ending),
            ("least", &self.least),
            ("most", &self.most),
            ("pot", &self.pot),
            ("takeover", &self.takeover),
        ]
    }

    /// Returns a URL with the search form as its query.
    fn to_url(&self, path: &str) -> String {
        let pairs: Vec<_> =
            self.pairs().into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let query = serde_urlencoded::to_string(pairs).unwrap_or_default();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    fn filter(&self) -> Result<SettlementFilter, Problem> {
        let invalid = |detail: &str| Code::QueryInvalid.with_detail(detail.to_owned());
        let filter = SettlementFilter {
            from: parse_optional(&self.from, parse_time, "the start time is invalid")?
                .map(Timestamp::from),
            to: parse_optional(&self.to, parse_time, "the end time is invalid")?
                .map(Timestamp::from),
            room: parse_optional(
                &self.room,
                |text| text.parse::<RoomId>().ok(),
                "the room's id is invalid",
            )?
            .map(|room| room.to_string()),
            player: parse_optional(
                &self.player,
                |text| Uuid::try_parse(text).ok(),
                "the player's id is invalid",
            )?
            .map(PlayerId),
            kind: parse_optional(&self.kind, parse_kind, "the game is unknown")?,
            ending: parse_optional(&self.ending, parse_ending, "the end is unknown")?,
            gross_min: parse_optional(
                &self.least,
                parse_non_negative_amount,
                "the minimum amount is invalid",
            )?,
            gross_max: parse_optional(
                &self.most,
                parse_non_negative_amount,
                "the maximum amount is invalid",
            )?,
            took_pot: parse_optional(
                &self.pot,
                parse_yes_or_no,
                "the value is neither yes nor no",
            )?,
            taken_over: parse_optional(
                &self.takeover,
                parse_yes_or_no,
                "the value is neither yes nor no",
            )?,
        };
        if filter.from.zip(filter.to).is_some_and(|(from, to)| from >= to) {
            return Err(invalid("the start time is not before the end time"));
        }
        if filter.gross_min.zip(filter.gross_max).is_some_and(|(min, max)| min > max) {
            return Err(invalid("the minimum amount is above the maximum amount"));
        }
        Ok(filter)
    }
}

fn parse_optional<T>(
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
    detail: &str,
) -> Result<Option<T>, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    parse(text).map(Some).ok_or_else(|| Code::QueryInvalid.with_detail(detail.to_owned()))
}

fn parse_kind(text: &str) -> Option<String> {
    catalog::kinds().iter().any(|kind| kind.name == text).then(|| text.to_owned())
}

fn parse_ending(text: &str) -> Option<String> {
    let known = |kind: &Kind| kind.endings.iter().any(|ending| ending.name == text);
    catalog::kinds().iter().any(known).then(|| text.to_owned())
}

fn parse_yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

pub(crate) async fn list(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Query(query): Query<SettlementSearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = query.filter()?;
    let totals = reports.totals(&filter).await.map_err(database_problem)?;
    let list = list_section(&reports, &cursors, &session, &query, &filter).await?;
    let is_newest = query.cursor.is_empty();
    let body = html! {
        (form(&query))
        h2 { "Totals" }
        (totals_section(&totals))
        p { a class="button" href=(query.to_url(FILE)) { "Export all as CSV" } }
        h2 { "Newest first" }
        @if is_newest {
            p {
                button type="button" data-hold="settled" aria-pressed="false" hidden { "Pause" }
            }
        }
        div id="settled" data-live=[is_newest.then(|| query.to_url(LIVE))] { (list) }
    };
    Ok(page(&session, "Settlements", body))
}

/// Returns the first page of the list without its surroundings, for the script to refresh.
pub(crate) async fn refresh(
    State(reports): State<Reports>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Query(query): Query<SettlementSearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = query.filter()?;
    let query = SettlementSearchForm { cursor: String::new(), ..query };
    let list = list_section(&reports, &cursors, &session, &query, &filter).await?;
    Ok(Html(list.into_string()).into_response())
}

/// Returns the list as a CSV file, after recording the export in the audit log.
pub(crate) async fn export_csv(
    State(reports): State<Reports>,
    State(audit): State<Audit>,
    session: OperatorSession,
    Query(query): Query<SettlementSearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = query.filter()?;
    Ok(write_export(&audit, &session.operator, reports, filter).await?)
}

fn form(query: &SettlementSearchForm) -> Markup {
    let input = |name, label, kind, value| Field { kind, value, ..Field::optional(name, label) };
    let amount =
        |name, label, value| Field { value, inputmode: "decimal", ..Field::optional(name, label) };
    let kinds = catalog::kinds();
    let shown = || kinds.iter().filter(|kind| !kind.is_hidden);
    let mut games = vec![("", "Any")];
    games.extend(shown().map(|kind| (kind.name, kind.title)));
    let mut endings = vec![("", "Any")];
    for ending in shown().flat_map(|kind| kind.endings) {
        if !endings.iter().any(|(name, _)| *name == ending.name) {
            endings.push((ending.name, ending.title));
        }
    }
    let either = [("", "Either"), ("yes", "Yes"), ("no", "No")];
    html! {
        form class="filter" method="get" action=(HERE) {
            (field(input("from", "From (UTC)", "datetime-local", &query.from)))
            (field(input("to", "Before (UTC)", "datetime-local", &query.to)))
            (field(input("room", "Room's id", "text", &query.room)))
            (field(input("player", "Player's id", "text", &query.player)))
            (select("kind", "Game", &games, &query.kind))
            (select("ending", "End", &endings, &query.ending))
            (field(amount("least", "Paid at least", &query.least)))
            (field(amount("most", "Paid at most", &query.most)))
            (select("pot", "POT taken", &either, &query.pot))
            (select("takeover", "AI played", &either, &query.takeover))
            button { "Show" }
        }
    }
}

fn totals_section(totals: &Totals) -> Markup {
    facts(&[
        ("Games", html! { (totals.games) }),
        ("Paid by losers", coins(totals.gross)),
        ("Fees", coins(totals.fees)),
        ("POTs taken", html! { (totals.pots_taken) " (" (coins(totals.pots)) ")" }),
        ("AI played", html! { (totals.taken_over) }),
        ("Reversed", html! { (totals.reversed) }),
    ])
}

async fn list_section(
    reports: &Reports,
    cursors: &Cursors,
    session: &OperatorSession,
    query: &SettlementSearchForm,
    filter: &SettlementFilter,
) -> Result<Markup, ErrorPage> {
    let list = cursor_scope(filter);
    let cursor = Some(query.cursor.as_str()).filter(|cursor| !cursor.is_empty());
    let cursor = cursors.open(&list, &session.operator, cursor)?;
    let found = reports.settlements(filter, cursor, PAGE).await.map_err(database_problem)?;
    let next = found.next.map(|next| cursors.seal(&list, &session.operator, &next));
    let rows: Vec<_> = found.items.iter().map(row).collect();
    Ok(html! {
        (rows_table("Settlements", &rows))
        (pager(HERE, &query.pairs(), next.as_deref()))
    })
}

pub(crate) fn rows_table(caption: &str, rows: &[Vec<Markup>]) -> Markup {
    let columns = [
        Column::Text("Finished (UTC)"),
        Column::Text("Game"),
        Column::Text("Room"),
        Column::Text("End"),
        Column::Text("Players"),
        Column::Number("Paid"),
        Column::Number("Fee"),
        Column::Number("POT"),
        Column::Text("AI"),
        Column::Text("Reversed (UTC)"),
    ];
    table(caption, &columns, rows)
}

pub(crate) fn row(row: &SettlementRow) -> Vec<Markup> {
    let seats = row.players.iter().zip(&row.names).zip(&row.nets);
    let seats: Vec<_> = seats.collect();
    vec![
        html! { a href={ "/desk/games/" (row.game) } { (time(row.finished_at)) } },
        html! { (row.kind) },
        html! { (row.room) },
        html! { (row.ending.as_deref().unwrap_or("?")) },
        html! {
            @for ((player, name), net) in seats {
                @let won = Some(*player) == row.winner;
                a href={ "/desk/players/" (player) } { (name) } " " (coins(*net))
                @if won { " " (badge("good", "won")) }
                br;
            }
        },
        coins(row.gross),
        coins(row.fee),
        html! { @if let Some(pot) = row.pot { (coins(pot)) } },
        html! { @if row.taken_over { (badge("waiting", "AI")) } },
        html! { @if let Some(at) = row.reversed_at { (badge("bad", "reversed")) " " (time(at)) } },
    ]
}

#[cfg(test)]
mod tests {
    use super::SettlementSearchForm;

    #[test]
    fn the_search_form_is_parsed() {
        assert!(
            SettlementSearchForm { pot: "perhaps".into(), ..SettlementSearchForm::default() }
                .filter()
                .is_err()
        );
        let query = SettlementSearchForm {
            room: "newbie".into(),
            pot: "yes".into(),
            ..SettlementSearchForm::default()
        };
        assert_eq!(query.to_url("/x"), "/x?room=newbie&pot=yes");
        assert_eq!(query.filter().unwrap().took_pot, Some(true));
    }
}
