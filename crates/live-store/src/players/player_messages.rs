//! Messages to players at any node, published on one channel of the house that every node
//! subscribes to. Delivery is best effort, so nothing relies on a message alone.

use std::sync::Arc;

use bahay_engine::table::PlayerId;
use tokio::sync::broadcast;

use crate::{LiveStore, Unavailable};

/// The capacity of a process's queue of messages. The oldest are dropped when it is full.
pub(crate) const PLAYER_MESSAGES_MAX: usize = 256;

/// A text for some players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerMessage {
    pub to: Vec<PlayerId>,
    /// The text, one line, which is bytes to this module.
    pub text: Arc<str>,
}

impl PlayerMessage {
    /// Returns the published form: the recipients in the first line, the text in the second.
    fn payload(&self) -> String {
        let to: Vec<String> = self.to.iter().map(ToString::to_string).collect();
        format!("{}\n{}", to.join(" "), self.text)
    }

    /// Parses a payload; `None` if it has another form.
    pub(crate) fn from_payload(payload: &str) -> Option<Self> {
        let (to, text) = payload.split_once('\n')?;
        let to = to.split(' ').map(|player| player.parse().ok()).collect::<Option<_>>()?;
        Some(Self { to, text: text.into() })
    }
}

impl LiveStore {
    /// Publishes a message for players to all nodes.
    pub async fn publish_to_players(&self, message: &PlayerMessage) -> Result<(), Unavailable> {
        self.publish(self.players_channel(), message.payload()).await
    }

    /// Subscribes to messages for players from now on. If Redis does not answer now, the
    /// subscription is established as soon as it does.
    pub async fn subscribe_to_players(&self) -> broadcast::Receiver<PlayerMessage> {
        self.subscribe_channel(self.players_channel()).await
    }

    fn players_channel(&self) -> String {
        format!("{}:{{players}}:told", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::PlayerMessage;
    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    #[test]
    fn a_message_is_read_as_it_was_published() {
        let to = [1, 2].map(|id| PlayerId(Uuid::from_u128(id))).to_vec();
        let message = PlayerMessage { to, text: r#"{"a":1}"#.into() };
        assert_eq!(PlayerMessage::from_payload(&message.payload()), Some(message));
        assert_eq!(PlayerMessage::from_payload("nobody\n{}"), None);
        assert_eq!(PlayerMessage::from_payload("{}"), None);
    }
}
