//! The refusals of the lobby as socket messages.

use std::time::Duration;

use crate::auth::AuthError;
use crate::lobby::LobbyError;
use crate::ws::protocol::Message;
use crate::ws::session::Session;
use crate::ws::session::feed::refusal;

impl Session {
    pub(super) fn refuse_lobby(&mut self, id: u32, error: &LobbyError) {
        let (code, retryable) = match error {
            LobbyError::NoSuchRoom => ("room_not_found", false),
            LobbyError::RoomClosed => ("room_closed", false),
            LobbyError::Banned(_) => ("banned", false),
            LobbyError::PlayerGone => (AuthError::Revoked.code(), false),
            LobbyError::TooFewCoins { .. } => ("too_few_coins", false),
            LobbyError::TooManyCoins { .. } => ("too_many_coins", false),
            LobbyError::AccountRequired => ("account_required", false),
            LobbyError::RoomLimit => ("room_limit", false),
            LobbyError::SocketRequired => ("socket_required", true),
            LobbyError::NotReadyBefore { wait } => {
                return self.refuse_until(id, "not_ready_before", error.to_string(), *wait);
            }
            LobbyError::InvalidTicketRooms => ("rooms_invalid", false),
            LobbyError::TicketUnknown => ("ticket_not_found", false),
            LobbyError::TicketMatched => ("ticket_matched", false),
            LobbyError::Seating => ("seating", true),
            LobbyError::NotSeated => ("not_seated", false),
            LobbyError::Halted => ("table_halted", false),
            LobbyError::OtherVersion => ("other_version", true),
            // Private and practice tables are joined over REST.
            LobbyError::SeatedElsewhere
            | LobbyError::CodeUnknown
            | LobbyError::BetOutOfBounds
            | LobbyError::PrivateBetTooHigh { .. }
            | LobbyError::Rules(_)
            | LobbyError::TooManyPrivateTables
            | LobbyError::PracticeFull
            | LobbyError::KickedByHost
            | LobbyError::TableFull
            | LobbyError::NotHost
            | LobbyError::GameRunning
            | LobbyError::SeatAfterGame
            | LobbyError::BotsUnavailable(_)
            | LobbyError::RematchOver
            | LobbyError::Unavailable(_)
            | LobbyError::Ledger(_) => {
                tracing::warn!(player = %self.player, %error, "a player's table could not be found");
                let detail = "the table is unavailable: try again".to_owned();
                return self.refuse(Some(id), "unavailable", None, detail, true);
            }
        };
        self.refuse(Some(id), code, None, error.to_string(), retryable);
    }

    /// Refuses a command with a retry delay. It is not `retryable`, because clients repeat those at
    /// once.
    fn refuse_until(&mut self, id: u32, code: &'static str, detail: String, wait: Duration) {
        let mut refusal = refusal(self.metrics(), Some(id), code, None, detail, false);
        if let Message::Refusal { retry_after_ms, .. } = &mut refusal {
            *retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        self.pending.push(refusal);
    }
}
