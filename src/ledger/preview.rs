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
use crate::db;

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
    /// Returns the outcome of an adjustment if it were booked now.
    pub async fn preview_adjustment(
        &self,
        player: PlayerId,
        amount: Coins,
    ) -> Result<BookingPreview, LedgerError> {
        self.preview(vec![plan_adjustment(player, amount)]).await
    }

    /// Returns the outcome of a reversal if it were booked now.
    pub async fn preview_reversal(&self, operation: i64) -> Result<BookingPreview, LedgerError> {
        self.preview(self.plan_reversal(operation).await?).await
    }

    async fn preview(&self, transfers: Vec<Move>) -> Result<BookingPreview, LedgerError> {
        let balances = self.read_balances(&transfers).await?;
        let balance_of = |account: &Account| balances.get(account).copied().unwrap_or_default();
        let refusal = match check_covered(&transfers, balance_of) {
            Ok(()) => None,
            Err(error @ LedgerError::Overdrawn { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        let mut after = balances.clone();
        for Move { source, destination, amount, .. } in &transfers {
            if let Some(balance) = after.get_mut(source) {
                *balance = balance.checked_sub(*amount).ok_or_else(overflow)?;
            }
            if let Some(balance) = after.get_mut(destination) {
                *balance = balance.checked_add(*amount).ok_or_else(overflow)?;
            }
        }
        let wallets = after.into_iter().filter_map(|(account, after)| {
            let player = account.player()?;
            let balance = balance_of(&account);
            Some(WalletPreview { player, balance, after })
        });
        Ok(BookingPreview { wallets: wallets.collect(), transfers, refusal })
    }

    /// Returns the balances of the wallets in transfers; zero for a wallet that does not exist.
    async fn read_balances(
        &self,
        transfers: &[Move],
    ) -> Result<BTreeMap<Account, Coins>, LedgerError> {
        let sides = transfers.iter().flat_map(|one| [&one.source, &one.destination]);
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
        for row in db::retry(once).await? {
            let wallet = Account::Wallet(PlayerId(row.player));
            balances.insert(wallet, Coins::from_hundredths(row.balance));
        }
        Ok(balances)
    }
}
