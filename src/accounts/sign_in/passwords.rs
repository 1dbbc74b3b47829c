//! Passwords of players: setting the first one, changing it, and signing in with it.
//!
//! A first password is added to the existing player of a guest, who keeps its id and wallet and
//! claims a name. A sign-in with an unknown name and one with a wrong password return the same
//! error after the same work, and are counted alike.
//!
//! A change of the password increments the version of its row. The previous password opens no
//! session afterwards, however the two race: both take the player's lock, and a sign-in compares
//! the version under it.

use bahay_api::player::account::OwnProfile;
use bahay_api::player::sign_in::PasswordSignIn;
use bahay_engine::hex::Hex;
use bahay_names::{NewPassword, PasswordAttempt, search_skeleton};

use crate::accounts::players::names;
use crate::accounts::sessions::SessionEnd;
use crate::accounts::sign_in::lockout::{self, AttemptSource, trusted_since};
use crate::accounts::transaction::{self, TransactionError};
use crate::accounts::{
    AccountError, Accounts, DeviceId, HashPermit, Method, Name, Tokens, Visitor, locks, players,
    sessions, to_sql,
};
use crate::auth::Player;
use crate::clock::Timestamp;
use crate::db;
use crate::ids::{PlayerId, SessionId};

/// The password of a signed-in player.
struct OwnPassword {
    name: String,
    /// The skeleton of the name.
    skeleton: String,
    hash: String,
    version: i32,
}

impl OwnPassword {
    /// Returns the source of an attempt within a session.
    fn source(&self) -> AttemptSource<'_> {
        AttemptSource { skeleton: &self.skeleton, origin: SESSION_ORIGIN, is_trusted: true }
    }
}

/// The origin of attempts within a session. It is separate from the origins of sign-ins, so that
/// their failures do not affect it.
const SESSION_ORIGIN: &str = "a session";

impl Accounts {
    /// Signs in a player by name and password.
    ///
    /// # Errors
    /// [`AccountError::Busy`], [`AccountError::Locked`], [`AccountError::CredentialsWrong`], and
    /// only for the right password [`AccountError::Banned`].
    pub async fn sign_in_password(
        &self,
        request: &PasswordSignIn,
        visitor: &Visitor,
    ) -> Result<(OwnProfile, Tokens), AccountError> {
        let permit = self.hasher.acquire()?;
        let now = self.clock.now();
        let skeleton = search_skeleton(&request.name);
        let (origin, is_trusted) = self.find_origin(&skeleton, visitor, now).await?;
        let source = AttemptSource { skeleton: &skeleton, origin: &origin, is_trusted };
        self.count_attempt(&source, now).await?;
        let once = || {
            let row = sqlx::query!(
                r#"
                select w.player, w.hash, w.version
                from name_skeletons n
                join passwords w on w.player = n.player
                where n.skeleton = $1
                "#,
                skeleton
            );
            row.fetch_optional(&self.pool)
        };
        let stored = db::retry(once).await?;
        let attempt = request.password.as_bytes();
        let hash = stored.as_ref().map(|stored| stored.hash.as_str());
        let is_right = permit.verify(attempt, hash).await?;
        let Some(stored) = stored.filter(|_| is_right) else {
            return Err(AccountError::CredentialsWrong);
        };
        let player = PlayerId(stored.player);
        if self.hasher.is_outdated(&stored.hash) {
            let hash = permit.hash(attempt).await?;
            self.store_rehash(player, stored.version, &hash).await?;
        }
        drop(permit);
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            let is_there = locks::lock_player(&mut tx, player).await?;
            let is_in_force = sqlx::query_scalar!(
                r#"
                select exists (
                    select from passwords where player = $1 and version = $2
                ) as "in_force!"
                "#,
                stored.player,
                stored.version
            );
            if !is_there || !is_in_force.fetch_one(&mut *tx).await? {
                return Err(AccountError::CredentialsWrong.into());
            }
            lockout::clear_failures(&mut tx, &source).await?;
            let profile = players::fetch_profile(&mut tx, player).await?;
            self.finish_sign_in(tx, profile, Method::Password, visitor, now).await
        };
        transaction::retry(once).await
    }

    /// Sets the first password of a player, and claims a name for signing in.
    ///
    /// # Errors
    /// [`AccountError::PasswordSet`] if the player has a password, and the errors of the name.
    pub async fn set_first_password(
        &self,
        player: &Player,
        name: &Name,
        password: &NewPassword,
    ) -> Result<OwnProfile, AccountError> {
        if password.is_easy(name.as_str()) {
            return Err(AccountError::PasswordEasy);
        }
        let permit = self.hasher.acquire()?;
        let hash = permit.hash(password.as_bytes()).await?;
        drop(permit);
        let now = self.clock.now();
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            locks::lock_session(&mut tx, player).await?;
            names::rename(&mut tx, player.id, name, now).await?;
            let set = sqlx::query!(
                r#"
                insert into passwords (player, hash, set_at)
                values ($1, $2, $3)
                -- The same call may have done it, and its answer been lost.
                on conflict (player) do update
                set hash = excluded.hash
                where passwords.hash = excluded.hash
                "#,
                player.id.0,
                hash,
                to_sql(now) as _
            );
            if set.execute(&mut *tx).await?.rows_affected() == 0 {
                return Err(AccountError::PasswordSet.into());
            }
            let profile = players::fetch_profile(&mut tx, player.id).await?;
            tx.commit().await?;
            Ok(profile)
        };
        transaction::retry(once).await
    }

    /// Changes a password, and ends all other sessions of the player.
    ///
    /// # Errors
    /// [`AccountError::PasswordNotSet`] if there is no password, [`AccountError::PasswordWrong`] if
    /// `current` does not match it, and the errors of hashing and of the limit of attempts.
    pub async fn change_password(
        &self,
        player: &Player,
        current: &PasswordAttempt,
        password: &NewPassword,
    ) -> Result<(), AccountError> {
        let permit = self.hasher.acquire()?;
        let now = self.clock.now();
        let stored = self.own_password(player).await?;
        if password.is_easy(&stored.name) {
            return Err(AccountError::PasswordEasy);
        }
        self.verify_own_password(&permit, &stored, current, now).await?;
        let hash = permit.hash(password.as_bytes()).await?;
        drop(permit);
        // The transaction is not retried: if its answer was lost, the current password may be the
        // new one.
        self.revoke_sessions_on_node(
            self.try_change_password(player, &hash, &stored, now).await?,
            now,
        );
        Ok(())
    }

    /// Verifies the password of a signed-in player.
    ///
    /// # Errors
    /// As [`Accounts::change_password`].
    pub(in crate::accounts) async fn check_password(
        &self,
        player: &Player,
        attempt: &PasswordAttempt,
    ) -> Result<(), AccountError> {
        let permit = self.hasher.acquire()?;
        let now = self.clock.now();
        let stored = self.own_password(player).await?;
        self.verify_own_password(&permit, &stored, attempt, now).await?;
        let once = || async {
            lockout::clear_failures(&mut *self.pool.acquire().await?, &stored.source()).await
        };
        Ok(db::retry(once).await?)
    }

    /// Verifies a password within a session, and counts the attempt.
    async fn verify_own_password(
        &self,
        permit: &HashPermit,
        stored: &OwnPassword,
        attempt: &PasswordAttempt,
        now: Timestamp,
    ) -> Result<(), AccountError> {
        self.count_attempt(&stored.source(), now).await?;
        match permit.verify(attempt.as_bytes(), Some(&stored.hash)).await? {
            true => Ok(()),
            false => Err(AccountError::PasswordWrong),
        }
    }

    async fn own_password(&self, player: &Player) -> Result<OwnPassword, AccountError> {
        let once = || {
            let row = sqlx::query!(
                r#"
                select p.name, w.hash, w.version
                from passwords w
                join players p on p.id = w.player
                where w.player = $1
                "#,
                player.id.0
            );
            row.fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(AccountError::PasswordNotSet)?;
        let skeleton = search_skeleton(&row.name);
        Ok(OwnPassword { name: row.name, skeleton, hash: row.hash, version: row.version })
    }

    /// Returns the origin of an attempt, and whether the name's owner has signed in from it lately:
    /// a device of the owner, as the hash of its id, or else the address.
    async fn find_origin(
        &self,
        skeleton: &str,
        visitor: &Visitor,
        now: Timestamp,
    ) -> Result<(String, bool), AccountError> {
        let device = visitor.device.as_ref().map(DeviceId::hash);
        let once = || {
            sqlx::query!(
                r#"
                select coalesce(bool_or(s.device = $3), false) as "by_device!",
                    coalesce(bool_or(s.address = $2), false) as "by_address!"
                from name_skeletons n
                join sessions s on s.player = n.player
                where n.skeleton = $1 and s.last_seen_at >= $4
                "#,
                skeleton,
                visitor.address,
                device.as_ref().map(<[u8; 32]>::as_slice),
                to_sql(trusted_since(now)) as _
            )
            .fetch_one(&self.pool)
        };
        let known = db::retry(once).await?;
        Ok(match device {
            Some(device) if known.by_device => (Hex(device).to_string(), true),
            Some(_) | None => (visitor.address.clone().unwrap_or_default(), known.by_address),
        })
    }

    /// Runs one attempt of a password change and returns the sessions that ended.
    async fn try_change_password(
        &self,
        player: &Player,
        hash: &str,
        verified: &OwnPassword,
        now: Timestamp,
    ) -> Result<Vec<SessionId>, TransactionError> {
        let mut tx = db::begin(&self.pool).await?;
        locks::lock_session(&mut tx, player).await?;
        let changed = sqlx::query!(
            r#"
            update passwords
            set hash = $3, set_at = $4, version = version + 1
            where player = $1 and version = $2
            "#,
            player.id.0,
            verified.version,
            hash,
            to_sql(now) as _
        );
        if changed.execute(&mut *tx).await?.rows_affected() == 0 {
            // A concurrent change has replaced the password that was verified.
            return Err(AccountError::PasswordWrong.into());
        }
        lockout::clear_failures(&mut tx, &verified.source()).await?;
        let keep = Some(player.session);
        let ended =
            sessions::end_sessions(&mut tx, player.id, keep, SessionEnd::PasswordChanged, now)
                .await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// Stores a hash of the same password with the current parameters.
    async fn store_rehash(
        &self,
        player: PlayerId,
        version: i32,
        hash: &str,
    ) -> Result<(), AccountError> {
        let once = || {
            sqlx::query!(
                "update passwords set hash = $3 where player = $1 and version = $2",
                player.0,
                version,
                hash
            )
            .execute(&self.pool)
        };
        db::retry(once).await?;
        Ok(())
    }
}
