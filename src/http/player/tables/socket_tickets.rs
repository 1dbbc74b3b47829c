//! The tickets of sockets, for clients that cannot set headers.

use axum::Json;
use axum::extract::State;
use bahay_api::player::rooms::Ticket;
use bahay_protocol::limits::TICKET_LIFE;

use crate::auth::{Player, SocketTicket};
use crate::clock;
use crate::http::{Problem, Services};

pub(crate) async fn make_ticket(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<Ticket>, Problem> {
    let ticket = SocketTicket::random();
    let expires_at = clock::add(services.clock.now(), TICKET_LIFE);
    let holder = services.auth.encode_ticket_holder(&player);
    let put = services.live.put_ticket(ticket.hash(), &holder, TICKET_LIFE).await;
    put.map_err(|error| Problem::unavailable(&error))?;
    Ok(Json(Ticket { ticket: ticket.reveal(), expires_at: expires_at.into() }))
}
