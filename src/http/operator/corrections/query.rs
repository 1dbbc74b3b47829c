//! The part of corrections that the API and the desk share: the list, the request, and the preview.

use std::collections::BTreeMap;

use bahay_api::operator::corrections::{
    Correction, CorrectionFilter, CorrectionPreview, CorrectionState, PreviewedRefusal,
    PreviewedTransfer, PreviewedWallet, RequestCorrection,
};
use bahay_engine::coins::Coins;
use uuid::Uuid;

use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::ids::{CorrectionId, PlayerId};
use crate::ledger::{BookingPreview, CorrectionSubject};
use crate::operators::{self, CorrectionContent, Corrections, Operator};
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

/// Returns the outcome of an open correction if it were approved now.
pub(crate) async fn preview(
    corrections: &Corrections,
    operator: &Operator,
    id: CorrectionId,
) -> Result<CorrectionPreview, Problem> {
    Ok(to_body(corrections.preview(operator, id).await?))
}

/// Returns the outcomes of those of the corrections that are open, by their ids.
pub(super) async fn preview_open(
    corrections: &Corrections,
    operator: &Operator,
    listed: &[Correction],
) -> Result<BTreeMap<Uuid, CorrectionPreview>, Problem> {
    let open = listed.iter().filter(|correction| correction.state == CorrectionState::Open);
    let ids: Vec<_> = open.map(|correction| CorrectionId(correction.id)).collect();
    let previews = corrections.preview_open(operator, &ids).await?;
    Ok(previews.into_iter().map(|(id, preview)| (id.0, to_body(preview))).collect())
}

fn to_body(preview: operators::CorrectionPreview) -> CorrectionPreview {
    let operators::CorrectionPreview { booking, names, refusal } = preview;
    let BookingPreview { transfers, wallets, .. } = booking;
    let transfers = transfers.into_iter().map(|transfer| PreviewedTransfer {
        source: transfer.source.to_string(),
        destination: transfer.destination.to_string(),
        amount: transfer.amount.into(),
    });
    let wallets = wallets.into_iter().map(|wallet| PreviewedWallet {
        player: wallet.player.0,
        name: names.get(&wallet.player).cloned().unwrap_or_default(),
        balance: wallet.balance.into(),
        balance_after: wallet.after.into(),
    });
    let refusal = refusal.map(|error| {
        let detail = error.to_string();
        PreviewedRefusal { code: Problem::from(error).code, detail }
    });
    CorrectionPreview { transfers: transfers.collect(), wallets: wallets.collect(), refusal }
}

/// Returns the content and the reason of a request.
pub(crate) fn content(request: RequestCorrection) -> Result<(CorrectionContent, Reason), Problem> {
    let invalid = |detail: &'static str| Err(Code::BodyInvalid.with_detail(detail));
    match request {
        RequestCorrection::Adjustment { amount: 0, .. } => {
            invalid("the amount of an adjustment is zero")
        }
        RequestCorrection::Adjustment { player, amount, reason } => {
            let amount = Coins::from_hundredths(amount);
            let subject = CorrectionSubject::Adjustment { player: PlayerId(player), amount };
            Ok((CorrectionContent::Booking(subject), reason))
        }
        RequestCorrection::Reversal { operation, reason } => {
            Ok((CorrectionContent::Booking(CorrectionSubject::Reversal { operation }), reason))
        }
        RequestCorrection::Pass { buy_in_max: ..=0, .. } => {
            invalid("the largest buy-in of a pass is above zero")
        }
        RequestCorrection::Pass { player, buy_in_max, reason } => {
            let buy_in_max = Coins::from_hundredths(buy_in_max);
            Ok((CorrectionContent::Pass { player: PlayerId(player), buy_in_max }, reason))
        }
        RequestCorrection::PassRevocation { pass, reason } => {
            Ok((CorrectionContent::PassRevocation { pass }, reason))
        }
    }
}
