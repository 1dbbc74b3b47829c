//! Previews of corrections: the transfers that one would book now, and the wallets that they change.
//! Nothing is locked, so that balances may differ when the correction is booked.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;

use super::Ledger;
use super::books::{Move, check_covered, overflow};
use super::chart::Account;
use super::error::LedgerError;
use super::operations::plan_adjustment;

/// The subject of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectionSubject {
    /// Coins given to a wallet or, if negative, taken from it.
    Adjustment { player: PlayerId, amount: Coins },
    /// The reversal of an operation of the ledger.
    Reversal { operation: i64 },
}

/// The outcome of a correction if it were booked now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookingPreview {
    pub transfers: Vec<Move>,
    /// The wallets in `transfers`, each once.
    pub wallets: Vec<WalletPreview>,
    /// [`LedgerError::Overdrawn`] if a wallet does not cover the transfers.
    pub refusal: Option<LedgerError>,
}

/// A wallet before and after a correction. `after` is negative if the wallet does not cover it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalletPreview {
    pub player: PlayerId,
    pub balance: Coins,
    pub after: Coins,
}

impl Ledger {
    /// Returns the outcome of each correction if it alone were booked now, or the reason why the books
    /// reject it. The number of statements does not depend on the number of corrections.
    pub async fn preview_corrections(
        &self,
        subjects: &[CorrectionSubject],
    ) -> Result<Vec<Result<BookingPreview, LedgerError>>, LedgerError> {
        let operations = subjects.iter().filter_map(|subject| match *subject {
            CorrectionSubject::Adjustment { .. } => None,
            CorrectionSubject::Reversal { operation } => Some(operation),
        });
        let reversals = self.plan_reversals(&operations.collect::<Vec<_>>()).await?;
        let planned = subjects.iter().map(|subject| match *subject {
            CorrectionSubject::Adjustment { player, amount } => {
                Ok(vec![plan_adjustment(player, amount)])
            }
            CorrectionSubject::Reversal { operation } => reversals
                .get(&operation)
                .cloned()
                .unwrap_or(Err(LedgerError::OperationUnknown { operation })),
        });
        let planned: Vec<_> = planned.collect();
        let balances = self.read_balances(planned.iter().flatten().flatten()).await?;
        let previews = planned.into_iter().map(|transfers| preview(transfers?, &balances));
        Ok(previews.collect())
    }

    /// Returns the balances of the wallets in transfers; zero for a wallet that does not exist.
    async fn read_balances(
        &self,
        transfers: impl Iterator<Item = &Move>,
    ) -> Result<BTreeMap<Account, Coins>, LedgerError> {
        let sides = transfers.flat_map(|one| [&one.source, &one.destination]);
        let wallets = sides.filter(|account| account.player().is_some());
        let mut balances: BTreeMap<_, _> =
            wallets.map(|account| (account.clone(), Coins::ZERO)).collect();
        let codes: Vec<_> = balances.keys().map(Account::to_string).collect();
        let once = || {
            sqlx::query!(
                r#"
                select a.player as "player!", a.balance
                from accounts a
                where a.code = any($1) and a.player is not null
                "#,
                &codes
            )
            .fetch_all(&self.reads)
        };
        for row in bahay_db::retry(once).await? {
            let wallet = Account::Wallet(PlayerId(row.player));
            balances.insert(wallet, Coins::from_hundredths(row.balance));
        }
        Ok(balances)
    }
}

/// Returns the outcome of transfers, given the balances of their wallets and perhaps others.
fn preview(
    transfers: Vec<Move>,
    balances: &BTreeMap<Account, Coins>,
) -> Result<BookingPreview, LedgerError> {
    let balance_of = |account: &Account| balances.get(account).copied().unwrap_or_default();
    let refusal = match check_covered(&transfers, balance_of) {
        Ok(()) => None,
        Err(error @ LedgerError::Overdrawn { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    let mut after = BTreeMap::new();
    for Move { source, destination, amount, .. } in &transfers {
        for (account, is_paid) in [(source, true), (destination, false)] {
            if account.player().is_some() {
                let balance = after.entry(account).or_insert_with(|| balance_of(account));
                let changed = match is_paid {
                    true => balance.checked_sub(*amount),
                    false => balance.checked_add(*amount),
                };
                *balance = changed.ok_or_else(overflow)?;
            }
        }
    }
    let wallets = after.into_iter().filter_map(|(account, after)| {
        let player = account.player()?;
        Some(WalletPreview { player, balance: balance_of(account), after })
    });
    Ok(BookingPreview { wallets: wallets.collect(), transfers, refusal })
}
