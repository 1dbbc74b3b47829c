//! The page of the audit log: search and export.

use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::audit::{Action, AuditEntry, Channel};
use maud::{Markup, html};
use serde_json::Value;

use super::query;
use crate::clock::BoundedTimestamp;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, HouseZone, OperatorSession, SearchForm, action_title,
    author_text, field, page, pager, select, table,
};
use crate::http::{Cursors, PageRequest};
use crate::operators::Audit;

const HERE: &str = "/desk/audit";

/// The number of audit entries on one page.
const PAGE: u32 = 100;

pub(crate) async fn list(
    State(audit): State<Audit>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let request =
        PageRequest::new(session.operator.clone(), form.to_query(&session.zone)?, PAGE, cursors);
    let listed = query::list(&audit, &request).await?;
    let mut actions = vec![("", "All")];
    actions
        .extend(Action::ALL.iter().map(|action| (action.as_str(), action_title(action.as_str()))));
    let input = |name, label, kind, hint| {
        let value = form.value(name);
        field(Field { kind, value, hint, ..Field::optional(name, label) })
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (input("operator", "Operator", "text", ""))
            (select("action", "Action", &actions, form.value("action")))
            (input("subject", "Subject", "text", "Such as room:newbie."))
            (form.period_fields())
            button { "Search" }
        }
        p { a data-export href=(form.to_url("/desk/audit.csv")) { "Export all matches as CSV" } }
        (draw_entries(&session.zone, "Audit entries, newest first", &listed.items))
        (pager(HERE, &form.conditions(), listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Audit", body))
}

/// Draws audit entries as a table.
pub(crate) fn draw_entries(zone: &HouseZone, caption: &str, entries: &[AuditEntry]) -> Markup {
    let columns = "At | Operator | Action | Subject | Detail | Channel | Address";
    table(caption, columns, entries.iter().map(|entry| row(zone, entry)))
}

fn row(zone: &HouseZone, entry: &AuditEntry) -> Vec<Markup> {
    vec![
        zone.time(entry.at),
        match &entry.operator {
            // A sign-in under a name that no operator has has no author.
            None if entry.channel != Channel::Command.as_str() => html! {},
            operator => author_text(operator.as_deref()),
        },
        html! { (action_title(&entry.action)) },
        html! { (entry.subject.as_deref().unwrap_or("")) },
        draw_detail(zone, &entry.detail),
        html! { (entry.channel) },
        html! { (entry.address.as_deref().unwrap_or("")) },
    ]
}

/// Draws each field of a detail as its name and value; a nested object in parentheses.
fn draw_detail(zone: &HouseZone, detail: &Value) -> Markup {
    match detail {
        Value::Object(fields) => html! {
            @for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                div { (name.replace('_', " ")) ": " (draw_value(zone, value)) }
            }
        },
        value => draw_value(zone, value),
    }
}

/// Draws a value in a line. A text that is an instant is drawn as a time of the house.
fn draw_value(zone: &HouseZone, value: &Value) -> Markup {
    match value {
        Value::Null => html! { "none" },
        Value::String(text) => match text.parse::<BoundedTimestamp>() {
            Ok(at) => zone.time(at),
            Err(_) => html! { (text) },
        },
        Value::Array(values) => html! {
            @for (place, value) in values.iter().enumerate() {
                @if place > 0 { ", " }
                (draw_value(zone, value))
            }
        },
        Value::Object(fields) => html! {
            "("
            @for (place, (name, value)) in fields.iter().enumerate() {
                @if place > 0 { "; " }
                (name.replace('_', " ")) ": " (draw_value(zone, value))
            }
            ")"
        },
        Value::Bool(_) | Value::Number(_) => html! { (value) },
    }
}

pub(crate) async fn export(
    State(audit): State<Audit>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    Ok(query::export(audit, &session.operator, form.to_query(&session.zone)?.filter).await?)
}
