//! Adjustments of wallets by operators. An adjustment changes no booked row and cannot overdraw a
//! wallet. The module does not know who requests it and who approves it: see `operators`.

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use serde::Serialize;
use sqlx::PgConnection;

use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{AMOUNT_MAX, Accounts, Kind, Operation, PostedAmount, ensure};
use bahay_base::ids::CorrectionId;

/// An adjustment: coins from `issue` to a wallet, which is created if it does not exist, or from a
/// wallet back to `issue`. Its key is `adjust:<correction>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdjustWallet {
    pub correction: CorrectionId,
    pub player: PlayerId,
    /// The amount; negative if coins are taken.
    pub amount: Coins,
}

/// A booked correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookedCorrection {
    /// The id of the operation that booked it.
    pub operation: i64,
}

impl Operation for AdjustWallet {
    const KIND: Kind = Kind { name: "adjust", irreversible: None };

    type Outcome = PostedAmount;

    fn key(&self) -> String {
        format!("adjust:{}", self.correction)
    }

    fn check(&self) -> Result<(), LedgerError> {
        let bounds = Coins::from_hundredths(-AMOUNT_MAX.hundredths())..=AMOUNT_MAX;
        ensure(!self.amount.is_zero(), "an adjustment is zero")?;
        ensure(bounds.contains(&self.amount), "an adjustment exceeds the maximum")
    }

    fn accounts(&self) -> Accounts {
        Accounts::of_issue_and(self.player)
    }

    fn decide(&self, books: &mut Books) -> Result<PostedAmount, LedgerError> {
        // The bounds of the amount have been checked.
        Ok(PostedAmount {
            amount: books.post_covered(&[plan_adjustment(self.player, self.amount)])?,
        })
    }
}

/// Returns the transfer that adjusts a wallet by an amount, which is within its bounds.
pub(crate) fn plan_adjustment(player: PlayerId, amount: Coins) -> Move {
    let mut sides = [Account::Issue, Account::Wallet(player)];
    if amount.is_negative() {
        sides.reverse();
    }
    let [source, destination] = sides;
    let amount = Coins::from_hundredths(amount.hundredths().abs());
    Move { code: Code::Adjustment, source, destination, amount }
}

impl Ledger {
    /// Adds coins to a wallet or takes them from it, in the caller's transaction, which holds the
    /// wallet's lock from here on. After a database error the transaction is unusable.
    pub async fn adjust_in_tx(
        &self,
        connection: &mut PgConnection,
        input: AdjustWallet,
    ) -> Result<BookedCorrection, LedgerError> {
        self.correct_in_tx(connection, input).await
    }

    /// Runs a correction and returns the id of its operation.
    pub(super) async fn correct_in_tx(
        &self,
        connection: &mut PgConnection,
        correction: impl Operation,
    ) -> Result<BookedCorrection, LedgerError> {
        let key = correction.key();
        self.run_in_tx(connection, correction).await?;
        let operation =
            sqlx::query_scalar!("select k.operation from operation_keys k where k.key = $1", key)
                .fetch_one(connection)
                .await?;
        Ok(BookedCorrection { operation })
    }
}
