//! The welcome: what a new player starts with, once.
//!
//! A network gets so many welcomes of guests a day ([`crate::grant_limits`]). Who comes beyond that is
//! a player like all others, without coins yet: its welcome is due, and is given when it signs in or
//! refreshes on a day when there is one left, or as soon as it links an identity, which is welcomed once
//! a day itself. A password is no such proof, since whoever makes guests can set one for each at no
//! cost.

use sqlx::PgConnection;

use crate::clock::Timestamp;
use crate::grant_limits::{LimitedGrant, GrantRecipient};
use crate::ids::PlayerId;
use crate::ledger::{Grant, GrantCoins, LedgerError};

use super::Accounts;
use super::transaction::TransactionError;

impl Accounts {
    async fn post_welcome_grant(
        &self,
        connection: &mut PgConnection,
        player: PlayerId,
    ) -> Result<(), LedgerError> {
        if self.welcome.is_zero() {
            return Ok(());
        }
        let (key, amount) = (player.to_string(), self.welcome);
        let grant = GrantCoins { player, grant: Grant::Welcome, key, amount };
        self.ledger.grant_in_tx(connection, grant).await?;
        Ok(())
    }

    /// Gives a new player its welcome, or notes that it is due.
    pub(super) async fn grant_welcome_or_defer(
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

    /// Gives a welcome that is due, if the recipient has one left.
    pub(super) async fn grant_due_welcome(
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
