//! The part of the audit log that the API and the desk share: search and export.

use std::fmt::Display;

use axum::body::{Body, Bytes};
use axum::response::Response;
use bahay_api::csv::{self, SpreadsheetText, write_line};
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

/// The columns of the file.
const COLUMNS: [&str; 8] =
    ["id", "at", "operator", "action", "subject", "detail", "channel", "address"];

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
    let head = Bytes::from(csv::begin_file(&COLUMNS));
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
    let at = format!("{:.3}", clock::to_jiff(entry.at.into()));
    let detail = entry.detail.to_string();
    let AuditEntry { operator, action, subject, channel, address, .. } = entry;
    let [operator, subject, address] =
        [operator, subject, address].map(|text| text.as_deref().unwrap_or_default());
    let texts = [&at, operator, action, subject, &detail, channel, address].map(SpreadsheetText);
    let mut line = String::new();
    let id: [&dyn Display; 1] = [&entry.id];
    write_line(&mut line, id.into_iter().chain(texts.iter().map(|text| text as &dyn Display)));
    line
}
