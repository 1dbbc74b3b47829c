//! The part of players' reports that the API and the desk share: the list and the refusals.

use bahay_api::operator::player_reports::{PlayerReport, ReportFilter};

use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::operators::Operator;
use crate::social::{ReportError, Social};

/// Returns a page of reports, newest first.
pub(super) async fn list(
    social: &Social,
    request: &PageRequest<Operator, ReportFilter>,
) -> Result<PageOf<PlayerReport>, Problem> {
    let state = request.filter.state;
    let list = format!("reports {state:?}");
    request.read(&list, |below, limit| social.list_reports(state, below, limit)).await
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
