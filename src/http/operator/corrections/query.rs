//! The part of corrections that the API and the desk share: the list, and the request.

use bahay_api::operator::corrections::{Correction, CorrectionFilter, RequestCorrection};
use bahay_engine::coins::Coins;

use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::ids::PlayerId;
use crate::operators::{Corrections, Operator, Subject};
use crate::reason::Reason;

/// Returns a page of corrections, newest first.
pub(crate) async fn list(
    corrections: &Corrections,
    request: &PageRequest<Operator, CorrectionFilter>,
) -> Result<PageOf<Correction>, Problem> {
    let state = request.filter.state;
    let list = format!("corrections {state:?}");
    let read = |below, limit| corrections.list(&request.caller, state, below, limit);
    request.read(&list, read).await
}

/// Returns the subject and the reason of a request.
pub(crate) fn subject(request: RequestCorrection) -> Result<(Subject, Reason), Problem> {
    match request {
        RequestCorrection::Adjustment { amount: 0, .. } => {
            Err(Code::BodyInvalid.with_detail("the amount of an adjustment is zero"))
        }
        RequestCorrection::Adjustment { player, amount, reason } => {
            let amount = Coins::from_hundredths(amount);
            Ok((Subject::Adjustment { player: PlayerId(player), amount }, reason))
        }
        RequestCorrection::Reversal { operation, reason } => {
            Ok((Subject::Reversal { operation }, reason))
        }
    }
}
