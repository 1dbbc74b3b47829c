//! Nonces of ID tokens: issued to a device, valid for [`NONCE_LIFE`] and for one use.
//!
//! A client requests a nonce, passes it to the issuer, and sends the ID token, which contains it. A
//! token that was copied, or that the issuer made for another app's page, therefore signs nobody
//! in: the nonce binds it to the requesting device and is void after its use.
//!
//! A nonce contains its own expiry and a message authentication code over the device, so that
//! issuing one stores nothing, whatever the number of requests. Used nonces are stored, in the
//! transaction that uses them, until some time after they expire (`retention`).

use std::time::Duration;

use bahay_api::player::sign_in as api;
use bahay_engine::hex::Hex;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::accounts::transaction::TransactionError;
use crate::accounts::{AccountError, Accounts, DeviceId, to_sql};
use crate::auth::{hmac_sha256, is_hmac_sha256};
use crate::clock::{self, Timestamp};
use crate::entropy;
use crate::openid::OpenIdError;

/// The time for a sign-in with the issuer.
pub const NONCE_LIFE: Duration = Duration::from_mins(10);

/// The purpose for which the key of nonces is derived.
const PURPOSE: &str = "nonces of ID tokens";

/// The layout of a nonce: a random name, the expiry, and the message authentication code.
const NAME_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const MAC_BYTES: usize = 32;
const NONCE_BYTES: usize = NAME_BYTES + TIME_BYTES + MAC_BYTES;

/// A nonce with a valid code and expiry. The database has yet to check that it is unused.
#[derive(Clone, Copy, Debug)]
pub(in crate::accounts) struct Nonce {
    name: Uuid,
    expires_at: Timestamp,
    /// The call that presents the nonce, so that its retries are accepted.
    call: Uuid,
}

impl Accounts {
    /// Issues a nonce to a device that is about to sign its user in with an issuer.
    pub fn issue_nonce(&self, device: &DeviceId) -> api::Nonce {
        let expires_at = clock::add(self.clock.now(), NONCE_LIFE);
        let mut bytes = [0; NONCE_BYTES];
        let (name, rest) = bytes.split_at_mut(NAME_BYTES);
        let (time, mac) = rest.split_at_mut(TIME_BYTES);
        name.copy_from_slice(entropy::uuid().as_bytes());
        time.copy_from_slice(&expires_at.ms().to_be_bytes());
        // The first key is the current one.
        let key = self.auth.derived_keys(PURPOSE).swap_remove(0);
        mac.copy_from_slice(&hmac_sha256(&key, &message(name, time, device)));
        api::Nonce { nonce: Hex(bytes).to_string(), expires_at: expires_at.into() }
    }

    /// Verifies that a token's nonce was issued to this device and has not expired.
    ///
    /// # Errors
    /// [`OpenIdError::Nonce`].
    pub(in crate::accounts) fn verify_nonce(
        &self,
        token_nonce: Option<&str>,
        device: &DeviceId,
    ) -> Result<Nonce, AccountError> {
        let refused = || AccountError::OpenId(OpenIdError::Nonce);
        let bytes: Hex<NONCE_BYTES> =
            token_nonce.and_then(|text| text.parse().ok()).ok_or_else(refused)?;
        let (name, rest) = bytes.0.split_at(NAME_BYTES);
        let (time, mac) = rest.split_at(TIME_BYTES);
        let message = message(name, time, device);
        let keys = self.auth.derived_keys(PURPOSE);
        let is_ours = keys.iter().any(|key| is_hmac_sha256(key, &message, mac));
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

/// Marks the nonce as used in the caller's transaction. The same call may do so again, since its
/// first transaction may have been committed and its answer lost.
///
/// # Errors
/// [`OpenIdError::Nonce`] if another call has used the nonce.
pub(in crate::accounts) async fn spend(
    tx: &mut PgConnection,
    nonce: &Nonce,
) -> Result<(), TransactionError> {
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
