//! The audit, searched and exported.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::parts::{Column, Field, choice, field, pager, table, time};
use super::shell::page;
use super::typed::moment;
use super::{Refused, Seat};
use crate::http::operators::actions::{ActionsFilter, export, list_of};
use crate::http::{Code, Cursors, Query};
use crate::operators::Audit;
use crate::operators::audit::{Action, Noted, Search};

const HERE: &str = "/desk/audit";

/// Actions on one page.
const PAGE: u32 = 100;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    operator: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    cursor: Option<String>,
}

impl Asked {
    fn search(&self) -> Result<Search, crate::http::Problem> {
        // What is empty, as fields of a form are, asks for nothing.
        let text =
            |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let time = |given: &str| {
            let unknown = || Code::QueryInvalid.because("a time is as in 2026-03-01T12:00");
            text(given).map(|given| moment(&given).ok_or_else(unknown)).transpose()
        };
        let Self { operator, action, subject, from, to, .. } = self;
        let filter = ActionsFilter {
            operator: text(operator),
            action: text(action),
            subject: text(subject),
            from: time(from)?,
            to: time(to)?,
        };
        filter.search()
    }

    fn pairs(&self) -> [(&str, &str); 5] {
        let Self { operator, action, subject, from, to, .. } = self;
        [
            ("operator", operator),
            ("action", action),
            ("subject", subject),
            ("from", from),
            ("to", to),
        ]
    }
}

pub(super) async fn list(
    State(audit): State<Audit>,
    State(cursors): State<Cursors>,
    seat: Seat,
    Query(asked): Query<Asked>,
) -> Result<Response, Refused> {
    seat.operator.administrator()?;
    let search = asked.search()?;
    let list = list_of(&search);
    let cursor = cursors.open(&list, &seat.operator, asked.cursor.as_deref())?;
    let listed = audit.list(&search, cursor, PAGE).await.map_err(crate::http::unread)?;
    let next = listed.next.map(|next| cursors.seal(&list, &seat.operator, &next));
    let rows: Vec<Vec<Markup>> = listed.items.iter().map(row).collect();
    let columns = [
        Column::Text("At (UTC)"),
        Column::Text("Operator"),
        Column::Text("Action"),
        Column::Text("Subject"),
        Column::Text("Detail"),
        Column::Text("Way"),
        Column::Text("Address"),
    ];
    let mut actions = vec![("", "All")];
    actions.extend(Action::ALL.iter().map(|action| (action.as_str(), action.as_str())));
    let query = serde_urlencoded::to_string(asked.pairs()).unwrap_or_default();
    let time = |name, label, value| Field {
        kind: "datetime-local",
        value,
        ..Field::optional(name, label)
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (field(Field { value: &asked.operator, ..Field::optional("operator", "Operator") }))
            (choice("action", "Action", &actions, &asked.action))
            (field(Field {
                value: &asked.subject, hint: "As in room:newbie.",
                ..Field::optional("subject", "Subject")
            }))
            (field(time("from", "From (UTC)", &asked.from)))
            (field(time("to", "Before (UTC)", &asked.to)))
            button { "Search" }
        }
        p { a href={ "/desk/audit.csv?" (query) } { "All that is found, as a file (CSV)" } }
        (table("What operators did, newest first", &columns, &rows))
        (pager(HERE, &asked.pairs(), next.as_deref()))
    };
    Ok(page(&seat, "Audit", body))
}

fn row(noted: &Noted) -> Vec<Markup> {
    let detail = noted.detail.to_string();
    vec![
        time(noted.at),
        html! { (noted.operator.as_deref().unwrap_or("")) },
        html! { (noted.action) },
        html! { (noted.subject.as_deref().unwrap_or("")) },
        html! { @if detail != "{}" { code { (detail) } } },
        html! { (noted.way) },
        html! { (noted.address.as_deref().unwrap_or("")) },
    ]
}

pub(super) async fn file(
    State(audit): State<Audit>,
    seat: Seat,
    Query(asked): Query<Asked>,
) -> Result<Response, Refused> {
    Ok(export(audit, &seat.operator, asked.search()?).await?)
}
