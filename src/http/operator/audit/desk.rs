//! The page of the audit log: search and export.

use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::audit::{Action, AuditEntry, AuditFilter, Channel};
use maud::{Markup, html};
use serde::Deserialize;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, OperatorSession, author, field, page, pager, parse_time, select,
    table, time,
};
use crate::http::{Code, CodeExt as _, Cursors, PageQuery, PageRequest, Problem};
use crate::operators::Audit;

const HERE: &str = "/desk/audit";

/// The number of audit entries on one page.
const PAGE: u32 = 100;

/// A search as it is typed: times have no zone.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditSearchForm {
    operator: String,
    action: Option<Action>,
    subject: String,
    from: String,
    to: String,
    cursor: Option<String>,
}

impl AuditSearchForm {
    fn to_filter(&self) -> Result<AuditFilter, Problem> {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let time = |given: &str| {
            let unknown = || Code::QueryInvalid.with_detail("a time has the form 2026-03-01T12:00");
            text(given).map(|given| parse_time(&given).ok_or_else(unknown)).transpose()
        };
        Ok(AuditFilter {
            operator: text(&self.operator),
            action: self.action,
            subject: text(&self.subject),
            from: time(&self.from)?,
            to: time(&self.to)?,
        })
    }

    fn pairs(&self) -> [(&str, &str); 5] {
        let Self { operator, action, subject, from, to, .. } = self;
        let action = action.map_or("", Action::as_str);
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
    FilterForm(form): FilterForm<AuditSearchForm>,
) -> Result<Response, ErrorPage> {
    let filter = form.to_filter()?;
    let query = PageQuery { filter, cursor: form.cursor.clone(), ..PageQuery::default() };
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&audit, &request).await?;
    let columns = "At (UTC) | Operator | Action | Subject | Detail | Channel | Address";
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
            (select("action", "Action", &actions, form.action.map_or("", Action::as_str)))
            (field(Field {
                value: &form.subject, hint: "Such as room:newbie.",
                ..Field::optional("subject", "Subject")
            }))
            (field(time("from", "From (UTC)", &form.from)))
            (field(time("to", "Before (UTC)", &form.to)))
            button { "Search" }
        }
        p { a href={ "/desk/audit.csv?" (query) } { "Export all matches as CSV" } }
        (table("Audit entries, newest first", columns, listed.items.iter().map(row)))
        (pager(HERE, &form.pairs(), listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Audit", body))
}

fn row(entry: &AuditEntry) -> Vec<Markup> {
    let detail = entry.detail.to_string();
    vec![
        time(entry.at),
        match &entry.operator {
            // A sign-in under a name that no operator has has no author.
            None if entry.channel != Channel::Command.as_str() => html! {},
            operator => author(operator.as_deref()),
        },
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
    FilterForm(form): FilterForm<AuditSearchForm>,
) -> Result<Response, ErrorPage> {
    Ok(query::export(audit, &session.operator, form.to_filter()?).await?)
}
