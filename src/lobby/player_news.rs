//! News for players, delivered at once to those with an open socket at any node: invitations to a
//! rematch, tables of tournaments, and standings. Delivery is best effort, because every player can
//! find them without it: by a notice (`crate::notices`), and by asking for the tournament.

use bahay_engine::table::{GameId, PlayerId, TableId, TournamentId};
use bahay_engine::tournament::StandingChange;
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

/// News for a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PlayerNews {
    Invitation(Invitation),
    /// The player's table of a tournament is open.
    TournamentTable {
        table: TableId,
    },
    /// The scores of these players in a tournament have changed.
    Standings {
        tournament: TournamentId,
        /// The number of players.
        entrants: u32,
        rows: Vec<StandingChange>,
    },
}

/// The number of standings in one message between nodes.
const STANDINGS_PER_MESSAGE: usize = 64;

impl Lobby {
    /// Publishes an invitation to those of these players who have an open socket.
    pub async fn send_invitation(
        &self,
        to: Vec<PlayerId>,
        invitation: &Invitation,
    ) -> Result<(), Unavailable> {
        self.send_news(to, &PlayerNews::Invitation(invitation.clone())).await
    }

    /// Publishes to those of these players who have an open socket how they stand in a tournament.
    pub async fn send_standings(
        &self,
        tournament: TournamentId,
        entrants: u32,
        rows: &[StandingChange],
    ) -> Result<(), Unavailable> {
        for rows in rows.chunks(STANDINGS_PER_MESSAGE) {
            let to = rows.iter().map(|row| row.player).collect();
            let rows = rows.to_vec();
            self.send_news(to, &PlayerNews::Standings { tournament, entrants, rows }).await?;
        }
        Ok(())
    }

    /// Publishes news to those of these players who have an open socket.
    pub(super) async fn send_news(
        &self,
        to: Vec<PlayerId>,
        news: &PlayerNews,
    ) -> Result<(), Unavailable> {
        if to.is_empty() {
            return Ok(());
        }
        let unwritable = |error: serde_json::Error| Unavailable::new(error.to_string());
        let text = serde_json::to_string(news).map_err(unwritable)?.into();
        self.live.publish_to_players(&PlayerMessage { to, text }).await
    }

    /// Delivers news to the sockets of this process. Runs for as long as it is polled; a process has
    /// one such task.
    pub async fn follow_news(self) {
        let mut messages = self.live.subscribe_to_players().await;
        loop {
            match messages.recv().await {
                Ok(PlayerMessage { to, text }) => match serde_json::from_str(&text) {
                    Ok(news) => self.online.deliver_news(&to, &news),
                    // A node of another version has published the message.
                    Err(error) => {
                        tracing::debug!(%error, "a message for players is malformed")
                    }
                },
                // Lost news are still available otherwise.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }
}
