//! Tickets of players who look for a table.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_engine::matchmaking::TicketId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::edge::Address;
use crate::live_store::TicketState;
use crate::lobby::{self, LobbyError};

use super::rooms::WaitReasonName;
use super::{Body, Path, Problem, ProblemBody, RoomText, Services, Time};

/// Where a player wants to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchmakingRequest {
    /// Any of these rooms will do; those that the wallet does not fit are left out.
    #[schema(value_type = Vec<RoomText>, min_items = 1, max_items = 8, example = json!(["newbie", "barkada"]))]
    rooms: Vec<String>,
}

/// Where a ticket stands.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum MatchmakingState {
    Waiting,
    /// A table is found, and the player is being seated.
    Placed,
    Seated,
    Cancelled,
    Expired,
}

impl From<TicketState> for MatchmakingState {
    fn from(state: TicketState) -> Self {
        match state {
            TicketState::Waiting => Self::Waiting,
            TicketState::Placed => Self::Placed,
            TicketState::Seated => Self::Seated,
            TicketState::Cancelled => Self::Cancelled,
            TicketState::Expired => Self::Expired,
        }
    }
}

/// A wish to play, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MatchmakingTicket)]
pub(super) struct MatchmakingTicketBody {
    #[schema(example = "019ca944-3c00-7000-8000-000000000001")]
    id: Uuid,
    #[schema(inline, example = "seated")]
    state: MatchmakingState,
    #[schema(example = json!(["newbie"]))]
    rooms: Vec<String>,
    /// Where the player sits, once seated: open the socket and join.
    #[schema(required = true, example = "019ca944-3c00-7000-8000-00000007ab1e")]
    table: Option<Uuid>,
    #[schema(inline, value_type = WaitReasonName, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<WaitReasonName>,
    created_at: Time,
    /// When it is given up. What became of it is known for a minute after that.
    expires_at: Time,
}

impl From<lobby::Ticket> for MatchmakingTicketBody {
    fn from(ticket: lobby::Ticket) -> Self {
        Self {
            id: ticket.id.0,
            state: ticket.state.into(),
            rooms: ticket.rooms,
            table: ticket.table.map(|table| table.0),
            reason: ticket.reason.map(Into::into),
            created_at: ticket.since.into(),
            expires_at: ticket.expires_at.into(),
        }
    }
}

/// Look for a table
///
/// Waits until players who fit are there: a table where a POT waits first, then one with free
/// seats, then a new one. Players of one device do not meet, nor, in rooms of a higher bet, those of
/// one network, nor, while others wait, those who have just played together. The player has a socket
/// open, on any node; when its last one is gone the ticket is cancelled. A player has one ticket at a
/// time: a player with one that waits is given that one. A player who sits at a table is sent back
/// there by a ticket that is `seated` at once, and is not kept. The socket tells what becomes of a ticket without asking: see `seek` in
/// asyncapi.yaml.
#[utoipa::path(
    post,
    path = "/v1/matchmaking/tickets",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = MatchmakingRequest,
    responses(
        (status = 200, description = "The ticket", body = MatchmakingTicketBody),
        (status = 403, description = "`banned`: the detail says until when, and why",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: there is no such room",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`room_closed`, `too_few_coins` or `too_many_coins`: of every \
             room that was named. `room_limit`: the player has won as much in rooms as one may in \
             a day. `seating`: a request of the player is being seated; ask again. \
             `table_halted`: the player sits at a table that was halted. `socket_required`: open \
             the socket first",
             body = ProblemBody, content_type = "application/problem+json"),
         (status = 429, description = "`not_ready_before`: the player, its device or many of its \
             network took seats and were not ready; wait as long as `Retry-After` says",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, or `rooms_invalid`: name one to eight rooms of one game",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn seek_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(MatchmakingRequest { rooms }): Body<MatchmakingRequest>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.seek(player.id, &rooms, Some(from)).await?;
    Ok(Json(ticket.into()))
}

/// Say where my ticket stands
#[utoipa::path(
    get,
    path = "/v1/matchmaking/tickets/{id}",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The ticket")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The ticket", body = MatchmakingTicketBody),
        (status = 404, description = "`ticket_not_found`: the player has no such ticket, or it is \
            over for more than a minute",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn show_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.ticket(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

/// Take my ticket back
#[utoipa::path(
    delete,
    path = "/v1/matchmaking/tickets/{id}",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The ticket")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The ticket, `cancelled` or `expired`", body = MatchmakingTicketBody),
        (status = 404, description = "`ticket_not_found`: the player has no such ticket, or it is \
            over for more than a minute",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`ticket_matched`: a table has been found; leave it instead",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn cancel_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.cancel(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

/// Every way in which a lobby refuses, for all who ask it.
impl From<LobbyError> for Problem {
    fn from(error: LobbyError) -> Self {
        use super::Code;
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
                return Code::NotReadyBefore.because(error.to_string()).again_after(*wait);
            }
            LobbyError::RoomsWanted => Code::RoomsInvalid,
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
        code.because(error.to_string())
    }
}
