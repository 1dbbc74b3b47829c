//! Sweeps: what a bot of the house has left goes back to `issue`, where its coins came from. With
//! the grants that filled it, that is all the house has put into play by a bot and got back.
//!
//! The key has the version of the wallet, so what somebody has seen there is taken once, however
//! many processes try.

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use serde::Serialize;

use super::Ledger;
use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::correct::{PostedAmount, post_covered};
use super::error::LedgerError;
use super::operation::{Operation, Request};
use super::decode_answer;
use super::writer;
use crate::db;

/// The wallet of a bot with something in it. Its key is `sweep:<player>:<version>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SweepWallet {
    pub player: PlayerId,
    /// That of the wallet which holds so much.
    pub version: i64,
    pub amount: Coins,
}

impl Ledger {
    /// The wallets of bots that hold coins, of retired ones too.
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
        let rows = db::retry(once).await?.into_iter();
        let wallet = rows.map(|row| SweepWallet {
            player: PlayerId(row.id),
            version: row.version,
            amount: Coins::from_hundredths(row.balance),
        });
        Ok(wallet.collect())
    }

    /// Takes back what a bot's wallet held. Refused as [`LedgerError::Overdrawn`] when it holds
    /// less by now.
    pub async fn sweep(&self, input: SweepWallet) -> Result<(), LedgerError> {
        let request = Request::new(Operation::Sweep(input))?;
        let PostedAmount { .. } = decode_answer(writer::run_single(&self.pool, &self.house_ids, &request).await)?;
        Ok(())
    }
}

pub(super) fn decide(
    input: &SweepWallet,
    operation: i64,
    books: &mut Books,
) -> Result<PostedAmount, LedgerError> {
    let sweep = Move {
        code: Code::Sweep,
        source: Account::Wallet(input.player),
        destination: Account::Issue,
        amount: input.amount,
    };
    post_covered(operation, &[sweep], books)
}
