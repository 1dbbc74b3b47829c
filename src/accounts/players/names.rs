//! The ownership of names. A name that a signed-in player chooses is claimed by its skeletons; the
//! primary key of `name_skeletons` resolves races.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;

use crate::accounts::transaction::TransactionError;
use crate::accounts::{AccountError, Name, from_sql, to_sql};
use crate::clock::{self, Timestamp};
use crate::ids::PlayerId;
use bahay_names::{is_reserved, skeletons};

/// The time between two changes of a name, which keeps players recognizable.
pub const RENAME_INTERVAL: Duration = Duration::from_hours(7 * 24);

/// Rejects a new guest's name if it is reserved or taken. The name is not claimed.
///
/// # Errors
/// [`AccountError::NameReserved`] and [`AccountError::NameTaken`].
pub(in crate::accounts) async fn check_guest_name(
    connection: &mut PgConnection,
    name: &Name,
) -> Result<(), TransactionError> {
    if is_reserved(name.as_str()) {
        return Err(AccountError::NameReserved.into());
    }
    let is_taken = sqlx::query_scalar!(
        r#"select exists (select from name_skeletons where skeleton = any($1)) as "taken!""#,
        &skeletons(name.as_str())
    );
    match is_taken.fetch_one(connection).await? {
        true => Err(AccountError::NameTaken.into()),
        false => Ok(()),
    }
}

/// Renames a player and claims the name. The current name is claimed too if it was not before,
/// which does not count as a change. The previous name becomes free.
///
/// # Errors
/// [`AccountError::PlayerGone`], [`AccountError::NameReserved`],
/// [`AccountError::NameChangedLately`] and [`AccountError::NameTaken`].
pub(in crate::accounts) async fn rename(
    connection: &mut PgConnection,
    player: PlayerId,
    name: &Name,
    now: Timestamp,
) -> Result<(), TransactionError> {
    // The row lock serializes the player's renames.
    let before = sqlx::query!(
        r#"
        select name, renamed_at as "renamed_at: SqlTimestamp"
        from players
        where id = $1 and deleted_at is null
        for no key update
        "#,
        player.0
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or(AccountError::PlayerGone)?;
    let is_change = before.name != name.as_str();
    if is_reserved(name.as_str()) {
        return Err(AccountError::NameReserved.into());
    }
    if is_change && let Some(renamed_at) = before.renamed_at {
        let again_at = clock::add(from_sql(renamed_at), RENAME_INTERVAL);
        if now < again_at {
            return Err(AccountError::NameChangedLately { again_at }.into());
        }
    }
    claim(connection, player, name).await?;
    if is_change {
        sqlx::query!(
            "update players set name = $2, renamed_at = $3 where id = $1",
            player.0,
            name.as_str(),
            to_sql(now) as _
        )
        .execute(connection)
        .await?;
    }
    Ok(())
}

async fn claim(
    connection: &mut PgConnection,
    player: PlayerId,
    name: &Name,
) -> Result<(), TransactionError> {
    let skeletons = skeletons(name.as_str());
    sqlx::query!(
        "delete from name_skeletons where player = $1 and not (skeleton = any($2))",
        player.0,
        &skeletons
    )
    .execute(&mut *connection)
    .await?;
    // The insert waits for a concurrent claim of the same skeleton, and skips the skeleton if that
    // claim succeeds.
    sqlx::query!(
        r#"
        insert into name_skeletons (skeleton, player)
        select s.skeleton, $1
        from unnest($2::text[]) as s (skeleton)
        order by s.skeleton
        on conflict (skeleton) do nothing
        "#,
        player.0,
        &skeletons
    )
    .execute(&mut *connection)
    .await?;
    let claimed = sqlx::query_scalar!(
        r#"select count(*) as "claimed!" from name_skeletons where player = $1 and skeleton = any($2)"#,
        player.0,
        &skeletons
    )
    .fetch_one(connection)
    .await?;
    if usize::try_from(claimed) == Ok(skeletons.len()) {
        Ok(())
    } else {
        Err(AccountError::NameTaken.into())
    }
}
