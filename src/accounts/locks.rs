//! The lock by which everything that lets a player in and everything that keeps it out happens one
//! after the other.
//!
//! A sign-in, a refresh, a ban, the end of all sessions, a changed credential and a deletion each
//! lock the player's row first, and read what they decide by after that. So a sign-in that a ban
//! meets either commits before it, and its session ends with the others, or comes after it and is
//! refused. The lock is the first of its transaction, before any row of `sessions`, `devices`,
//! `passwords` or `identities`: two transactions never wait for one another.

use sqlx::PgConnection;

use crate::auth::Player;
use crate::ids::PlayerId;

use super::AccountError;
use super::transaction::TransactionError;

/// Locks the row of a player until the transaction ends; false when there is none, or it was deleted.
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

/// Locks the player's row and checks that the session that asks has not ended. An access token is
/// believed for a moment longer than its session lasts; nothing that lets somebody in is changed
/// by it then.
///
/// # Errors
/// [`AccountError::SessionEnded`], and [`AccountError::PlayerGone`] when the account was deleted.
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
