//! The refusals of the lobby as socket messages.

use std::time::Duration;

use bahay_engine::variants;

use crate::auth::AuthError;
use crate::lobby::LobbyError;
use crate::ws::protocol::Message;
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::Session;
use crate::ws::session::feed::{build_refusal, refusal};

impl Session {
    pub(super) fn refuse_lobby(&mut self, id: u32, error: &LobbyError) {
        let refused = match error {
            LobbyError::NoSuchRoom => SessionRefusal::RoomNotFound,
            LobbyError::RoomClosed => SessionRefusal::RoomClosed,
            LobbyError::Banned(_) => SessionRefusal::Banned,
            LobbyError::PlayerGone => {
                let code = AuthError::Revoked.code();
                let detail = error.to_string();
                let refusal = build_refusal(self.metrics(), Some(id), code, None, detail, false);
                return self.pending.push(refusal);
            }
            LobbyError::TooFewCoins { .. } => SessionRefusal::TooFewCoins,
            LobbyError::TooManyCoins { .. } => SessionRefusal::TooManyCoins,
            LobbyError::AccountRequired => SessionRefusal::AccountRequired,
            LobbyError::RoomLimit => SessionRefusal::RoomLimit,
            LobbyError::SocketRequired => SessionRefusal::SocketRequired,
            LobbyError::NotReadyBefore { wait } => {
                return self.refuse_until(id, error.to_string(), *wait);
            }
            LobbyError::InvalidTicketRooms => SessionRefusal::RoomsInvalid,
            LobbyError::TicketUnknown => SessionRefusal::TicketNotFound,
            LobbyError::TicketMatched => SessionRefusal::TicketMatched,
            LobbyError::Seating => SessionRefusal::Seating,
            LobbyError::NotSeated => SessionRefusal::NotSeated,
            LobbyError::Halted => SessionRefusal::TableHalted,
            LobbyError::OtherVersion => SessionRefusal::OtherVersion,
            // Private and practice tables are joined over REST.
            variants!(LobbyError: SeatedElsewhere, CodeUnknown, BetOutOfBounds, PrivateBetTooHigh,
                Rules, TooManyPrivateTables, PracticeFull, KickedByHost, TableFull, NotHost,
                GameRunning, SeatAfterGame, BotsUnavailable, RematchOver, Unavailable, Ledger) => {
                tracing::warn!(player = %self.player, %error, "a player's table could not be found");
                return self.refuse(id, SessionRefusal::Unavailable);
            }
        };
        self.refuse_with(Some(id), refused, error.to_string());
    }

    /// Refuses a command with a retry delay. It is not `retryable`, because clients repeat those at
    /// once.
    fn refuse_until(&mut self, id: u32, detail: String, wait: Duration) {
        let refused = SessionRefusal::NotReadyBefore;
        let mut refusal = refusal(self.metrics(), Some(id), refused, Some(detail));
        if let Message::Refusal { retry_after_ms, .. } = &mut refusal {
            *retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        self.pending.push(refusal);
    }
}
