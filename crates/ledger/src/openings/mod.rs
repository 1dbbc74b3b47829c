//! The reads that only openings of games need: the limits of their players' winnings, and the
//! players who have deleted their accounts.
//!
//! The reads follow the reading of the wallets of a game that is to be opened, or happen under the
//! locks of these wallets. Every event that reduces an allowance (a won game, or a game opened
//! elsewhere) also changes the player's wallet, so optimistic concurrency control rejects an
//! opening that was decided on outdated values. An event that raises an allowance (a fee or a lost
//! game) may be seen some seconds late: fees come from the projection of settlements.

mod allowance;
mod deleted_players;
mod room_winnings;

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use sqlx::PgConnection;

use super::operation::{GameStart, WinLimit};

pub use deleted_players::lock_wallet_in_tx;
pub(super) use deleted_players::read_deleted_players;

/// Returns the most that players of these openings may still win; players without a bound are
/// omitted.
pub(super) async fn read_win_limits(
    connection: &mut PgConnection,
    openings: impl Iterator<Item = &GameStart>,
) -> Result<BTreeMap<PlayerId, Coins>, sqlx::Error> {
    let mut win_limits = BTreeMap::new();
    let mut in_rooms = Vec::new();
    for opening in openings {
        match opening.limit {
            WinLimit::Private(allowance) => {
                win_limits.extend(allowance::read_limits(connection, allowance, opening).await?);
            }
            WinLimit::Room => in_rooms.push(opening),
        }
    }
    win_limits.extend(room_winnings::read_limits(connection, &in_rooms).await?);
    Ok(win_limits)
}
