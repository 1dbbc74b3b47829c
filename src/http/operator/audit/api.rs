//! The audit log: search and export.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::clock::{self, BoundedTimestamp, Timestamp};
use crate::operators::audit::{Action, AuditCursor, AuditEntry, AuditFilter, ParseActionError};
use crate::operators::{Audit, Operator};

use crate::http::core::pagination::Limit;
use crate::http::{Code, CodeExt as _, Cursors, PageOf, Problem, ProblemBody, Query, Time};

/// The number of rows read at once for an export.
const ROWS: u32 = 1_000;

/// An act of an operator.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(crate) struct AuditEntryBody {
    id: Uuid,
    at: Time,
    /// The operator's name; null for the command line, and for sign-ins under names that no
    /// operator has.
    #[schema(required = true, example = "ate.luz")]
    operator: Option<String>,
    #[schema(example = "room_change")]
    action: String,
    /// The affected object.
    #[schema(required = true, example = "room:newbie")]
    subject: Option<String>,
    /// Details of the act, whose form depends on the action.
    #[schema(value_type = Object)]
    detail: Value,
    /// `desk` or `api` for a session, `token` for a program with an API token, `command` for the
    /// command line.
    #[schema(example = "desk")]
    channel: String,
    /// The client's address; for IPv6 its network.
    #[schema(required = true, example = "203.0.113.7")]
    address: Option<String>,
}

impl From<AuditEntry> for AuditEntryBody {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry { id, at, operator, action, subject, detail, channel, address } = entry;
        Self { id: id.0, at: at.into(), operator, action, subject, detail, channel, address }
    }
}

/// A filter on audit entries. An entry matches if it satisfies every condition that is set.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditFilterQuery {
    /// An operator's name.
    #[param(max_length = 32, pattern = "^[!-~]+$")]
    pub(crate) operator: Option<String>,
    /// An action, such as `room_change`.
    #[param(max_length = 40, pattern = "^[a-z]+(_[a-z]+)*$")]
    pub(crate) action: Option<String>,
    /// The affected object, such as `room:newbie`.
    #[param(max_length = 200, pattern = "^[!-~]+$")]
    pub(crate) subject: Option<String>,
    /// The inclusive lower bound of the time.
    #[param(value_type = Option<Time>)]
    pub(crate) from: Option<BoundedTimestamp>,
    /// The exclusive upper bound of the time.
    #[param(value_type = Option<Time>)]
    pub(crate) to: Option<BoundedTimestamp>,
}

/// A filter on audit entries, with the position of a page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditPageQuery {
    /// An operator's name.
    #[param(max_length = 32, pattern = "^[!-~]+$")]
    operator: Option<String>,
    /// An action, such as `room_change`.
    #[param(max_length = 40, pattern = "^[a-z]+(_[a-z]+)*$")]
    action: Option<String>,
    /// The affected object, such as `room:newbie`.
    #[param(max_length = 200, pattern = "^[!-~]+$")]
    subject: Option<String>,
    /// The inclusive lower bound of the time.
    #[param(value_type = Option<Time>)]
    from: Option<BoundedTimestamp>,
    /// The exclusive upper bound of the time.
    #[param(value_type = Option<Time>)]
    to: Option<BoundedTimestamp>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[serde(default)]
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

impl AuditFilterQuery {
    pub(crate) fn to_filter(&self) -> Result<AuditFilter, Problem> {
        let Self { operator, action, subject, from, to } = self;
        let texts = [("operator", operator, 32), ("action", action, 40), ("subject", subject, 200)];
        for (name, text, longest) in texts {
            let is_valid = |text: &String| {
                (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
            };
            if text.as_ref().is_some_and(|text| !is_valid(text)) {
                let why = format!("`{name}` has 1 to {longest} visible ASCII characters");
                return Err(Code::QueryInvalid.with_detail(why));
            }
        }
        let unknown = |error: ParseActionError| Code::QueryInvalid.with_detail(error.to_string());
        Ok(AuditFilter {
            operator: operator.clone(),
            action: action.as_ref().map(|text| text.parse()).transpose().map_err(unknown)?,
            subject: subject.clone(),
            from: from.map(Timestamp::from),
            to: to.map(Timestamp::from),
        })
    }
}

/// Returns the name of the list to which the cursors of a filter are bound.
pub(crate) fn cursor_scope(filter: &AuditFilter) -> String {
    format!("audit {filter:?}")
}

/// List audit entries
///
/// Newest first. For the role `admin`.
#[utoipa::path(
    get,
    path = "/v1/operator/audit",
    tag = "operators",
    security(("operator_token" = [])),
    params(AuditPageQuery),
    responses(
        (status = 200, description = "A page of audit entries", body = PageOf<AuditEntryBody>),
        (status = 403, description = "`operator_role_missing`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_audit_entries(
    State(audit): State<Audit>,
    State(cursors): State<Cursors>,
    operator: Operator,
    Query(query): Query<AuditPageQuery>,
) -> Result<Json<PageOf<AuditEntryBody>>, Problem> {
    operator.require_administrator()?;
    let AuditPageQuery { operator: by, action, subject, from, to, cursor, limit } = query;
    let filter = AuditFilterQuery { operator: by, action, subject, from, to }.to_filter()?;
    let list = cursor_scope(&filter);
    let cursor = cursors.open(&list, &operator, cursor.as_deref())?;
    let page =
        audit.list(&filter, cursor, limit.items()).await.map_err(crate::http::database_problem)?;
    Ok(Json(PageOf {
        items: page.items.into_iter().map(AuditEntryBody::from).collect(),
        next_cursor: page.next.map(|next| cursors.seal(&list, &operator, &next)),
    }))
}

/// Export audit entries
///
/// As comma-separated values (RFC 4180), newest first, without a limit. The export itself is
/// recorded in the audit log. For the role `admin`.
#[utoipa::path(
    get,
    path = "/v1/operator/audit.csv",
    tag = "operators",
    security(("operator_token" = [])),
    params(AuditFilterQuery),
    responses(
        (status = 200, description = "id, at, operator, action, subject, detail as JSON, channel, \
            address", body = String, content_type = "text/csv"),
        (status = 403, description = "`operator_role_missing`", body = ProblemBody,
            content_type = "application/problem+json")
    )
)]
pub(crate) async fn export_audit_entries(
    State(audit): State<Audit>,
    operator: Operator,
    Query(filter): Query<AuditFilterQuery>,
) -> Result<Response, Problem> {
    export_csv(audit, &operator, filter.to_filter()?).await
}

/// Returns the CSV file as a streamed response, after recording the export in the audit log.
pub(crate) async fn export_csv(
    audit: Audit,
    operator: &Operator,
    filter: AuditFilter,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    let detail = json!({ "search": format!("{filter:?}") });
    audit
        .record(by.actor(), Action::Exported, "audit", detail)
        .await
        .map_err(crate::http::database_problem)?;
    let head = Bytes::from_static(b"id,at,operator,action,subject,detail,channel,address\r\n");
    let pages = stream::try_unfold(Some(None), move |next: Option<Option<AuditCursor>>| {
        let audit = audit.clone();
        let filter = filter.clone();
        async move {
            let Some(cursor) = next else {
                return Ok::<_, crate::db::Error>(None);
            };
            let page = audit.list(&filter, cursor, ROWS).await?;
            let lines: String = page.items.iter().map(format_line).collect();
            Ok(Some((Bytes::from(lines), page.next.map(Some))))
        }
    });
    let body = stream::StreamExt::chain(stream::iter([Ok(head)]), pages);
    let disposition = "attachment; filename=\"audit.csv\"";
    let headers = [(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(body)).into_response())
}

/// Formats a line of the file.
fn format_line(entry: &AuditEntry) -> String {
    let at = clock::to_jiff(entry.at);
    let fields = [
        entry.id.to_string(),
        format!("{at:.3}"),
        entry.operator.clone().unwrap_or_default(),
        entry.action.clone(),
        entry.subject.clone().unwrap_or_default(),
        entry.detail.to_string(),
        entry.channel.clone(),
        entry.address.clone().unwrap_or_default(),
    ];
    let fields = fields.map(|field| quote_field(&field));
    format!("{}\r\n", fields.join(","))
}

/// Quotes a field, and inserts an apostrophe before text that a spreadsheet would interpret as a
/// formula.
fn quote_field(field: &str) -> String {
    let guard = if field.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", field.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::quote_field;

    #[test]
    fn fields_are_quoted_and_formulas_are_escaped() {
        assert_eq!(quote_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(quote_field("=1+1"), "\"'=1+1\"");
        assert_eq!(quote_field(""), "\"\"");
    }
}
