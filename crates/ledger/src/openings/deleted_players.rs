//! Deleted players: a player who has deleted the account begins no game, and a player with an open
//! game does not delete the account.
//!
//! Both transactions lock the wallet. A deletion locks it, checks for an open game, and records the
//! deletion; an opening locks the wallets of its players and checks for a deleted one. So one of
//! the two is first, and the other one sees its result.

use std::collections::BTreeSet;

use bahay_engine::table::PlayerId;
use sqlx::PgConnection;

use crate::chart::Account;
use crate::operation::GameStart;

/// Locks a player's wallet until the caller's transaction ends. From here on no game is opened with
/// it, and games opened before are visible. The caller must not hold locks of games or accounts
/// already.
pub async fn lock_wallet_in_tx(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<(), sqlx::Error> {
    let code = Account::Wallet(player).to_string();
    sqlx::query_scalar!(
        r#"select 1 as "one!" from accounts where code = $1 for no key update"#,
        code
    )
    .fetch_optional(connection)
    .await
    .map(|_| ())
}

/// Returns the players of openings who have deleted their accounts. The caller holds the locks of
/// the wallets.
pub(crate) async fn read_deleted_players(
    connection: &mut PgConnection,
    openings: impl Iterator<Item = &GameStart>,
) -> Result<BTreeSet<PlayerId>, sqlx::Error> {
    let players: Vec<_> =
        openings.flat_map(|opening| &opening.players).map(|player| player.0).collect();
    if players.is_empty() {
        return Ok(BTreeSet::new());
    }
    let deleted = sqlx::query_scalar!(
        "select id from players where id = any($1) and deleted_at is not null",
        &players
    );
    Ok(deleted.fetch_all(connection).await?.into_iter().map(PlayerId).collect())
}
