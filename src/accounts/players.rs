//! Players, and the devices that stand for them.

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
use super::sessions::NewSession;
use super::{
    AccountError, Accounts, Avatar, Sanction, GuestSignIn, Method, Name, Profile, PublicProfile,
    RENAME_INTERVAL, TimeZone, Tokens, from_sql, locks, names, sessions, to_sql,
};

/// The most players that are looked up at once.
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

impl From<Row> for Profile {
    fn from(row: Row) -> Self {
        let Row { id, name, avatar, time_zone, created_at, renamed_at } = row;
        let renamable_at = renamed_at.map(|at| clock::after(from_sql(at), RENAME_INTERVAL));
        let created_at = from_sql(created_at);
        Self { id: PlayerId(id), name, avatar, time_zone, created_at, renamable_at }
    }
}

/// What a player wants to be different about itself. What is `None` stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileChange<'a> {
    pub name: Option<&'a Name>,
    pub avatar: Option<Avatar>,
    pub time_zone: Option<&'a TimeZone>,
}

/// What a new player is first known by.
pub(super) enum Credential<'a> {
    Device(&'a [u8; 32]),
    Identity { issuer: &'a str, subject: &'a str },
}

/// A player that is to be made.
pub(super) struct NewPlayer<'a> {
    pub(super) credential: Credential<'a>,
    pub(super) name: Option<&'a Name>,
    pub(super) time_zone: Option<&'a TimeZone>,
    /// For whom its welcome is counted.
    pub(super) recipient: GrantRecipient<'a>,
}

/// A player was either there or has just been made by somebody else.
const ATTEMPTS: usize = 2;

impl Accounts {
    /// Signs in the player of a device, which is made if there is none.
    ///
    /// # Errors
    /// [`AccountError::Banned`]; of a new player what its name may be refused for.
    pub async fn sign_in_guest(
        &self,
        request: &GuestSignIn,
    ) -> Result<(Profile, Tokens), AccountError> {
        // Done twice because an answer was lost, it opens a session that nobody has tokens for.
        let once = || async {
            for _ in 0..ATTEMPTS {
                if let Some(signed_in) = self.sign_in_once(request).await? {
                    return Ok(signed_in);
                }
            }
            let reason = "a device changed hands twice at once".to_owned();
            Err(AccountError::Unavailable { reason }.into())
        };
        transaction::retry(once).await
    }

    /// `None` when another request was faster, with a new device or by taking the device away.
    async fn sign_in_once(
        &self,
        request: &GuestSignIn,
    ) -> Result<Option<(Profile, Tokens)>, TransactionError> {
        let now = self.clock.now();
        let GuestSignIn { device, name, time_zone, visitor } = request;
        let hash = device.hash();
        let mut tx = self.pool.begin().await?;
        let profile = match player_of_device(&mut tx, &hash).await? {
            Some(player) => {
                let time_zone = time_zone.as_ref();
                let Some(profile) = touch_device(&mut tx, player, &hash, time_zone, now).await? else {
                    return Ok(None);
                };
                self.grant_due_welcome(&mut tx, profile.id, visitor.recipient(), now).await?;
                profile
            }
            None => {
                let new_player = NewPlayer {
                    credential: Credential::Device(&hash),
                    name: name.as_ref(),
                    time_zone: time_zone.as_ref(),
                    recipient: visitor.recipient(),
                };
                match self.create_player(&mut tx, &new_player, now).await? {
                    Some(profile) => profile,
                    // Dropped, the transaction takes its own player back.
                    None => return Ok(None),
                }
            }
        };
        let new_session = NewSession { player: profile.id, method: Method::Guest, visitor };
        let session = sessions::open_session(&mut tx, &new_session, now).await?;
        tx.commit().await?;
        let tokens = self.tokens(profile.id, session);
        Ok(Some((profile, tokens)))
    }

    /// `None` for an id that no player has.
    pub async fn profile(&self, player: PlayerId) -> Result<Option<Profile>, AccountError> {
        let row = db::retry(|| fetch_row(&self.pool, player)).await?;
        Ok(row.map(Profile::from))
    }

    /// The profile of a player who may sit down at a table now.
    ///
    /// # Errors
    /// [`AccountError::Banned`], and [`AccountError::PlayerGone`] for a player who was deleted.
    pub async fn admit(&self, player: PlayerId) -> Result<Profile, AccountError> {
        let now = self.clock.now();
        let once = || {
            let row = sqlx::query!(
                r#"
                select p.id, p.name, p.avatar, p.time_zone,
                    p.created_at as "created_at: SqlTimestamp",
                    p.renamed_at as "renamed_at: SqlTimestamp", b.reason as "reason?",
                    b.ends_at as "ends_at: SqlTimestamp"
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
            let (reason, ends_at) = (Reason::from_column(reason), row.ends_at.map(from_sql));
            return Err(AccountError::Banned(Sanction { reason, ends_at }));
        }
        let renamed_at = row.renamed_at;
        let (name, avatar, time_zone) = (row.name, row.avatar, row.time_zone);
        let row =
            Row { id: row.id, name, avatar, time_zone, created_at: row.created_at, renamed_at };
        Ok(row.into())
    }

    /// What others see of these players, as far as they exist, by id. Of more than
    /// [`LOOKUP_MAX`] the first so many.
    pub async fn find_public_profiles(&self, players: &[PlayerId]) -> Result<Vec<PublicProfile>, AccountError> {
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

    /// The profile with what is given changed; `None` for an id that no player has.
    ///
    /// # Errors
    /// What a name may be refused for; then nothing is changed.
    pub async fn update_profile(
        &self,
        player: PlayerId,
        change: ProfileChange<'_>,
    ) -> Result<Option<Profile>, AccountError> {
        let now = self.clock.now();
        let ProfileChange { name, avatar, time_zone } = change;
        let once = || async {
            let mut tx = self.pool.begin().await?;
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
                time_zone.map(TimeZone::as_str)
            )
            .fetch_optional(&mut *tx)
            .await?;
            tx.commit().await?;
            Ok(row.map(Profile::from))
        };
        transaction::retry(once).await
    }

    /// A new player with its welcome; `None` when another request was faster with its credential.
    pub(super) async fn create_player(
        &self,
        connection: &mut PgConnection,
        new_player: &NewPlayer<'_>,
        now: Timestamp,
    ) -> Result<Option<Profile>, TransactionError> {
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
        Ok(Some(Profile { id, name, avatar, time_zone, created_at: now, renamable_at: None }))
    }
}

/// Writes down what a new player is known by; false when it is another's. Waits for whoever writes
/// the same, and finds the row if that succeeded.
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

/// The profile of a player that is there.
pub(super) async fn fetch_profile(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<Profile, sqlx::Error> {
    fetch_row(connection, player).await?.map(Profile::from).ok_or(sqlx::Error::RowNotFound)
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

/// Returns the player of a device, without a lock: [`touch_device`] says whether it still is.
async fn player_of_device(
    connection: &mut PgConnection,
    device: &[u8; 32],
) -> Result<Option<PlayerId>, sqlx::Error> {
    let player =
        sqlx::query_scalar!("select player from devices where id_hash = $1", device.as_slice());
    Ok(player.fetch_optional(connection).await?.map(PlayerId))
}

/// Locks the player and notes that its device has been seen now; `None` when the device is not the
/// player's any more.
async fn touch_device(
    connection: &mut PgConnection,
    player: PlayerId,
    device: &[u8; 32],
    time_zone: Option<&TimeZone>,
    now: Timestamp,
) -> Result<Option<Profile>, sqlx::Error> {
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
    Ok(Some(Profile::from(row)))
}

/// Something to call a guest until it says otherwise: the last, random bytes of its id.
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
    fn a_guest_has_a_name_that_it_could_have_chosen() {
        let name = guest_name(PlayerId(Uuid::max()));
        assert_eq!(name, "Guest ffffff");
        assert!(name.parse::<Name>().is_ok());
    }
}
