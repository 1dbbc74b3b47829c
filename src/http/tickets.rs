//! Tickets for the socket.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{Player, TICKET_LIFE, Ticket};
use crate::clock;

use super::{Problem, Services, Time};

/// A ticket that opens one socket.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ticket)]
pub(super) struct TicketBody {
    /// To be sent once, in the first message of a socket; never in an address.
    #[schema(example = "pt_0000000000000000000000000000000000000000000000000000000000000000")]
    ticket: String,
    expires_at: Time,
}

/// Ask for a ticket to the socket
///
/// For clients that cannot set headers, such as browsers: the first message of the socket gives
/// the ticket back. It is good for half a minute, once, on every node.
#[utoipa::path(
    post,
    path = "/v1/play/tickets",
    tag = "rooms",
    security(("access_token" = [])),
    responses((status = 200, description = "The ticket", body = TicketBody))
)]
pub(super) async fn make_ticket(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<TicketBody>, Problem> {
    let ticket = Ticket::random();
    let expires_at = clock::after(services.clock.now(), TICKET_LIFE);
    let holder = services.auth.ticket_holder(&player);
    let put = services.live.put_ticket(ticket.hash(), &holder, TICKET_LIFE).await;
    put.map_err(|error| Problem::unavailable(&error))?;
    Ok(Json(TicketBody { ticket: ticket.reveal(), expires_at: expires_at.into() }))
}
