//! The part of the audit log that the API and the desk share: search and export.

use axum::body::{Body, Bytes};
use axum::response::Response;
use bahay_api::operator::audit::{AuditEntry, AuditFilter};
use futures_util::stream;
use uuid::Uuid;

use crate::clock;
use crate::http::core::csv_file::csv_response;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::operators::audit::{Action, filter_detail};
use crate::operators::{Audit, Operator};

/// The number of rows read at once for an export.
const ROWS: u32 = 1_000;

/// Returns a page of audit entries, newest first.
pub(super) async fn list(
    audit: &Audit,
    request: &PageRequest<Operator, AuditFilter>,
) -> Result<PageOf<AuditEntry>, Problem> {
    let PageRequest { caller, filter, .. } = request;
    caller.require_administrator()?;
    check(filter)?;
    let list = format!("audit {filter:?}");
    request.read(&list, |below, limit| audit.list(filter, below, limit)).await
}

/// Streams all entries that match a filter as a CSV file, after recording the export in the audit
/// log.
pub(super) async fn export(
    audit: Audit,
    operator: &Operator,
    filter: AuditFilter,
) -> Result<Response, Problem> {
    let by = operator.require_administrator()?;
    check(&filter)?;
    audit.record(by.actor(), Action::Exported, "audit", filter_detail(&filter)).await?;
    let head = Bytes::from_static(b"id,at,operator,action,subject,detail,channel,address\r\n");
    let pages = stream::try_unfold(Some(None), move |next: Option<Option<Uuid>>| {
        let audit = audit.clone();
        let filter = filter.clone();
        async move {
            let Some(below) = next else {
                return Ok::<_, crate::db::Error>(None);
            };
            let page = audit.list(&filter, below, ROWS).await?;
            let lines: String = page.items.iter().map(format_line).collect();
            Ok(Some((Bytes::from(lines), page.next.map(Some))))
        }
    });
    let body = stream::StreamExt::chain(stream::iter([Ok(head)]), pages);
    Ok(csv_response("audit.csv", Body::from_stream(body)))
}

/// Rejects a filter whose texts no entry has.
fn check(AuditFilter { operator, subject, .. }: &AuditFilter) -> Result<(), Problem> {
    for (name, text, longest) in [("operator", operator, 32), ("subject", subject, 200)] {
        let is_valid = |text: &String| {
            (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
        };
        if !text.as_ref().is_none_or(is_valid) {
            let why = format!("`{name}` has 1 to {longest} visible ASCII characters");
            return Err(Code::QueryInvalid.with_detail(why));
        }
    }
    Ok(())
}

/// Formats a line of the file.
fn format_line(entry: &AuditEntry) -> String {
    let at = clock::to_jiff(entry.at.into());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let fields = [
        entry.id.to_string(),
        format!("{at:.3}"),
        text(&entry.operator),
        entry.action.clone(),
        text(&entry.subject),
        entry.detail.to_string(),
        entry.channel.clone(),
        text(&entry.address),
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
