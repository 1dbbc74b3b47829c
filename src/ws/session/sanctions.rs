//! Bans and mutes of a connection's player, read from PostgreSQL each time: phrases and joins are
//! rare, and so a sanction takes effect at once on every node.

use crate::accounts::{Sanction, SanctionKind};
use crate::lobby::LobbyError;
use crate::ws::session::{SIDE_QUERY_TIMEOUT, Session};

impl Session {
    /// Refuses the command of a banned player. Returns true if it did. A ban also revokes the
    /// player's sessions, so this covers the moment until the node learns of that.
    pub(super) async fn refuse_banned(&mut self, id: u32) -> bool {
        let Some(ban) = self.read_sanction(SanctionKind::Ban).await else {
            return false;
        };
        self.refuse_lobby(id, &LobbyError::Banned(ban));
        true
    }

    /// Returns the sanction in force. `None` too if the database does not respond: joins and
    /// phrases proceed without it, and no sanction can be imposed meanwhile.
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
