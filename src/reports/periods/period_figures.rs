//! The figures of a period: bookings, players, and the flows of the house's accounts; and the
//! difference of the figures of two periods.

use std::collections::BTreeMap;

use bahay_api::Coins;
use bahay_api::operator::today::{AccountFlow, BookedFigures, PeriodFigures, PlayerFigures};

use crate::clock::Timestamp;
use crate::ledger::Code;
use crate::reports::booked::{Interval, OperationCount, TransferTotals};
use crate::reports::days::PeriodDays;
use crate::reports::figures::sum_figures;
use crate::reports::{ReportError, Reports};

/// The kinds of accounts that belong to a player. Their flows are the counterparts of the others.
const OF_PLAYERS: [&str; 2] = ["wallet", "stake"];

impl Reports {
    /// Returns the figures of an interval, which is a part of some days.
    pub(super) async fn period_figures(
        &self,
        days: PeriodDays,
        interval: Interval,
    ) -> Result<PeriodFigures, ReportError> {
        let counted = self.operation_counts(interval, false).await?;
        let booked = self.transfer_totals(interval, false).await?;
        self.combine_figures(days, interval.to, &counted, &booked).await
    }

    /// Returns the figures of some days before an instant, whose bookings were read.
    pub(super) async fn combine_figures(
        &self,
        days: PeriodDays,
        to: Timestamp,
        counted: &[OperationCount],
        booked: &[TransferTotals],
    ) -> Result<PeriodFigures, ReportError> {
        Ok(PeriodFigures {
            booked: sum_figures(counted, booked)?,
            players: self.active_players(days, to).await?,
            flows: sum_flows(booked)?,
        })
    }
}

/// Sums the coins that accounts of the house received and paid, by kind of account and code.
fn sum_flows(booked: &[TransferTotals]) -> Result<Vec<AccountFlow>, ReportError> {
    let mut flows = BTreeMap::<(&str, Code), AccountFlow>::new();
    for TransferTotals { code, source, destination, amount, .. } in booked {
        for (account, is_received) in [(destination, true), (source, false)] {
            if OF_PLAYERS.contains(&account.as_str()) {
                continue;
            }
            let key = (account.as_str(), *code);
            let flow = flows.entry(key).or_insert_with(|| empty_flow(account, *code));
            let sum = if is_received { &mut flow.received } else { &mut flow.paid };
            *sum = sum.checked_add(*amount).ok_or_else(overflow)?.into();
        }
    }
    Ok(flows.into_values().collect())
}

fn empty_flow(account: &str, code: Code) -> AccountFlow {
    let none = Coins::default();
    AccountFlow { account: account.to_owned(), code, received: none, paid: none }
}

/// Returns the figures of the first period minus those of the second.
pub(super) fn subtract_figures(
    first: &PeriodFigures,
    second: &PeriodFigures,
) -> Result<PeriodFigures, ReportError> {
    Ok(PeriodFigures {
        booked: subtract_booked(&first.booked, &second.booked)?,
        players: subtract_players(first.players, second.players),
        flows: subtract_flows(&first.flows, &second.flows)?,
    })
}

fn subtract_booked(
    first: &BookedFigures,
    second: &BookedFigures,
) -> Result<BookedFigures, ReportError> {
    Ok(BookedFigures {
        games_opened: first.games_opened - second.games_opened,
        games_settled: first.games_settled - second.games_settled,
        games_voided: first.games_voided - second.games_voided,
        settlements_reversed: first.settlements_reversed - second.settlements_reversed,
        payments: subtract_coins(first.payments, second.payments)?,
        fees: subtract_coins(first.fees, second.fees)?,
        antes: subtract_coins(first.antes, second.antes)?,
        pots: subtract_coins(first.pots, second.pots)?,
        pots_taken: first.pots_taken - second.pots_taken,
        issued: subtract_coins(first.issued, second.issued)?,
        claimed: subtract_coins(first.claimed, second.claimed)?,
        withdrawn: subtract_coins(first.withdrawn, second.withdrawn)?,
    })
}

fn subtract_players(first: PlayerFigures, second: PlayerFigures) -> PlayerFigures {
    PlayerFigures {
        people: first.people - second.people,
        new: first.new - second.new,
        returning: first.returning - second.returning,
        bots: first.bots - second.bots,
    }
}

fn subtract_flows(
    first: &[AccountFlow],
    second: &[AccountFlow],
) -> Result<Vec<AccountFlow>, ReportError> {
    let key = |flow: &AccountFlow| (flow.account.clone(), flow.code);
    let mut flows: BTreeMap<_, _> = first.iter().map(|flow| (key(flow), flow.clone())).collect();
    for flow in second {
        let change = flows.entry(key(flow)).or_insert_with(|| empty_flow(&flow.account, flow.code));
        change.received = subtract_coins(change.received, flow.received)?;
        change.paid = subtract_coins(change.paid, flow.paid)?;
    }
    Ok(flows.into_values().collect())
}

fn subtract_coins(first: Coins, second: Coins) -> Result<Coins, ReportError> {
    first.checked_sub(*second).map(Coins::from).ok_or_else(overflow)
}

/// Returns the error of a sum beyond 64 bits.
fn overflow() -> ReportError {
    sqlx::Error::Decode("a sum does not fit 64 bits".into())
}

#[cfg(test)]
mod tests {
    use super::{Coins, PeriodFigures, subtract_figures, sum_flows};
    use crate::ledger::Code;
    use crate::reports::TransferTotals;

    fn total(code: Code, source: &str, destination: &str, amount: i64) -> TransferTotals {
        let amount = bahay_engine::coins::Coins::from_hundredths(amount);
        let [source, destination] = [source, destination].map(str::to_owned);
        TransferTotals { hour: None, room: None, code, source, destination, transfers: 1, amount }
    }

    #[test]
    fn flows_are_summed_by_account_and_subtracted() {
        let first = sum_flows(&[
            total(Code::Fee, "wallet", "fee", 5),
            total(Code::Fee, "wallet", "fee", 7),
            total(Code::Reversal, "fee", "wallet", 2),
            total(Code::Payment, "stake", "wallet", 100),
        ]);
        let second = sum_flows(&[total(Code::Welcome, "issue", "wallet", 9)]);
        let figures = |flows| PeriodFigures { flows, ..PeriodFigures::default() };
        let difference =
            subtract_figures(&figures(first.unwrap()), &figures(second.unwrap())).unwrap();
        let flows = difference.flows.iter();
        let flows: Vec<_> = flows
            .map(|flow| (flow.account.as_str(), flow.code, flow.received, flow.paid))
            .collect();
        let coins = Coins::from_hundredths;
        assert_eq!(
            flows,
            [
                ("fee", Code::Fee, coins(12), coins(0)),
                ("fee", Code::Reversal, coins(0), coins(2)),
                ("issue", Code::Welcome, coins(0), coins(-9)),
            ]
        );
    }
}
