//! The part of requests for tournaments that the API and the desk share.

use bahay_api::operator::tournament_requests::{TournamentRequest, TournamentRequestFilter};

use crate::http::operator::tournaments::to_problem;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::operators::Operator;
use crate::tournaments::{TournamentRequestError, TournamentRequests};

/// Returns a page of requests, newest first.
pub(super) async fn list(
    requests: &TournamentRequests,
    request: &PageRequest<Operator, TournamentRequestFilter>,
) -> Result<PageOf<TournamentRequest>, Problem> {
    let state = request.filter.state;
    let list = format!("tournament requests {state:?}");
    request.read(&list, |below, limit| requests.list(state, below, limit)).await
}

impl From<TournamentRequestError> for Problem {
    fn from(error: TournamentRequestError) -> Self {
        let code = match &error {
            TournamentRequestError::Unknown { .. } => Code::TournamentRequestNotFound,
            TournamentRequestError::Own => Code::TournamentRequestOwn,
            TournamentRequestError::NotOwn => Code::TournamentRequestNotOwn,
            TournamentRequestError::NotIndependent => Code::TournamentRequestNotIndependent,
            TournamentRequestError::Decided { .. } => Code::TournamentRequestDecided,
            TournamentRequestError::SessionEnded => Code::SessionEnded,
            TournamentRequestError::Refused(_) | TournamentRequestError::Database(_) => {
                return match error {
                    TournamentRequestError::Refused(error) => to_problem(error, "starts_at"),
                    TournamentRequestError::Database(error) => error.into(),
                    other => Self::internal(&other),
                };
            }
        };
        code.with_detail(error.to_string())
    }
}
