//! Players, and the devices that stand for them.

use bahay_engine::hex::Hex;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::ids::PlayerId;
use crate::ledger::{Grant, GrantCoins, LedgerError};
use crate::{db, entropy};

use super::{
    AccountError, Accounts, GuestSignIn, Name, Profile, TimeZone, Tokens, from_sql, sessions,
    to_sql,
};

/// A row of `players`.
struct Row {
    id: Uuid,
    name: String,
    time_zone: Option<String>,
    created_at: SqlTimestamp,
}

impl From<Row> for Profile {
    fn from(row: Row) -> Self {
        let Row { id, name, time_zone, created_at } = row;
        Self { id: PlayerId(id), name, time_zone, created_at: from_sql(created_at) }
    }
}

/// What an attempt failed with: the one may pass if it is made again, the other says so itself.
enum Failed {
    Database(sqlx::Error),
    Ledger(LedgerError),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// A player was either there or has just been made by somebody else.
const ATTEMPTS: usize = 2;

impl Accounts {
    /// Signs in the player of a device, which is made if there is none.
    ///
    /// # Errors
    /// Only that the database cannot.
    pub async fn sign_in_guest(
        &self,
        request: &GuestSignIn,
    ) -> Result<(Profile, Tokens), AccountError> {
        // Done twice because an answer was lost, it opens a session that nobody has tokens for.
        let once = || async {
            for _ in 0..ATTEMPTS {
                match self.sign_in_once(request).await {
                    Ok(None) => {}
                    Ok(Some(signed_in)) => return Ok(Ok(signed_in)),
                    Err(Failed::Ledger(error)) => return Ok(Err(error.into())),
                    Err(Failed::Database(error)) => return Err(error),
                }
            }
            let reason = "a device changed hands twice at once".to_owned();
            Ok(Err(AccountError::Unavailable { reason }))
        };
        db::retry(once).await?
    }

    /// `None` when another request was faster with a new device.
    async fn sign_in_once(
        &self,
        request: &GuestSignIn,
    ) -> Result<Option<(Profile, Tokens)>, Failed> {
        let now = self.clock.now();
        let device = request.device.hash();
        let mut tx = self.pool.begin().await?;
        let profile = match of_device(&mut tx, &device, request, now).await? {
            Some(profile) => profile,
            None => match self.enroll(&mut tx, &device, request, now).await? {
                Some(profile) => profile,
                // Dropped, the transaction takes its own player back.
                None => return Ok(None),
            },
        };
        let user_agent = request.user_agent.as_deref();
        let session = sessions::open(&mut tx, profile.id, user_agent, now).await?;
        tx.commit().await?;
        let tokens = self.tokens(profile.id, session);
        Ok(Some((profile, tokens)))
    }

    /// `None` for an id that no player has.
    pub async fn profile(&self, player: PlayerId) -> Result<Option<Profile>, AccountError> {
        let once = || {
            let row = sqlx::query_as!(
                Row,
                r#"
                select id, name, time_zone, created_at as "created_at: SqlTimestamp"
                from players
                where id = $1
                "#,
                player.0
            );
            row.fetch_optional(&self.pool)
        };
        Ok(db::retry(once).await?.map(Profile::from))
    }

    /// The profile with what is given changed; `None` for an id that no player has.
    pub async fn change(
        &self,
        player: PlayerId,
        name: Option<&Name>,
        time_zone: Option<&TimeZone>,
    ) -> Result<Option<Profile>, AccountError> {
        let once = || {
            let row = sqlx::query_as!(
                Row,
                r#"
                update players
                set name = coalesce($2, name), time_zone = coalesce($3, time_zone)
                where id = $1
                returning id, name, time_zone, created_at as "created_at: SqlTimestamp"
                "#,
                player.0,
                name.map(Name::as_str),
                time_zone.map(TimeZone::as_str)
            );
            row.fetch_optional(&self.pool)
        };
        Ok(db::retry(once).await?.map(Profile::from))
    }

    /// A new player with its welcome; `None` when another request was faster with this device.
    async fn enroll(
        &self,
        connection: &mut PgConnection,
        device: &[u8; 32],
        request: &GuestSignIn,
        now: Timestamp,
    ) -> Result<Option<Profile>, Failed> {
        let id = PlayerId(entropy::uuid());
        let name =
            request.name.as_ref().map_or_else(|| guest_name(id), |name| name.as_str().into());
        let time_zone = request.time_zone.as_ref().map(|zone| zone.as_str().to_owned());
        sqlx::query!(
            "insert into players (id, name, time_zone, created_at) values ($1, $2, $3, $4)",
            id.0,
            name,
            time_zone,
            to_sql(now) as _
        )
        .execute(&mut *connection)
        .await?;
        // Waits for whoever enrolls the same device, and finds the row if that succeeded.
        let taken = sqlx::query!(
            r#"
            insert into devices (id_hash, player, created_at, last_seen_at)
            values ($1, $2, $3, $3)
            on conflict (id_hash) do nothing
            "#,
            device.as_slice(),
            id.0,
            to_sql(now) as _
        )
        .execute(&mut *connection)
        .await?;
        if taken.rows_affected() == 0 {
            return Ok(None);
        }
        if !self.welcome.is_zero() {
            let (key, amount) = (id.to_string(), self.welcome);
            let grant = GrantCoins { player: id, grant: Grant::Welcome, key, amount };
            self.ledger.grant_in_tx(connection, grant).await?;
        }
        Ok(Some(Profile { id, name, time_zone, created_at: now }))
    }
}

/// The player of a known device, which has been seen now.
async fn of_device(
    connection: &mut PgConnection,
    device: &[u8; 32],
    request: &GuestSignIn,
    now: Timestamp,
) -> Result<Option<Profile>, sqlx::Error> {
    let seen = sqlx::query_scalar!(
        "update devices set last_seen_at = $2 where id_hash = $1 returning player",
        device.as_slice(),
        to_sql(now) as _
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(player) = seen else {
        return Ok(None);
    };
    let row = sqlx::query_as!(
        Row,
        r#"
        update players
        set time_zone = coalesce(time_zone, $2)
        where id = $1
        returning id, name, time_zone, created_at as "created_at: SqlTimestamp"
        "#,
        player,
        request.time_zone.as_ref().map(|zone| zone.as_str())
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
