//! Socket tickets: 256 random bits that open one socket within half a minute, for clients that
//! cannot set headers and would rather not pass their access token to the code that opens the
//! socket.
//!
//! A ticket stands for the player and session that requested it. The caller stores its hash with
//! the holder, where every node can take it, and only once.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use bahay_base::clock::Timestamp;
use bahay_base::ids::{PlayerId, SessionId};

use super::hex_secret::hex_secret;
use super::{Auth, AuthError, Player, Proof};

hex_secret! {
    /// A ticket as the client sends it, once.
    SocketTicket = "pt_",
    /// The error of a text that is no ticket.
    #[error("a ticket is `pt_` and 64 hexadecimal digits")]
    ParseSocketTicketError
}

/// The holder of a ticket, stored with the ticket's hash.
#[derive(Debug, Serialize, Deserialize)]
struct TicketHolder {
    player: PlayerId,
    session: SessionId,
    token_expires_at: Timestamp,
}

impl SocketTicket {
    /// Returns the stored hash. A fast hash suffices: 256 random bits cannot be guessed.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.0).into()
    }
}

impl Auth {
    /// Encodes the holder for storage with the ticket's hash.
    ///
    /// # Panics
    /// Never: ids and a number always serialize.
    pub fn encode_ticket_holder(&self, player: &Player) -> String {
        let Player { id, session, token_expires_at, .. } = *player;
        let holder = TicketHolder { player: id, session, token_expires_at };
        serde_json::to_string(&holder).expect("ids and a number serialize")
    }

    /// Returns the player of a stored holder whose ticket was taken.
    ///
    /// # Errors
    /// [`AuthError::Revoked`] if the session has ended, [`AuthError::Malformed`] if the holder
    /// cannot be decoded.
    pub fn redeem_ticket(&self, holder: &str) -> Result<Player, AuthError> {
        let holder: TicketHolder =
            serde_json::from_str(holder).map_err(|_| AuthError::Malformed)?;
        let TicketHolder { player: id, session, token_expires_at } = holder;
        if self.revocations.contains(session) {
            return Err(AuthError::Revoked);
        }
        Ok(Player { id, session, token_expires_at, proof: Proof })
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseSocketTicketError, SocketTicket};

    #[test]
    fn a_revealed_secret_parses_and_is_never_printed() {
        let ticket = SocketTicket::random();
        assert_eq!(ticket.reveal().parse::<SocketTicket>(), Ok(ticket.clone()));
        assert_eq!(format!("{ticket:?}"), "SocketTicket(…)");
        assert_ne!(ticket.hash(), SocketTicket::random().hash());
        for text in ["", "pt_", "pt_0", "rt_00"] {
            assert_eq!(text.parse::<SocketTicket>(), Err(ParseSocketTicketError), "{text}");
        }
    }
}
