//! Invitations to a rematch, delivered at once to players with an open socket at any node. Delivery
//! is best effort, because every player also gets the notice (`crate::notices`).

use bahay_engine::table::{GameId, PlayerId};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;

use crate::live_store::{PlayerMessage, Unavailable};

use super::Lobby;

/// An invitation to a private table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The code of the table.
    pub code: String,
    /// The inviting player.
    pub from: PlayerId,
    pub name: String,
    /// The game to be played again.
    pub game: GameId,
}

impl Lobby {
    /// Publishes an invitation to those of these players who have an open socket.
    pub async fn send_invitation(
        &self,
        to: Vec<PlayerId>,
        invitation: &Invitation,
    ) -> Result<(), Unavailable> {
        if to.is_empty() {
            return Ok(());
        }
        let unwritable = |error: serde_json::Error| Unavailable::new(error.to_string());
        let text = serde_json::to_string(invitation).map_err(unwritable)?.into();
        self.live.publish_to_players(&PlayerMessage { to, text }).await
    }

    /// Delivers invitations to the sockets of this process. Runs for as long as it is polled; a
    /// process has one such task.
    pub async fn follow_invitations(self) {
        let mut messages = self.live.subscribe_to_players().await;
        loop {
            match messages.recv().await {
                Ok(PlayerMessage { to, text }) => match serde_json::from_str(&text) {
                    Ok(invitation) => self.online.deliver_invitation(&to, &invitation),
                    // A node of another version has published the message.
                    Err(error) => {
                        tracing::debug!(%error, "a message for players is malformed")
                    }
                },
                // Lost invitations are still available as notices.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }
}
