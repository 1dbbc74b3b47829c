//! The lock that serializes sign-ins with everything that ends sessions.
//!
//! A sign-in, a refresh, a ban, the end of all sessions, a change of credentials and a deletion
//! each lock the player's row first and read the data for their decision afterwards. A sign-in that
//! races with a ban either commits before it, and its session ends with the others, or comes after
//! it and is refused. The lock is the first of its transaction, before any row of `sessions`,
//! `devices`, `passwords` or `identities`, so that two transactions never deadlock.

use sqlx::PgConnection;

use crate::auth::Player;
use crate::ids::PlayerId;

use super::AccountError;
use super::transaction::TransactionError;

/// Locks the row of a player until the transaction ends. Returns false if there is no such player,
/// or if it was deleted.
pub(super) async fn lock_player(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<bool, sqlx::Error> {
    let is_deleted = sqlx::query_scalar!(
        r#"
        select deleted_at is not null as "is_deleted!"
        from players
        where id = $1
        for no key update
        "#,
        player.0
    );
    Ok(is_deleted.fetch_optional(connection).await? == Some(false))
}

/// Locks the player's row and checks that the requesting session has not ended. An access token is
/// accepted for a moment after the end of its session; this check prevents changes of credentials
/// in that time.
///
/// # Errors
/// [`AccountError::SessionEnded`], and [`AccountError::PlayerGone`] if the account was deleted.
pub(super) async fn lock_session(
    connection: &mut PgConnection,
    player: &Player,
) -> Result<(), TransactionError> {
    if !lock_player(connection, player.id).await? {
        return Err(AccountError::PlayerGone.into());
    }
    let is_open = sqlx::query_scalar!(
        r#"
        select exists (
            select from sessions where id = $1 and player = $2 and revoked_at is null
        ) as "open!"
        "#,
        player.session.0,
        player.id.0
    );
    match is_open.fetch_one(connection).await? {
        true => Ok(()),
        false => Err(AccountError::SessionEnded.into()),
    }
}
