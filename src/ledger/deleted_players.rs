//! Players who delete their accounts: they begin no game any more, and who has begun one does not
//! delete its account.
//!
//! Both sides meet at the wallet. Who deletes locks it, looks whether a game is open, and notes the
//! deletion, in one transaction; who opens a game locks the wallets of its players and looks whether
//! one of them is gone. So of the two one is first, and the other one sees what it did.

use std::collections::BTreeSet;

use bahay_engine::table::PlayerId;
use sqlx::PgConnection;

use super::chart::Account;
use super::operation::{Operation, Request};

/// Locks a player's wallet until the caller's transaction ends: from here on no game is opened with
/// it, and those that were opened before are seen. Whoever holds locks of games or accounts already
/// must not call this.
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

/// Which players of games that are to be opened have deleted their accounts. Read under the locks of
/// their wallets.
pub(super) async fn read_for_openings(
    connection: &mut PgConnection,
    requests: &[&Request],
) -> Result<BTreeSet<PlayerId>, sqlx::Error> {
    let openings = requests.iter().filter_map(|request| match &request.operation {
        Operation::Open(input) => Some(&input.players),
        Operation::Settle(_)
        | Operation::Void(_)
        | Operation::Grant(_)
        | Operation::Sweep(_)
        | Operation::Adjust(_)
        | Operation::Reverse(_)
        | Operation::RefundPot(_) => None,
    });
    let players: Vec<_> = openings.flatten().map(|player| player.0).collect();
    if players.is_empty() {
        return Ok(BTreeSet::new());
    }
    let deleted = sqlx::query_scalar!(
        "select id from players where id = any($1) and deleted_at is not null",
        &players
    );
    Ok(deleted.fetch_all(connection).await?.into_iter().map(PlayerId).collect())
}
