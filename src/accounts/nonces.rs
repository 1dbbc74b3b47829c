//! Nonces of ID tokens: drawn by us for a device, good for [`NONCE_LIFE`] and for one use.
//!
//! A client asks for one, gives it to the issuer, and brings the ID token, which carries it. So a token
//! that somebody has copied, or that an issuer made for another app's page, signs nobody in: it is bound
//! to the device that asked, and once it was used it is worth nothing.
//!
//! A nonce carries its own time and a mark over the device, so that asking for one writes nothing down,
//! however often strangers ask. What is written down is which were used, in the transaction that they
//! are used for, until they would be too old anyway; each use takes some of the oldest away.

use std::time::Duration;

use bahay_engine::hex::Hex;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::auth::{hmac_sha256, is_hmac_sha256};
use crate::clock::{self, Timestamp};
use crate::entropy;
use crate::openid::OpenIdError;

use super::transaction::TransactionError;
use super::{AccountError, Accounts, DeviceId, to_sql};

/// How long somebody has for signing in with the issuer.
pub const NONCE_LIFE: Duration = Duration::from_mins(10);

/// For what the key of nonces is derived.
const PURPOSE: &str = "nonces of ID tokens";

/// A random name, the time, and a mark.
const NAME_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const MARK_BYTES: usize = 32;
const NONCE_BYTES: usize = NAME_BYTES + TIME_BYTES + MARK_BYTES;

/// How many used nonces that are over one use takes away.
const PURGE_BATCH: i64 = 100;

/// A nonce, for the issuer to put into the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedNonce {
    pub text: String,
    pub expires_at: Timestamp,
}

/// A nonce that was ours and is good, and is not used yet as far as is known here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nonce {
    name: Uuid,
    expires_at: Timestamp,
    /// The call that brings it, so that it may try again.
    call: Uuid,
}

impl Accounts {
    /// A nonce for a device that is about to sign its user in with an issuer.
    pub fn issue_nonce(&self, device: &DeviceId) -> IssuedNonce {
        let expires_at = clock::after(self.clock.now(), NONCE_LIFE);
        let mut bytes = [0; NONCE_BYTES];
        let (name, rest) = bytes.split_at_mut(NAME_BYTES);
        let (time, end) = rest.split_at_mut(TIME_BYTES);
        name.copy_from_slice(entropy::uuid().as_bytes());
        time.copy_from_slice(&expires_at.ms().to_be_bytes());
        // The first key is the one in force.
        let key = self.auth.derived_keys(PURPOSE).swap_remove(0);
        end.copy_from_slice(&hmac_sha256(&key, &message(name, time, device)));
        IssuedNonce { text: Hex(bytes).to_string(), expires_at }
    }

    /// What a token carries, if it is a nonce that was drawn for this device and is not over.
    ///
    /// # Errors
    /// [`OpenIdError::Nonce`].
    pub(super) fn verify_nonce(
        &self,
        carried: Option<&str>,
        device: &DeviceId,
    ) -> Result<Nonce, AccountError> {
        let refused = || AccountError::OpenId(OpenIdError::Nonce);
        let bytes: Hex<NONCE_BYTES> =
            carried.and_then(|text| text.parse().ok()).ok_or_else(refused)?;
        let (name, rest) = bytes.0.split_at(NAME_BYTES);
        let (time, end) = rest.split_at(TIME_BYTES);
        let message = message(name, time, device);
        let keys = self.auth.derived_keys(PURPOSE);
        let is_ours = keys.iter().any(|key| is_hmac_sha256(key, &message, end));
        let mut ms = [0; TIME_BYTES];
        ms.copy_from_slice(time);
        let expires_at = Timestamp::from_ms(i64::from_be_bytes(ms));
        if !is_ours || self.clock.now() >= expires_at {
            return Err(refused());
        }
        let name = Uuid::from_slice(name).map_err(|_| refused())?;
        Ok(Nonce { name, expires_at, call: entropy::uuid() })
    }
}

/// From here on the nonce is used, if the caller's transaction is committed. The same call may say so
/// again: its first transaction may have been committed, and the answer lost.
///
/// # Errors
/// [`OpenIdError::Nonce`] when another call has used it.
pub(super) async fn spend(
    tx: &mut PgConnection,
    nonce: &Nonce,
    now: Timestamp,
) -> Result<(), TransactionError> {
    sqlx::query!(
        r#"
        delete from used_nonces
        where name in (
            select name
            from used_nonces
            where expires_at <= $1
            order by expires_at
            limit $2
            for update skip locked
        )
        "#,
        to_sql(now) as _,
        PURGE_BATCH
    )
    .execute(&mut *tx)
    .await?;
    let used = sqlx::query!(
        r#"
        insert into used_nonces (name, expires_at, call)
        values ($1, $2, $3)
        on conflict (name) do update
        set call = excluded.call
        where used_nonces.call = excluded.call
        "#,
        nonce.name,
        to_sql(nonce.expires_at) as _,
        nonce.call
    );
    if used.execute(&mut *tx).await?.rows_affected() == 0 {
        return Err(AccountError::OpenId(OpenIdError::Nonce).into());
    }
    Ok(())
}

fn message(name: &[u8], time: &[u8], device: &DeviceId) -> Vec<u8> {
    [name, time, device.hash().as_slice()].concat()
}
