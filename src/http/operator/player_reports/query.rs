//! The part of players' reports that the API and the desk share: the list and the refusals.

use bahay_api::operator::player_reports::{PlayerReport, ReportFilter, ReportState};

use crate::http::{Code, CodeExt as _, Cursors, PageOf, PageQuery, Problem};
use crate::operators::Operator;
use crate::social::{ReportError, Social};

/// Returns a page of reports, newest first.
pub(super) async fn list(
    social: &Social,
    cursors: &Cursors,
    operator: &Operator,
    query: &PageQuery<ReportFilter>,
    items: u32,
) -> Result<PageOf<PlayerReport>, Problem> {
    let state = query.filter.state;
    let list = format!("reports {}", state.map_or("all", ReportState::as_str));
    let below = cursors.position(&list, operator, query.cursor.as_deref())?;
    Ok(cursors.page(&list, operator, social.list_reports(state, below, items).await?))
}

impl From<ReportError> for Problem {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Unknown => Code::ReportNotFound.problem(),
            ReportError::Decided => Code::ReportDecided.problem(),
            ReportError::Database(error) => error.into(),
        }
    }
}
