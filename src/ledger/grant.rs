//! Grants: the only way in which coins come into being.

use super::books::{Books, Move};
use super::chart::Account;
use super::error::LedgerError;
use super::operation::{GrantCoins, GrantOutcome};

pub(super) fn decide(
    input: &GrantCoins,
    operation: i64,
    books: &mut Books,
) -> Result<GrantOutcome, LedgerError> {
    let wallet = Account::Wallet(input.player);
    let grant = Move {
        code: input.grant.code(),
        source: Account::Issue,
        destination: wallet.clone(),
        amount: input.amount,
    };
    books.post(operation, &[grant])?;
    Ok(GrantOutcome { wallet: books.balance(&wallet) })
}
