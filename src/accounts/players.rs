//! Players, and the devices that identify them.

mod export_and_delete;
pub(super) mod house_bots;
pub(super) mod names;
mod welcome_grant;

use bahay_api::player::account::{OwnProfile, ProfileChangeRequest};
use bahay_api::player::sign_in::GuestSignIn;
use bahay_engine::hex::Hex;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::grant_limits::GrantRecipient;
use crate::ids::PlayerId;
use crate::reason::Reason;
use crate::{db, entropy};

use super::transaction::{self, TransactionError};
use super::{
    AccountError, Accounts, Avatar, Method, Name, PublicProfile, RENAME_INTERVAL, Sanction,
    TimeZone, Tokens, Visitor, from_sql, locks, to_sql,
};

/// The most players of one lookup.
pub const LOOKUP_MAX: usize = 32;

/// A row of `players`.
struct Row {
    id: Uuid,
    name: String,
    avatar: String,
    time_zone: Option<String>,
    created_at: SqlTimestamp,
    renamed_at: Option<SqlTimestamp>,
}

impl From<Row> for OwnProfile {
    fn from(row: Row) -> Self {
        let Row { id, name, avatar, time_zone, created_at, renamed_at } = row;
        let renamable_at = renamed_at.map(|at| clock::add(from_sql(at), RENAME_INTERVAL).into());
        Self { id, name, avatar, time_zone, created_at: from_sql(created_at).into(), renamable_at }
    }
}

/// The first credential of a new player.
pub(super) enum Credential<'a> {
    Device(&'a [u8; 32]),
    Identity { issuer: &'a str, subject: &'a str },
}

/// A player to be created.
pub(super) struct NewPlayer<'a> {
    pub(super) credential: Credential<'a>,
    pub(super) name: Option<&'a Name>,
    pub(super) time_zone: Option<&'a TimeZone>,
    /// The recipient for which the welcome grant is counted.
    pub(super) recipient: GrantRecipient<'a>,
}

impl Accounts {
    /// Signs in the player of a device, and creates the player if there is none.
    ///
    /// # Errors
    /// [`AccountError::Banned`], and for a new player the errors of its name.
    pub async fn sign_in_guest(
        &self,
        request: &GuestSignIn,
        visitor: &Visitor,
    ) -> Result<(OwnProfile, Tokens), AccountError> {
        // A retry after a lost answer opens another session and leaves the first one without a
        // client.
        let once = || self.sign_in_once(request, visitor);
        transaction::retry(|| transaction::repeat_sign_in("a device", once)).await
    }

    /// Runs one attempt of a sign-in. Returns `None` if a concurrent request has created or
    /// reassigned the device.
    async fn sign_in_once(
        &self,
        request: &GuestSignIn,
        visitor: &Visitor,
    ) -> Result<Option<(OwnProfile, Tokens)>, TransactionError> {
        let now = self.clock.now();
        let GuestSignIn { device_id, name, time_zone } = request;
        let hash = device_id.hash();
        let time_zone = time_zone.0.as_ref();
        let mut tx = db::begin(&self.pool).await?;
        let profile = match player_of_device(&mut tx, &hash).await? {
            Some(player) => {
                let Some(profile) = touch_device(&mut tx, player, &hash, time_zone, now).await?
                else {
                    return Ok(None);
                };
                self.grant_due_welcome(&mut tx, player, visitor.recipient(), now).await?;
                profile
            }
            None => {
                let new_player = NewPlayer {
                    credential: Credential::Device(&hash),
                    name: name.as_ref(),
                    time_zone,
                    recipient: visitor.recipient(),
                };
                match self.create_player(&mut tx, &new_player, now).await? {
                    Some(profile) => profile,
                    // Dropping the transaction rolls back the new player.
                    None => return Ok(None),
                }
            }
        };
        self.finish_sign_in(tx, profile, Method::Guest, visitor, now).await.map(Some)
    }

    /// Returns the profile of a player, or `None` for an unknown id.
    pub async fn profile(&self, player: PlayerId) -> Result<Option<OwnProfile>, AccountError> {
        let row = db::retry(|| fetch_row(&self.pool, player)).await?;
        Ok(row.map(OwnProfile::from))
    }

    /// Rejects a player who may not sit down at a table now.
    ///
    /// # Errors
    /// [`AccountError::Banned`], and [`AccountError::PlayerGone`] for a deleted player.
    pub async fn admit(&self, player: PlayerId) -> Result<(), AccountError> {
        let now = self.clock.now();
        let once = || {
            let row = sqlx::query!(
                r#"
                select b.reason as "reason?", b.ends_at as "ends_at: SqlTimestamp"
                from players p
                left join lateral (
                    select s.reason, s.ends_at
                    from sanctions s
                    where s.player = p.id and s.kind = 'ban' and s.lifted_at is null
                        and (s.ends_at is null or s.ends_at > $2)
                    order by s.ends_at desc nulls first
                    limit 1
                ) b on true
                where p.id = $1 and p.deleted_at is null
                "#,
                player.0,
                to_sql(now) as _
            );
            row.fetch_optional(&self.pool)
        };
        let row = db::retry(once).await?.ok_or(AccountError::PlayerGone)?;
        if let Some(reason) = row.reason {
            let reason = Reason::from_column(reason);
            let ends_at = row.ends_at.map(from_sql);
            return Err(AccountError::Banned(Sanction { reason, ends_at }));
        }
        Ok(())
    }

    /// Returns the public profiles of the players that exist, by id. Only the first [`LOOKUP_MAX`]
    /// ids are looked up.
    pub async fn find_public_profiles(
        &self,
        players: &[PlayerId],
    ) -> Result<Vec<PublicProfile>, AccountError> {
        let ids: Vec<Uuid> = players.iter().take(LOOKUP_MAX).map(|player| player.0).collect();
        let once = || {
            let rows = sqlx::query!(
                r#"
                select id, name, avatar, kind = 'bot' as "is_bot!",
                    created_at as "created_at: SqlTimestamp"
                from players
                where id = any($1)
                order by id
                "#,
                &ids
            );
            rows.fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let public = rows.map(|row| PublicProfile {
            id: PlayerId(row.id),
            name: row.name,
            avatar: row.avatar,
            is_bot: row.is_bot,
            created_at: from_sql(row.created_at),
        });
        Ok(public.collect())
    }

    /// Applies a change and returns the new profile, or `None` for an unknown id.
    ///
    /// # Errors
    /// The errors of the name; in this case nothing is changed.
    pub async fn update_profile(
        &self,
        player: PlayerId,
        change: &ProfileChangeRequest,
    ) -> Result<Option<OwnProfile>, AccountError> {
        let now = self.clock.now();
        let ProfileChangeRequest { name, avatar, time_zone } = change;
        let once = || async {
            let mut tx = db::begin(&self.pool).await?;
            if let Some(name) = name {
                names::rename(&mut tx, player, name, now).await?;
            }
            let row = sqlx::query_as!(
                Row,
                r#"
                update players
                set avatar = coalesce($2, avatar), time_zone = coalesce($3, time_zone)
                where id = $1 and deleted_at is null
                returning id, name, avatar, time_zone, created_at as "created_at: SqlTimestamp",
                    renamed_at as "renamed_at: SqlTimestamp"
                "#,
                player.0,
                avatar.map(Avatar::as_str),
                time_zone.as_ref().map(TimeZone::as_str)
            )
            .fetch_optional(&mut *tx)
            .await?;
            tx.commit().await?;
            Ok(row.map(OwnProfile::from))
        };
        transaction::retry(once).await
    }

    /// Creates a player with its welcome grant. Returns `None` if a concurrent request has used the
    /// credential.
    ///
    /// # Errors
    /// The errors of the name.
    pub(super) async fn create_player(
        &self,
        connection: &mut PgConnection,
        new_player: &NewPlayer<'_>,
        now: Timestamp,
    ) -> Result<Option<OwnProfile>, TransactionError> {
        let NewPlayer { credential, name, time_zone, recipient } = new_player;
        if let Some(name) = name {
            names::check_guest_name(connection, name).await?;
        }
        let id = PlayerId(entropy::uuid());
        let name = name.map_or_else(|| guest_name(id), |name| name.as_str().into());
        let time_zone = time_zone.map(|zone| zone.as_str().to_owned());
        sqlx::query!(
            "insert into players (id, name, time_zone, created_at) values ($1, $2, $3, $4)",
            id.0,
            name,
            time_zone,
            to_sql(now) as _
        )
        .execute(&mut *connection)
        .await?;
        if !insert_credential(connection, id, credential, now).await? {
            return Ok(None);
        }
        self.grant_welcome_or_defer(connection, id, *recipient, now).await?;
        let avatar = Avatar::default().as_str().to_owned();
        let created_at = now.into();
        Ok(Some(OwnProfile { id: id.0, name, avatar, time_zone, created_at, renamable_at: None }))
    }
}

/// Inserts the first credential of a new player. Waits for a concurrent insert of the same
/// credential, and returns false if that one succeeds.
async fn insert_credential(
    connection: &mut PgConnection,
    player: PlayerId,
    credential: &Credential<'_>,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let entered = match credential {
        Credential::Device(hash) => {
            sqlx::query!(
                r#"
                insert into devices (id_hash, player, created_at, last_seen_at)
                values ($1, $2, $3, $3)
                on conflict (id_hash) do nothing
                "#,
                hash.as_slice(),
                player.0,
                to_sql(now) as _
            )
            .execute(connection)
            .await?
        }
        Credential::Identity { issuer, subject } => {
            sqlx::query!(
                r#"
                insert into identities (issuer, subject, player, linked_at)
                values ($1, $2, $3, $4)
                on conflict (issuer, subject) do nothing
                "#,
                issuer,
                subject,
                player.0,
                to_sql(now) as _
            )
            .execute(connection)
            .await?
        }
    };
    Ok(entered.rows_affected() > 0)
}

/// Returns the profile of an existing player.
pub(super) async fn fetch_profile(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<OwnProfile, sqlx::Error> {
    fetch_row(connection, player).await?.map(OwnProfile::from).ok_or(sqlx::Error::RowNotFound)
}

async fn fetch_row(
    executor: impl PgExecutor<'_>,
    player: PlayerId,
) -> Result<Option<Row>, sqlx::Error> {
    sqlx::query_as!(
        Row,
        r#"
        select id, name, avatar, time_zone, created_at as "created_at: SqlTimestamp",
            renamed_at as "renamed_at: SqlTimestamp"
        from players
        where id = $1
        "#,
        player.0
    )
    .fetch_optional(executor)
    .await
}

/// Returns the player of a device, without a lock. [`touch_device`] checks the ownership under the
/// lock.
async fn player_of_device(
    connection: &mut PgConnection,
    device: &[u8; 32],
) -> Result<Option<PlayerId>, sqlx::Error> {
    let player =
        sqlx::query_scalar!("select player from devices where id_hash = $1", device.as_slice());
    Ok(player.fetch_optional(connection).await?.map(PlayerId))
}

/// Locks the player and updates the device's last use. Returns `None` if the device no longer
/// belongs to the player.
async fn touch_device(
    connection: &mut PgConnection,
    player: PlayerId,
    device: &[u8; 32],
    time_zone: Option<&TimeZone>,
    now: Timestamp,
) -> Result<Option<OwnProfile>, sqlx::Error> {
    if !locks::lock_player(&mut *connection, player).await? {
        return Ok(None);
    }
    let seen = sqlx::query!(
        "update devices set last_seen_at = $3 where id_hash = $1 and player = $2",
        device.as_slice(),
        player.0,
        to_sql(now) as _
    );
    if seen.execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(None);
    }
    let row = sqlx::query_as!(
        Row,
        r#"
        update players
        set time_zone = coalesce(time_zone, $2)
        where id = $1
        returning id, name, avatar, time_zone, created_at as "created_at: SqlTimestamp",
            renamed_at as "renamed_at: SqlTimestamp"
        "#,
        player.0,
        time_zone.map(TimeZone::as_str)
    )
    .fetch_one(connection)
    .await?;
    Ok(Some(OwnProfile::from(row)))
}

/// Returns the initial name of a guest: a prefix with the last, random bytes of its id.
fn guest_name(id: PlayerId) -> String {
    let mut tail = [0; 3];
    tail.copy_from_slice(&id.0.as_bytes()[13..]);
    format!("Guest {}", Hex(tail))
}

#[cfg(test)]
mod tests {
    use super::guest_name;
    use crate::accounts::Name;
    use crate::ids::PlayerId;
    use uuid::Uuid;

    #[test]
    fn a_guests_initial_name_is_valid() {
        let name = guest_name(PlayerId(Uuid::max()));
        assert_eq!(name, "Guest ffffff");
        assert!(name.parse::<Name>().is_ok());
    }
}
