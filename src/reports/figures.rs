//! The figures of an interval as sums of its operations and transfers.

use bahay_api::Coins;
use bahay_api::operator::today::BookedFigures;
use bahay_engine::coins;

use super::ReportError;
use super::booked::{OperationCount, TransferTotals};
use crate::ledger::Code;

/// Returns the figures of an interval.
pub fn sum_figures(
    counted: &[OperationCount],
    booked: &[TransferTotals],
) -> Result<BookedFigures, ReportError> {
    let mut figures = BookedFigures::default();
    for one in counted {
        count_games(&mut figures, one);
    }
    for one in booked {
        add_transfers(&mut figures, one)?;
    }
    Ok(figures)
}

/// Adds a count of operations.
pub(super) fn count_games(figures: &mut BookedFigures, counted: &OperationCount) {
    let games = match counted.kind.as_str() {
        // An opening that was refused has no room, because there is no game.
        "open" if counted.room.is_some() => &mut figures.games_opened,
        "settle" => &mut figures.games_settled,
        "void" => &mut figures.games_voided,
        // Reversals of grants and adjustments have no room.
        "reverse" if counted.room.is_some() => &mut figures.settlements_reversed,
        _ => return,
    };
    *games = games.saturating_add(counted.operations);
}

/// Adds a sum of transfers. Fails if a sum does not fit 64 bits.
pub(super) fn add_transfers(
    figures: &mut BookedFigures,
    booked: &TransferTotals,
) -> Result<(), ReportError> {
    let TransferTotals { code, source, destination, transfers, amount, .. } = booked;
    let overflow = || sqlx::Error::Decode("a sum does not fit 64 bits".into());
    let set = |sum: &mut Coins, after: Option<coins::Coins>| {
        after.map(|after| *sum = after.into()).ok_or_else(overflow)
    };
    let plus = |sum: &mut Coins| {
        let after = sum.checked_add(*amount);
        set(sum, after)
    };
    let minus = |sum: &mut Coins| {
        let after = sum.checked_sub(*amount);
        set(sum, after)
    };
    match code {
        Code::Payment => plus(&mut figures.payments)?,
        Code::Ante => plus(&mut figures.antes)?,
        Code::Pot => {
            plus(&mut figures.pots)?;
            figures.pots_taken = figures.pots_taken.saturating_add(*transfers);
        }
        Code::Daily | Code::Relief => plus(&mut figures.claimed)?,
        // Only a payment is reversed from a wallet to a wallet.
        Code::Reversal if source == "wallet" && destination == "wallet" => {
            minus(&mut figures.payments)?;
        }
        Code::Fee
        | Code::Hold
        | Code::Release
        | Code::Refund
        | Code::Welcome
        | Code::Adjustment
        | Code::Reversal
        | Code::PotRefund
        | Code::HouseBot
        | Code::Sweep
        | Code::TournamentEntry
        | Code::TournamentReturn
        | Code::TournamentFee
        | Code::TournamentFeeReturn
        | Code::Guarantee
        | Code::GuaranteeReturn
        | Code::Prize
        | Code::TournamentRefund => {}
    }
    match source.as_str() {
        "fee" => minus(&mut figures.fees)?,
        "issue" => plus(&mut figures.issued)?,
        _ => {}
    }
    match destination.as_str() {
        "fee" => plus(&mut figures.fees),
        "issue" => plus(&mut figures.withdrawn),
        _ => Ok(()),
    }
}
