//! Grants: the only way in which coins come into being.

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Grant};
use crate::error::LedgerError;
use crate::operation::{AMOUNT_MAX, Accounts, Kind, Operation, check_name, ensure};

/// A grant: coins from `issue` to a wallet, which is created if it does not exist. Its key is
/// `<code>:<key>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrantCoins {
    pub player: PlayerId,
    pub grant: Grant,
    /// The part of the idempotency key that makes the grant unique: the player's id for a welcome,
    /// player and day for a daily reward.
    pub key: String,
    pub amount: Coins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantOutcome {
    /// The balance of the wallet after the grant.
    pub wallet: Coins,
}

impl Operation for GrantCoins {
    const KIND: Kind = Kind { name: "grant", irreversible: None };

    type Outcome = GrantOutcome;

    fn key(&self) -> String {
        format!("{}:{}", self.grant.code(), self.key)
    }

    fn check(&self) -> Result<(), LedgerError> {
        check_name(&self.key)?;
        ensure(self.amount > Coins::ZERO, "a grant is not positive")?;
        ensure(self.amount <= AMOUNT_MAX, "a grant exceeds the maximum")
    }

    fn accounts(&self) -> Accounts {
        Accounts::of_issue_and(self.player)
    }

    fn decide(&self, books: &mut Books) -> Result<GrantOutcome, LedgerError> {
        let wallet = Account::Wallet(self.player);
        let grant = Move {
            code: self.grant.code(),
            source: Account::Issue,
            destination: wallet.clone(),
            amount: self.amount,
        };
        books.post(&[grant])?;
        Ok(GrantOutcome { wallet: books.balance(&wallet) })
    }
}

impl Ledger {
    /// Grants coins to a player. The player must exist; the wallet is created if it does not.
    pub async fn grant(&self, input: GrantCoins) -> Result<GrantOutcome, LedgerError> {
        self.run_single(input).await
    }

    /// Grants coins like [`Ledger::grant`], in the caller's transaction, which holds the wallet's
    /// lock from here on. After a database error the transaction is unusable.
    pub async fn grant_in_tx(
        &self,
        connection: &mut PgConnection,
        input: GrantCoins,
    ) -> Result<GrantOutcome, LedgerError> {
        self.run_in_tx(connection, input).await
    }
}
