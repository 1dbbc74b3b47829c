//! Matchmaking tickets: requests for a seat that wait for the matcher.

use bahay_base::states::{TicketState, WaitReason};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operation::operations;
use crate::values::{IdText, RoomText, Time};

operations! {
    /// Look for a table
    ///
    /// The ticket waits until suitable players are available. A table with a waiting POT is
    /// preferred, then one with free seats, then a new one. Players who share a device are never
    /// seated together. Players who share a network are not seated together in rooms of a higher
    /// bet, and players who have just played together are not seated together while others wait.
    /// The player must have a socket open, on any node; the ticket is cancelled when the last one
    /// closes. A player has at most one waiting ticket, which a repeated request returns. A player
    /// who sits at a table already receives a ticket that is `seated` at once and is not stored.
    /// The socket reports changes of a ticket: see `seek` in asyncapi.yaml.
    ///
    /// `room_closed`, `too_few_coins` and `too_many_coins` concern every named room. The detail of
    /// `banned` states the end and the reason. After `seating`, retry; after `not_ready_before`,
    /// which concerns the player, its device or many players of its network, wait for the time in
    /// `Retry-After`.
    SEEK_TABLE = Post "/v1/matchmaking/tickets", Rooms, Player {
        body MatchmakingRequest,
        200 json MatchmakingTicket: "The ticket",
        refuses Banned RoomNotFound RoomClosed TooFewCoins TooManyCoins RoomLimit Seating
            TableHalted SocketRequired NotReadyBefore RoomsInvalid,
    }

    /// Show my ticket
    SHOW_SEEK = Get "/v1/matchmaking/tickets/{id}", Rooms, Player {
        path id: IdText = "The ticket",
        200 json MatchmakingTicket: "The ticket",
        refuses TicketNotFound,
    }

    /// Cancel my ticket
    ///
    /// After `ticket_matched`, leave the table instead.
    CANCEL_SEEK = Delete "/v1/matchmaking/tickets/{id}", Rooms, Player {
        path id: IdText = "The ticket",
        200 json MatchmakingTicket: "The ticket, `cancelled` or `expired`",
        refuses TicketNotFound TicketMatched,
    }
}

/// The rooms in which a player wants to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchmakingRequest {
    /// The acceptable rooms. Rooms that do not fit the player's wallet are ignored.
    #[schema(
        value_type = Vec<RoomText>,
        min_items = 1,
        max_items = 8,
        example = json!(["newbie", "barkada"])
    )]
    pub rooms: Vec<String>,
}

/// A ticket, with its state.
#[derive(Debug, Serialize, ToSchema)]
pub struct MatchmakingTicket {
    #[schema(example = "019ca944-3c00-7000-8000-000000000001")]
    pub id: Uuid,
    #[schema(inline, example = "seated")]
    pub state: TicketState,
    #[schema(example = json!(["newbie"]))]
    pub rooms: Vec<String>,
    /// The table, once the player is seated: open the socket and join it.
    #[schema(required = true, example = "019ca944-3c00-7000-8000-00000007ab1e")]
    pub table: Option<Uuid>,
    #[schema(inline, value_type = WaitReason, required = false, example = "only_same_network")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<WaitReason>,
    pub created_at: Time,
    /// The time at which the ticket expires. Its final state remains available for one minute.
    pub expires_at: Time,
}
