//! Invitations to a rematch, told at once to players who have a socket open, on whatever node. A player
//! without one finds the notice (`crate::notices`), so an invitation that gets lost is no loss.

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
    /// The player who invites.
    pub from: PlayerId,
    pub name: String,
    /// The game that is to be played again.
    pub game: GameId,
}

impl Lobby {
    /// Tells an invitation to those of these players who have a socket open.
    pub async fn invite(
        &self,
        to: Vec<PlayerId>,
        invitation: &Invitation,
    ) -> Result<(), Unavailable> {
        if to.is_empty() {
            return Ok(());
        }
        let unwritable = |error: serde_json::Error| Unavailable::new(error.to_string());
        let text = serde_json::to_string(invitation).map_err(unwritable)?.into();
        self.live.tell_players(&PlayerMessage { to, text }).await
    }

    /// Passes invitations on to the sockets of this process, for as long as it is polled. One such
    /// task a process.
    pub async fn follow_invitations(self) {
        let mut messages = self.live.hear_players().await;
        loop {
            match messages.recv().await {
                Ok(PlayerMessage { to, text }) => match serde_json::from_str(&text) {
                    Ok(invitation) => self.online.tell_invitation(&to, &invitation),
                    // Said by a node of another version.
                    Err(error) => {
                        tracing::debug!(%error, "a message for players is not understood")
                    }
                },
                // The notices are there.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }
}
