//! Bans and mutes as a connection reads them, from PostgreSQL each time: phrases and joins are few, so
//! a sanction holds at once on every node.

use crate::accounts::{Sanction, SanctionKind};
use crate::lobby::LobbyError;
use crate::ws::session::{SIDE_QUERY_TIMEOUT, Session};

impl Session {
    /// Refuses the command of a banned player; true when it did. A ban also ends the sessions, so this
    /// covers the moment until the node hears of that.
    pub(super) async fn refuse_banned(&mut self, id: u32) -> bool {
        let Some(ban) = self.read_sanction(SanctionKind::Ban).await else {
            return false;
        };
        self.refuse_lobby(id, &LobbyError::Banned(ban));
        true
    }

    /// Returns the sanction that the player is under. `None` too while the database does not answer:
    /// games are joined and phrases said without it, and no sanction can begin then either.
    pub(super) async fn read_sanction(&mut self, kind: SanctionKind) -> Option<Sanction> {
        let player = self.player;
        let sanction = kind.as_str();
        let now = self.state.clock.now();
        let read = self.state.sanctions.find_in_force(player, kind, now);
        match tokio::time::timeout(SIDE_QUERY_TIMEOUT, read).await {
            Ok(Ok(sanction)) => sanction,
            Ok(Err(error)) => {
                tracing::warn!(%player, %sanction, %error, "sanctions could not be read");
                None
            }
            Err(_) => {
                tracing::warn!(%player, %sanction, "sanctions could not be read in time");
                None
            }
        }
    }
}
