//! The transfers of tournaments: entries and their returns, the house's fees and guarantees, prizes,
//! and the payments of a cancellation. Each goes from or to the account of its tournament.
//!
//! One kind of operation serves all of them, because they differ only in the other account and in the
//! key. The tournament decides the amounts; the module `tournaments` posts each transfer in the
//! transaction that notes it in the tournament's journal.

use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TournamentId};
use serde::Serialize;
use sqlx::PgConnection;

use super::reverse::check_fees;
use crate::Ledger;
use crate::books::{Books, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{
    AMOUNT_MAX, Accounts, Kind, NEVER_REVERSED, Operation, PostedAmount, check_name, ensure,
};
use bahay_base::ids::TOURNAMENT_ROOM;

/// The purpose of a transfer, with its other account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TournamentPurpose {
    /// The price of an entry, held from the registration on.
    Entry(PlayerId),
    /// The price of an entry, back to a player who withdraws.
    Return(PlayerId),
    /// The house's fees of all entries, once at the start.
    Fee,
    /// The fees, back from the house after a cancellation.
    FeeReturn,
    /// The house's part of the pool.
    Guarantee,
    /// That part, back to the house after a cancellation.
    GuaranteeReturn,
    Prize(PlayerId),
    /// A player's part of a cancelled tournament.
    Refund(PlayerId),
}

/// A transfer of a tournament. Its key is `tournament:<tournament>:<key>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransferForTournament {
    pub tournament: TournamentId,
    /// The part of the idempotency key that is unique within the tournament, such as `fee`,
    /// `entry:<player>:<number>` or `place:<place>`.
    pub key: String,
    pub purpose: TournamentPurpose,
    pub amount: Coins,
}

impl TransferForTournament {
    fn transfer(&self) -> Move {
        use TournamentPurpose as Purpose;
        let fees = || Account::Fee(TOURNAMENT_ROOM.to_owned());
        let (code, is_received, other) = match self.purpose {
            Purpose::Entry(player) => (Code::TournamentEntry, true, Account::Wallet(player)),
            Purpose::Return(player) => (Code::TournamentReturn, false, Account::Wallet(player)),
            Purpose::Fee => (Code::TournamentFee, false, fees()),
            Purpose::FeeReturn => (Code::TournamentFeeReturn, true, fees()),
            Purpose::Guarantee => (Code::Guarantee, true, Account::Issue),
            Purpose::GuaranteeReturn => (Code::GuaranteeReturn, false, Account::Issue),
            Purpose::Prize(player) => (Code::Prize, false, Account::Wallet(player)),
            Purpose::Refund(player) => (Code::TournamentRefund, false, Account::Wallet(player)),
        };
        let account = Account::Tournament(self.tournament);
        let (source, destination) = if is_received { (other, account) } else { (account, other) };
        Move { code, source, destination, amount: self.amount }
    }
}

impl Operation for TransferForTournament {
    const KIND: Kind = Kind { name: "tournament", irreversible: Some(NEVER_REVERSED) };

    type Outcome = PostedAmount;

    fn key(&self) -> String {
        format!("tournament:{}:{}", self.tournament, self.key)
    }

    fn check(&self) -> Result<(), LedgerError> {
        check_name(&self.key)?;
        ensure(self.amount > Coins::ZERO, "a transfer of a tournament is not positive")?;
        ensure(self.amount <= AMOUNT_MAX, "a transfer of a tournament exceeds the maximum")
    }

    fn accounts(&self) -> Accounts {
        let Move { source, destination, .. } = self.transfer();
        let (house, others): (Vec<_>, Vec<_>) =
            [source, destination].into_iter().partition(Account::is_house);
        let is_tournament = |account: &Account| matches!(account, Account::Tournament(_));
        let (made, used) = others.into_iter().partition(is_tournament);
        Accounts { made, used, house, ..Accounts::default() }
    }

    fn decide(&self, books: &mut Books) -> Result<PostedAmount, LedgerError> {
        Ok(PostedAmount { amount: books.post_covered(&[self.transfer()])? })
    }
}

impl Ledger {
    /// Creates the house accounts that transfers of tournaments need. They must exist before a
    /// transaction posts such a transfer, because it could be rolled back while their ids stay
    /// cached.
    pub async fn create_tournament_fee_account(&self) -> Result<(), LedgerError> {
        self.create_house_account(Account::Fee(TOURNAMENT_ROOM.to_owned())).await
    }

    /// Posts a transfer of a tournament, in the caller's transaction.
    ///
    /// # Errors
    /// [`LedgerError::Overdrawn`] if the paying account holds less.
    pub async fn transfer_for_tournament_in_tx(
        &self,
        connection: &mut PgConnection,
        input: TransferForTournament,
    ) -> Result<(), LedgerError> {
        if input.purpose == TournamentPurpose::FeeReturn {
            check_fees(connection, &[input.transfer()]).await?;
        }
        self.run_in_tx(connection, input).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::coins::Coins;
    use bahay_engine::table::{PlayerId, TournamentId};
    use uuid::Uuid;

    use super::{TournamentPurpose, TransferForTournament};
    use crate::operation::Operation as _;

    #[test]
    fn every_purpose_moves_coins_from_or_to_the_tournament() {
        let player = PlayerId(Uuid::from_u128(2));
        let tournament = TournamentId(Uuid::from_u128(1));
        let wallet = format!("wallet:{player}");
        let account = format!("tournament:{tournament}");
        let fees = "fee:tournament".to_owned();
        let issue = "issue".to_owned();
        for (purpose, code, source, destination) in [
            (TournamentPurpose::Entry(player), "tournament_entry", &wallet, &account),
            (TournamentPurpose::Return(player), "tournament_return", &account, &wallet),
            (TournamentPurpose::Fee, "tournament_fee", &account, &fees),
            (TournamentPurpose::FeeReturn, "tournament_fee_return", &fees, &account),
            (TournamentPurpose::Guarantee, "guarantee", &issue, &account),
            (TournamentPurpose::GuaranteeReturn, "guarantee_return", &account, &issue),
            (TournamentPurpose::Prize(player), "prize", &account, &wallet),
            (TournamentPurpose::Refund(player), "tournament_refund", &account, &wallet),
        ] {
            let amount = Coins::from_hundredths(100);
            let key = "place:1".to_owned();
            let input = TransferForTournament { tournament, key, purpose, amount };
            let transfer = input.transfer();
            assert_eq!(transfer.code.as_str(), code);
            assert_eq!(transfer.source.to_string(), *source);
            assert_eq!(transfer.destination.to_string(), *destination);
            assert_eq!(input.key(), format!("tournament:{tournament}:place:1"));
            assert_eq!(input.accounts().made.len(), 1);
        }
    }
}
