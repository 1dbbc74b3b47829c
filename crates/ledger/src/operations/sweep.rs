//! Sweeps: the rest of a house bot's coins returns to `issue`, where the coins came from. Together
//! with the grants to it, the sweeps of a bot show all coins that the house has put into play by
//! it.
//!
//! The key contains the version of the wallet, so a balance is swept once, however many processes
//! try.

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use serde::Serialize;

use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{Accounts, Kind, NEVER_REVERSED, Operation, PostedAmount, ensure};

/// The sweep of a house bot's wallet. Its key is `sweep:<player>:<version>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SweepWallet {
    pub player: PlayerId,
    /// The version at which the wallet has this balance.
    pub version: i64,
    pub amount: Coins,
}

impl Operation for SweepWallet {
    const KIND: Kind = Kind { name: "sweep", irreversible: Some(NEVER_REVERSED) };

    type Outcome = PostedAmount;

    fn key(&self) -> String {
        format!("sweep:{}:{}", self.player, self.version)
    }

    fn check(&self) -> Result<(), LedgerError> {
        ensure(self.amount > Coins::ZERO, "a sweep is not positive")
    }

    fn accounts(&self) -> Accounts {
        let used = vec![Account::Wallet(self.player)];
        Accounts { used, house: vec![Account::Issue], ..Accounts::default() }
    }

    fn decide(&self, books: &mut Books) -> Result<PostedAmount, LedgerError> {
        let sweep = Move {
            code: Code::Sweep,
            source: Account::Wallet(self.player),
            destination: Account::Issue,
            amount: self.amount,
        };
        Ok(PostedAmount { amount: books.post_covered(&[sweep])? })
    }
}

impl Ledger {
    /// Returns the wallets of house bots with coins, including retired bots.
    pub async fn bots_with_coins(&self) -> Result<Vec<SweepWallet>, LedgerError> {
        let once = || {
            sqlx::query!(
                r#"
                select p.id, a.balance, a.version
                from players p
                join accounts a on a.code = 'wallet:' || p.id
                where p.kind = 'bot' and a.balance > 0
                order by p.id
                "#
            )
            .fetch_all(&self.reads)
        };
        let rows = bahay_db::retry(once).await?.into_iter();
        let wallet = rows.map(|row| SweepWallet {
            player: PlayerId(row.id),
            version: row.version,
            amount: Coins::from_hundredths(row.balance),
        });
        Ok(wallet.collect())
    }

    /// Returns the coins of a house bot's wallet to the house.
    ///
    /// # Errors
    /// [`LedgerError::Overdrawn`] if the wallet holds less by now.
    pub async fn sweep(&self, input: SweepWallet) -> Result<(), LedgerError> {
        self.run_single(input).await.map(|_| ())
    }
}
