//! Matchmaking tickets: requests for a seat that wait for the matcher.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_api::player::rooms::WaitReason;
use bahay_engine::matchmaking::TicketId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::live_store::TicketState;
use crate::lobby::{self, LobbyError};
use crate::rate_limit::Address;

use super::rooms::wait_reason;
use crate::http::{Body, Path, Problem, ProblemBody, RoomText, Services, Time};

/// The rooms in which a player wants to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchmakingRequest {
    /// The acceptable rooms. Rooms that do not fit the player's wallet are ignored.
    #[schema(
        value_type = Vec<RoomText>,
        min_items = 1,
        max_items = 8,
        example = json!(["newbie", "barkada"])
    )]
    rooms: Vec<String>,
}

/// The state of a ticket.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchmakingState {
    Waiting,
    /// The matcher has chosen a table, and the player is being seated.
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

/// A ticket, with its state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MatchmakingTicket)]
pub(crate) struct MatchmakingTicketBody {
    #[schema(example = "019ca944-3c00-7000-8000-000000000001")]
    id: Uuid,
    #[schema(inline, example = "seated")]
    state: MatchmakingState,
    #[schema(example = json!(["newbie"]))]
    rooms: Vec<String>,
    /// The table, once the player is seated: open the socket and join it.
    #[schema(required = true, example = "019ca944-3c00-7000-8000-00000007ab1e")]
    table: Option<Uuid>,
    #[schema(inline, value_type = WaitReason, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<WaitReason>,
    created_at: Time,
    /// The time at which the ticket expires. Its final state remains available for one minute.
    expires_at: Time,
}

impl From<lobby::Ticket> for MatchmakingTicketBody {
    fn from(ticket: lobby::Ticket) -> Self {
        Self {
            id: ticket.id.0,
            state: ticket.state.into(),
            rooms: ticket.rooms,
            table: ticket.table.map(|table| table.0),
            reason: ticket.reason.map(wait_reason),
            created_at: ticket.since.into(),
            expires_at: ticket.expires_at.into(),
        }
    }
}

/// Look for a table
///
/// The ticket waits until suitable players are available. A table with a waiting POT is preferred,
/// then one with free seats, then a new one. Players who share a device are never seated together.
/// Players who share a network are not seated together in rooms of a higher bet, and players who
/// have just played together are not seated together while others wait. The player must have a
/// socket open, on any node; the ticket is cancelled when the last one closes. A player has at most
/// one waiting ticket, which a repeated request returns. A player who sits at a table already
/// receives a ticket that is `seated` at once and is not stored. The socket reports changes of a
/// ticket: see `seek` in asyncapi.yaml.
#[utoipa::path(
    post,
    path = "/v1/matchmaking/tickets",
    tag = "rooms",
    security(("access_token" = [])),
    request_body = MatchmakingRequest,
    responses(
        (status = 200, description = "The ticket", body = MatchmakingTicketBody),
        (status = 403, description = "`banned`: the detail states the end and the reason",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`room_not_found`: the room does not exist",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`room_closed`, `too_few_coins` or `too_many_coins`: for \
            every named room. `room_limit`: the player has reached the daily limit of wins in \
            rooms. `seating`: a request of the player is being seated; retry. `table_halted`: the \
            player sits at a table that was halted. `socket_required`: open the socket first",
             body = ProblemBody, content_type = "application/problem+json"),
         (status = 429, description = "`not_ready_before`: the player, its device, or many players \
             of its network took seats and were not ready; wait for the time in `Retry-After`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "`body_invalid`, or `rooms_invalid`: name one to eight rooms \
            of one game",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn seek_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(MatchmakingRequest { rooms }): Body<MatchmakingRequest>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.create_ticket(player.id, &rooms, Some(from)).await?;
    Ok(Json(ticket.into()))
}

/// Show my ticket
#[utoipa::path(
    get,
    path = "/v1/matchmaking/tickets/{id}",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The ticket")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The ticket", body = MatchmakingTicketBody),
        (status = 404, description = "`ticket_not_found`: the player has no such ticket, or it \
            ended more than a minute ago",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn show_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.ticket(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

/// Cancel my ticket
#[utoipa::path(
    delete,
    path = "/v1/matchmaking/tickets/{id}",
    tag = "rooms",
    params(("id" = Uuid, Path, description = "The ticket")),
    security(("access_token" = [])),
    responses(
        (status = 200, description = "The ticket, `cancelled` or `expired`",
            body = MatchmakingTicketBody),
        (status = 404, description = "`ticket_not_found`: the player has no such ticket, or it \
            ended more than a minute ago",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`ticket_matched`: a table was found already; leave it \
            instead",
            body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn cancel_seek(
    State(services): State<Services>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<MatchmakingTicketBody>, Problem> {
    let ticket = services.lobby.cancel_ticket(player.id, TicketId(id)).await?;
    Ok(Json(ticket.into()))
}

/// Maps every error of the lobby to its problem code, for all handlers.
impl From<LobbyError> for Problem {
    fn from(error: LobbyError) -> Self {
        use crate::http::{Code, CodeExt as _};
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
