//! The closing of the accounts of tournaments.

use bahay_engine::table::TournamentId;
use sqlx::PgConnection;

use super::Ledger;
use super::chart::Account;
use super::error::LedgerError;

impl Ledger {
    /// Closes the account of a tournament, in the caller's transaction. A constraint of the database
    /// refuses this while the account holds coins, and any coins from then on.
    ///
    /// # Errors
    /// [`LedgerError::Broken`] if the account holds coins; the transaction is unusable then.
    pub async fn close_tournament_account_in_tx(
        &self,
        connection: &mut PgConnection,
        tournament: TournamentId,
    ) -> Result<(), LedgerError> {
        let code = Account::Tournament(tournament).to_string();
        let closed = sqlx::query!("update accounts set is_closed = true where code = $1", code)
            .execute(connection)
            .await;
        match closed {
            Ok(_) => Ok(()),
            Err(sqlx::Error::Database(error))
                if error.constraint() == Some("accounts_closed_are_empty") =>
            {
                Err(LedgerError::broken(format!("{code} holds coins and cannot be closed")))
            }
            Err(error) => Err(error.into()),
        }
    }
}
