//! The verification of a credential before a player changes its sign-in methods or deletes its
//! account.
//!
//! An account is as safe as the weakest credential that can take it over. A device is therefore
//! accepted only from players without a better credential: if the player has a password, or an
//! identity at a configured issuer, one of those is required, since a thief of the phone has the
//! device id.

use bahay_api::player::sign_in::ProofRequest;

use crate::auth::{HolderProof, Player};
use crate::db;
use crate::openid::{IdToken, Identity};

use super::sign_in::nonces;
use super::{AccountError, Accounts, DeviceId, transaction};

impl Accounts {
    /// Verifies a credential of the player and returns a proof.
    ///
    /// # Errors
    /// For a device [`AccountError::DeviceWrong`] and [`AccountError::ProofInsufficient`]; for a
    /// password the errors of changing it; for an identity [`AccountError::OpenId`] and
    /// [`AccountError::IdentityWrong`].
    pub async fn prove(
        &self,
        player: &Player,
        credential: ProofRequest,
    ) -> Result<HolderProof, AccountError> {
        match credential {
            ProofRequest::Device { device_id } => self.check_device(player, &device_id).await?,
            ProofRequest::Password { password } => self.check_password(player, &password).await?,
            ProofRequest::Identity { issuer, id_token: token, device_id } => {
                self.check_identity(player, &IdToken { issuer, token }, &device_id).await?;
            }
        }
        Ok(self.auth.holder_proof(player))
    }

    async fn check_device(&self, player: &Player, device: &DeviceId) -> Result<(), AccountError> {
        let hash = device.hash();
        let once = || {
            sqlx::query!(
                r#"
                select exists (
                        select from devices where id_hash = $2 and player = $1
                    ) as "is_own!",
                    exists (select from passwords where player = $1) as "has_password!",
                    array(select issuer from identities where player = $1) as "issuers!"
                "#,
                player.id.0,
                hash.as_slice()
            )
            .fetch_one(&self.pool)
        };
        let found = db::retry(once).await?;
        if !found.is_own {
            return Err(AccountError::DeviceWrong);
        }
        if found.has_password || found.issuers.iter().any(|issuer| self.issuers.contains(issuer)) {
            return Err(AccountError::ProofInsufficient);
        }
        Ok(())
    }

    async fn check_identity(
        &self,
        player: &Player,
        token: &IdToken,
        device: &DeviceId,
    ) -> Result<(), AccountError> {
        let (Identity { issuer, subject }, nonce) = self.verify_identity(token, device).await?;
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            nonces::spend(&mut tx, &nonce).await?;
            let found = sqlx::query_scalar!(
                r#"
                select exists (
                    select from identities where issuer = $1 and subject = $2 and player = $3
                ) as "is_own!"
                "#,
                issuer,
                subject,
                player.id.0
            );
            if !found.fetch_one(&mut *tx).await? {
                return Err(AccountError::IdentityWrong.into());
            }
            tx.commit().await?;
            Ok(())
        };
        transaction::retry(once).await
    }
}
