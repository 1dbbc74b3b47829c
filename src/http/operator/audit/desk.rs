//! The page of the audit log: search and export.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::api::{AuditFilterQuery, cursor_scope, export_csv};
use crate::http::operator::desk_ui::components::{
    Column, Field, field, pager, select, table, time,
};
use crate::http::operator::desk_ui::layout::page;
use crate::http::operator::desk_ui::parse::parse_time;
use crate::http::operator::desk_ui::{ErrorPage, OperatorSession};
use crate::http::{Code, CodeExt as _, Cursors, Query};
use crate::operators::Audit;
use crate::operators::audit::{Action, AuditEntry, AuditFilter};

const HERE: &str = "/desk/audit";

/// The number of audit entries on one page.
const PAGE: u32 = 100;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AuditSearchForm {
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

impl AuditSearchForm {
    fn to_filter(&self) -> Result<AuditFilter, crate::http::Problem> {
        // An empty field of the form sets no condition.
        let text =
            |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let time = |given: &str| {
            let unknown = || Code::QueryInvalid.with_detail("a time has the form 2026-03-01T12:00");
            text(given).map(|given| parse_time(&given).ok_or_else(unknown)).transpose()
        };
        let Self { operator, action, subject, from, to, .. } = self;
        let filter = AuditFilterQuery {
            operator: text(operator),
            action: text(action),
            subject: text(subject),
            from: time(from)?,
            to: time(to)?,
        };
        filter.to_filter()
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

pub(crate) async fn list(
    State(audit): State<Audit>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    Query(form): Query<AuditSearchForm>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let filter = form.to_filter()?;
    let list = cursor_scope(&filter);
    let cursor = cursors.open(&list, &session.operator, form.cursor.as_deref())?;
    let listed = audit.list(&filter, cursor, PAGE).await.map_err(crate::http::database_problem)?;
    let next = listed.next.map(|next| cursors.seal(&list, &session.operator, &next));
    let rows: Vec<Vec<Markup>> = listed.items.iter().map(row).collect();
    let columns = [
        Column::Text("At (UTC)"),
        Column::Text("Operator"),
        Column::Text("Action"),
        Column::Text("Subject"),
        Column::Text("Detail"),
        Column::Text("Channel"),
        Column::Text("Address"),
    ];
    let mut actions = vec![("", "All")];
    actions.extend(Action::ALL.iter().map(|action| (action.as_str(), action.as_str())));
    let query = serde_urlencoded::to_string(form.pairs()).unwrap_or_default();
    let time = |name, label, value| Field {
        kind: "datetime-local",
        value,
        ..Field::optional(name, label)
    };
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (field(Field { value: &form.operator, ..Field::optional("operator", "Operator") }))
            (select("action", "Action", &actions, &form.action))
            (field(Field {
                value: &form.subject, hint: "Such as room:newbie.",
                ..Field::optional("subject", "Subject")
            }))
            (field(time("from", "From (UTC)", &form.from)))
            (field(time("to", "Before (UTC)", &form.to)))
            button { "Search" }
        }
        p { a href={ "/desk/audit.csv?" (query) } { "Export all matches as CSV" } }
        (table("Audit entries, newest first", &columns, &rows))
        (pager(HERE, &form.pairs(), next.as_deref()))
    };
    Ok(page(&session, "Audit", body))
}

fn row(entry: &AuditEntry) -> Vec<Markup> {
    let detail = entry.detail.to_string();
    vec![
        time(entry.at),
        html! { (entry.operator.as_deref().unwrap_or("")) },
        html! { (entry.action) },
        html! { (entry.subject.as_deref().unwrap_or("")) },
        html! { @if detail != "{}" { code { (detail) } } },
        html! { (entry.channel) },
        html! { (entry.address.as_deref().unwrap_or("")) },
    ]
}

pub(crate) async fn export(
    State(audit): State<Audit>,
    session: OperatorSession,
    Query(form): Query<AuditSearchForm>,
) -> Result<Response, ErrorPage> {
    Ok(export_csv(audit, &session.operator, form.to_filter()?).await?)
}
