//! Tickets that authenticate a socket.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{Player, SOCKET_TICKET_LIFE, SocketTicket};
use crate::clock;

use crate::http::{Problem, Services, Time};

/// A ticket that opens one socket.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ticket)]
pub(crate) struct TicketBody {
    /// The ticket, to be sent once, in the first message of a socket, and never in an address.
    #[schema(example = "pt_0000000000000000000000000000000000000000000000000000000000000000")]
    ticket: String,
    expires_at: Time,
}

/// Request a socket ticket
///
/// For clients that cannot set headers, such as browsers: the first message of the socket contains
/// the ticket. It is valid for 30 seconds, once, on any node.
#[utoipa::path(
    post,
    path = "/v1/play/tickets",
    tag = "rooms",
    security(("access_token" = [])),
    responses((status = 200, description = "The ticket", body = TicketBody))
)]
pub(crate) async fn make_ticket(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<TicketBody>, Problem> {
    let ticket = SocketTicket::random();
    let expires_at = clock::add(services.clock.now(), SOCKET_TICKET_LIFE);
    let holder = services.auth.encode_ticket_holder(&player);
    let put = services.live.put_ticket(ticket.hash(), &holder, SOCKET_TICKET_LIFE).await;
    put.map_err(|error| Problem::unavailable(&error))?;
    Ok(Json(TicketBody { ticket: ticket.reveal(), expires_at: expires_at.into() }))
}
