//! The welcome grant, which a new player receives once.
//!
//! A network is limited to a number of guests' welcome grants a day ([`crate::grant_limits`]). A
//! guest beyond the limit is a full player without coins: its grant is due, and is given at a
//! sign-in or refresh on a day with a remaining grant, or as soon as the player links an identity,
//! for which grants are limited to one a day. A password does not qualify, since a person who
//! creates many guests could set one for each at no cost.

use sqlx::PgConnection;

use crate::accounts::Accounts;
use crate::accounts::transaction::TransactionError;
use crate::clock::Timestamp;
use crate::grant_limits::{GrantRecipient, LimitedGrant};
use crate::ids::PlayerId;
use crate::ledger::{Grant, GrantCoins, LedgerError};

impl Accounts {
    async fn post_welcome_grant(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<(), LedgerError> {
        if self.welcome.is_zero() {
            return Ok(());
        }
        let key = player.to_string();
        let amount = self.welcome;
        let grant = GrantCoins { player, grant: Grant::Welcome, key, amount };
        self.ledger.grant_in_tx(connection, grant).await?;
        Ok(())
    }

    /// Grants the welcome to a new player, or records that it is due.
    pub(in crate::accounts) async fn grant_welcome_or_defer(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
        recipient: GrantRecipient<'_>,
        now: Timestamp,
    ) -> Result<(), TransactionError> {
        if self.grants.count_in_tx(connection, LimitedGrant::Welcome, recipient, now).await? {
            return Ok(self.post_welcome_grant(connection, player).await?);
        }
        sqlx::query!("update players set welcome_due = true where id = $1", player.0)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Grants a welcome that is due, if the recipient has not reached its limit.
    pub(in crate::accounts) async fn grant_due_welcome(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
        recipient: GrantRecipient<'_>,
        now: Timestamp,
    ) -> Result<(), TransactionError> {
        let due = sqlx::query!(
            "select id from players where id = $1 and welcome_due for no key update",
            player.0
        );
        if due.fetch_optional(&mut *connection).await?.is_none()
            || !self.grants.count_in_tx(connection, LimitedGrant::Welcome, recipient, now).await?
        {
            return Ok(());
        }
        sqlx::query!("update players set welcome_due = false where id = $1", player.0)
            .execute(&mut *connection)
            .await?;
        Ok(self.post_welcome_grant(connection, player).await?)
    }
}
