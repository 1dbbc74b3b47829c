//! Matchmaking tickets: requests for a seat that wait for the matcher.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_api::player::matchmaking::{MatchmakingRequest, MatchmakingTicket};
use bahay_engine::matchmaking::TicketId;
use uuid::Uuid;

use crate::auth::Player;
use crate::http::{Body, Code, CodeExt as _, Path, Problem, Services};
use crate::lobby::{self, LobbyError};
use crate::rate_limit::Address;

impl From<lobby::Ticket> for MatchmakingTicket {
    fn from(ticket: lobby::Ticket) -> Self {
        Self {
            id: ticket.id.0,
            state: ticket.state,
            rooms: ticket.rooms,
            table: ticket.table.map(|table| table.0),
            reason: ticket.reason,
            created_at: ticket.since.into(),
            expires_at: ticket.expires_at.into(),
        }
    }
}

pub(crate) async fn seek_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(MatchmakingRequest { rooms }): Body<MatchmakingRequest>,
) -> Result<Json<MatchmakingTicket>, Problem> {
    let ticket = services.lobby.create_ticket(player.id, &rooms, Some(from)).await?;
    Ok(Json(ticket.into()))
}

pub(crate) async fn show_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicket>, Problem> {
    let ticket = services.lobby.ticket(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

pub(crate) async fn cancel_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicket>, Problem> {
    let ticket = services.lobby.cancel_ticket(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

/// Maps every error of the lobby to its problem code, for all handlers.
impl From<LobbyError> for Problem {
    fn from(error: LobbyError) -> Self {
        let code = match &error {
            LobbyError::NoSuchRoom => Code::RoomNotFound,
            LobbyError::RoomClosed => Code::RoomClosed,
            LobbyError::Banned(_) => Code::Banned,
            LobbyError::PlayerGone => Code::TokenRevoked,
            LobbyError::TooFewCoins { .. } => Code::TooFewCoins,
            LobbyError::TooManyCoins { .. } => Code::TooManyCoins,
            LobbyError::AccountRequired => Code::AccountRequired,
            LobbyError::PrivateBetTooHigh { .. } => Code::PrivateBetTooHigh,
            LobbyError::RoomLimit => Code::RoomLimit,
            LobbyError::SocketRequired => Code::SocketRequired,
            LobbyError::NotReadyBefore { wait } => {
                return Code::NotReadyBefore.with_detail(error.to_string()).with_retry_after(*wait);
            }
            LobbyError::InvalidTicketRooms => Code::RoomsInvalid,
            LobbyError::Seating => Code::Seating,
            LobbyError::NotSeated => Code::NotSeated,
            LobbyError::SeatedElsewhere => Code::SeatedElsewhere,
            LobbyError::Halted => Code::TableHalted,
            LobbyError::TicketUnknown => Code::TicketNotFound,
            LobbyError::TicketMatched => Code::TicketMatched,
            LobbyError::CodeUnknown => Code::CodeNotFound,
            LobbyError::BetOutOfBounds => Code::BetInvalid,
            LobbyError::Rules(_) => Code::RulesInvalid,
            LobbyError::TooManyPrivateTables => Code::TooManyPrivateTables,
            LobbyError::PracticeFull => Code::PracticeFull,
            LobbyError::KickedByHost => Code::KickedByHost,
            LobbyError::TableFull => Code::TableFull,
            LobbyError::NotHost => Code::NotHost,
            LobbyError::GameRunning => Code::GameRunning,
            LobbyError::SeatAfterGame => Code::SeatAfterGame,
            LobbyError::BotsUnavailable(_) => Code::BotsUnavailable,
            LobbyError::RematchOver => Code::RematchOver,
            LobbyError::OtherVersion | LobbyError::Unavailable(_) => {
                return Self::unavailable(&error);
            }
            LobbyError::Ledger(_) => match error {
                LobbyError::Ledger(error) => return error.into(),
                other => return Self::internal(&other),
            },
        };
        code.with_detail(error.to_string())
    }
}
