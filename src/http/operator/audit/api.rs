//! The operators' API of the audit log.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::audit::{AuditEntry, AuditFilter};

use super::query;
use crate::http::{PageOf, PageRequest, Problem, Query};
use crate::operators::{Audit, Operator};

pub(crate) async fn list_audit_entries(
    State(audit): State<Audit>,
    request: PageRequest<Operator, AuditFilter>,
) -> Result<Json<PageOf<AuditEntry>>, Problem> {
    Ok(Json(query::list(&audit, &request).await?))
}

pub(crate) async fn export_audit_entries(
    State(audit): State<Audit>,
    operator: Operator,
    Query(filter): Query<AuditFilter>,
) -> Result<Response, Problem> {
    query::export(audit, &operator, filter).await
}
