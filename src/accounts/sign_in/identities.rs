//! OpenID Connect identities of players.
//!
//! A client signs its user in with an issuer that the server trusts, and sends the ID token. Only
//! the issuer and the subject of the token are stored. A player has at most one identity of an
//! issuer, and an identity belongs to one player; the primary key resolves races.

use bahay_api::Time;
use bahay_api::player::account::OwnProfile;
use bahay_api::player::sign_in::{self as api, OpenIdSignIn, SignInMethods};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;

use crate::accounts::players::{Credential, NewPlayer};
use crate::accounts::sign_in::nonces::{self, Nonce};
use crate::accounts::transaction::{self, TransactionError};
use crate::accounts::{
    AccountError, Accounts, DeviceId, Method, Tokens, Visitor, from_sql, locks, players, to_sql,
};
use crate::auth::Player;
use crate::db;
use crate::grant_limits::GrantRecipient;
use crate::ids::PlayerId;
use crate::openid::{IdToken, Identity, VerifiedToken};

impl Accounts {
    /// Signs in the player of an identity, and creates the player if there is none.
    ///
    /// # Errors
    /// [`AccountError::OpenId`], [`AccountError::Banned`], and for a new player the errors of its
    /// name.
    pub async fn sign_in_openid(
        &self,
        request: &OpenIdSignIn,
        visitor: &Visitor,
    ) -> Result<(OwnProfile, Tokens), AccountError> {
        let OpenIdSignIn { issuer, id_token, device_id, .. } = request;
        let token = IdToken { issuer: issuer.clone(), token: id_token.clone() };
        let (identity, nonce) = self.verify_identity(&token, device_id).await?;
        let once = || self.sign_in_identity(&identity, &nonce, request, visitor);
        transaction::retry(|| transaction::repeat_sign_in("an identity", once)).await
    }

    /// Runs one attempt of a sign-in. Returns `None` if a concurrent request has linked or unlinked
    /// the identity.
    async fn sign_in_identity(
        &self,
        identity: &Identity,
        nonce: &Nonce,
        request: &OpenIdSignIn,
        visitor: &Visitor,
    ) -> Result<Option<(OwnProfile, Tokens)>, TransactionError> {
        let now = self.clock.now();
        let Identity { issuer, subject } = identity;
        let mut tx = db::begin(&self.pool).await?;
        nonces::spend(&mut tx, nonce).await?;
        let profile = match player_of_identity(&mut tx, identity).await? {
            Some(player) => {
                let is_there = locks::lock_player(&mut tx, player).await?;
                // Identities are linked and unlinked under the player's lock.
                if !is_there || player_of_identity(&mut tx, identity).await? != Some(player) {
                    return Ok(None);
                }
                players::fetch_profile(&mut tx, player).await?
            }
            None => {
                let new_player = NewPlayer {
                    credential: Credential::Identity { issuer, subject },
                    name: request.name.as_ref(),
                    time_zone: request.time_zone.0.as_ref(),
                    recipient: GrantRecipient::Identity { issuer, subject },
                };
                match self.create_player(&mut tx, &new_player, now).await? {
                    Some(profile) => profile,
                    // Dropping the transaction rolls back the new player.
                    None => return Ok(None),
                }
            }
        };
        self.finish_sign_in(tx, profile, Method::OpenId, visitor, now).await.map(Some)
    }

    /// Links an identity to the player. The call is idempotent.
    ///
    /// # Errors
    /// [`AccountError::OpenId`]; [`AccountError::IdentityTaken`] if the identity belongs to another
    /// player, [`AccountError::IssuerLinked`] if the player has another identity of that issuer.
    pub async fn link_identity(
        &self,
        player: &Player,
        token: &IdToken,
        device: &DeviceId,
    ) -> Result<(), AccountError> {
        let (Identity { issuer, subject }, nonce) = self.verify_identity(token, device).await?;
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            nonces::spend(&mut tx, &nonce).await?;
            locks::lock_session(&mut tx, player).await?;
            sqlx::query!(
                r#"
                insert into identities (issuer, subject, player, linked_at)
                values ($1, $2, $3, $4)
                on conflict do nothing
                "#,
                issuer,
                subject,
                player.id.0,
                to_sql(now) as _
            )
            .execute(&mut *tx)
            .await?;
            let owner = sqlx::query_scalar!(
                "select player from identities where issuer = $1 and subject = $2",
                issuer,
                subject
            );
            match owner.fetch_optional(&mut *tx).await? {
                Some(owner) if owner == player.id.0 => {
                    let recipient = GrantRecipient::Identity { issuer: &issuer, subject: &subject };
                    self.grant_due_welcome(&mut tx, player.id, recipient, now).await?;
                }
                Some(_) => return Err(AccountError::IdentityTaken.into()),
                None => return Err(AccountError::IssuerLinked.into()),
            }
            tx.commit().await?;
            Ok(())
        };
        transaction::retry(once).await
    }

    /// Unlinks an identity from the player. An identity that is not linked changes nothing.
    ///
    /// # Errors
    /// [`AccountError::LastSignIn`] if the player has no other sign-in method.
    pub async fn unlink_identity(&self, player: &Player, issuer: &str) -> Result<(), AccountError> {
        let issuer = self.issuers.address_of(issuer);
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            locks::lock_session(&mut tx, player).await?;
            let has_other = sqlx::query_scalar!(
                r#"
                select exists (select from passwords where player = $1)
                    or exists (select from devices where player = $1)
                    or exists (select from identities where player = $1 and issuer <> $2)
                    as "other!"
                "#,
                player.id.0,
                issuer
            );
            if !has_other.fetch_one(&mut *tx).await? {
                return Err(AccountError::LastSignIn.into());
            }
            sqlx::query!(
                "delete from identities where player = $1 and issuer = $2",
                player.id.0,
                issuer
            )
            .execute(&mut *tx)
            .await?;
            tx.commit().await?;
            Ok(())
        };
        transaction::retry(once).await
    }

    /// Returns whether the player has a sign-in method other than a device.
    pub async fn has_account(&self, player: PlayerId) -> Result<bool, AccountError> {
        let once = || {
            sqlx::query_scalar!(
                r#"
                select exists (select from passwords where player = $1)
                    or exists (select from identities where player = $1) as "has!"
                "#,
                player.0
            )
            .fetch_one(&self.pool)
        };
        Ok(db::retry(once).await?)
    }

    /// Returns the sign-in methods of a player.
    pub async fn sign_in_methods(&self, player: PlayerId) -> Result<SignInMethods, AccountError> {
        let once = || async {
            let counted = sqlx::query!(
                r#"
                select (select count(*) from devices where player = $1) as "devices!",
                    (
                        select set_at from passwords where player = $1
                    ) as "password_set_at: SqlTimestamp"
                "#,
                player.0
            );
            let counted = counted.fetch_one(&self.pool).await?;
            let linked = sqlx::query!(
                r#"
                select issuer, subject, linked_at as "linked_at: SqlTimestamp"
                from identities
                where player = $1
                order by linked_at, issuer
                "#,
                player.0
            );
            Ok((counted, linked.fetch_all(&self.pool).await?))
        };
        let (counted, linked) = db::retry(once).await?;
        let linked = linked.into_iter().map(|row| api::Identity {
            issuer: self.issuers.name_of(&row.issuer).to_owned(),
            subject: row.subject,
            linked_at: from_sql(row.linked_at).into(),
        });
        Ok(SignInMethods {
            devices: u32::try_from(counted.devices).unwrap_or(u32::MAX),
            password_set_at: counted.password_set_at.map(|at| Time::from(from_sql(at))),
            identities: linked.collect(),
        })
    }

    /// Verifies an ID token from a device. Returns its identity and its nonce, which the caller has
    /// yet to spend.
    pub(in crate::accounts) async fn verify_identity(
        &self,
        token: &IdToken,
        device: &DeviceId,
    ) -> Result<(Identity, Nonce), AccountError> {
        let verified = self.issuers.verify(token, self.clock.now()).await;
        let VerifiedToken { identity, nonce } = verified.map_err(AccountError::OpenId)?;
        let nonce = self.verify_nonce(nonce.as_deref(), device)?;
        Ok((identity, nonce))
    }
}

/// Returns the player to which an identity is linked.
async fn player_of_identity(
    connection: &mut PgConnection,
    Identity { issuer, subject }: &Identity,
) -> Result<Option<PlayerId>, sqlx::Error> {
    let player = sqlx::query_scalar!(
        "select player from identities where issuer = $1 and subject = $2",
        issuer,
        subject
    );
    Ok(player.fetch_optional(connection).await?.map(PlayerId))
}
