//! Looking for a table over the socket: a ticket is asked for, its end is told without asking, and
//! then the client joins. The ticket outlives the connection: who comes back and asks again is
//! given the same one.

use crate::live_store::TicketState;
use crate::lobby::{Sought, Ticket};
use crate::ws::protocol::{Message, SeekState};
use crate::ws::session::Session;
use bahay_engine::catalog::AnyGame;

/// A ticket whose end the client is to hear.
pub(super) struct Seeking {
    ticket: Ticket,
    sought: Sought,
}

impl Session {
    pub(super) async fn seek(&mut self, id: u32, rooms: &[String]) {
        let lobby = self.state.lobby.clone();
        let ticket = match lobby.seek(self.player, rooms, Some(self.from)).await {
            Ok(ticket) => ticket,
            Err(error) => return self.refuse_lobby(id, &error),
        };
        let sought = lobby.await_ticket(ticket.id);
        // It may have come to its end before this connection began to wait for it.
        let ticket = lobby.ticket(self.player, ticket.id).await.unwrap_or(ticket);
        self.pending.push(told(&ticket));
        self.pending.push(Message::Ack { id, version: None });
        self.seeking = (!is_over(ticket.state)).then(|| Box::new(Seeking { ticket, sought }));
    }

    pub(super) async fn cancel_seek(&mut self, id: u32) {
        let Some(seeking) = &self.seeking else {
            let detail = "you are not looking for a table here".to_owned();
            return self.refuse(Some(id), "ticket_not_found", None, detail, false);
        };
        match self.state.lobby.cancel(self.player, seeking.sought.ticket).await {
            Ok(ticket) => {
                self.seeking = None;
                self.pending.push(told(&ticket));
                self.pending.push(Message::Ack { id, version: None });
            }
            // What has been found is told by itself.
            Err(error) => self.refuse_lobby(id, &error),
        }
    }

    /// Says what became of the ticket.
    pub(super) fn seek_over(&mut self, over: crate::live_store::Over) {
        if let Some(seeking) = self.seeking.take() {
            let Seeking { ticket, .. } = *seeking;
            let ticket = Ticket { state: over.state, table: over.table, ..ticket };
            self.pending.push(told(&ticket));
        }
    }
}

/// What becomes of the ticket; never, where none is waited for.
pub(super) async fn next_over(seeking: &mut Option<Box<Seeking>>) -> crate::live_store::Over {
    match seeking {
        // In a box, because nearly all connections wait without a ticket.
        Some(seeking) => Box::pin(seeking.sought.over()).await,
        None => std::future::pending().await,
    }
}

fn is_over(state: TicketState) -> bool {
    match state {
        TicketState::Waiting | TicketState::Placed => false,
        TicketState::Seated | TicketState::Cancelled | TicketState::Expired => true,
    }
}

fn told(ticket: &Ticket) -> Message<AnyGame> {
    Message::Ticket {
        ticket: ticket.id,
        state: match ticket.state {
            TicketState::Waiting | TicketState::Placed => SeekState::Waiting,
            TicketState::Seated => SeekState::Seated,
            TicketState::Cancelled => SeekState::Cancelled,
            TicketState::Expired => SeekState::Expired,
        },
        rooms: ticket.rooms.clone(),
        table: ticket.table,
        expires_at_ms: ticket.expires_at,
    }
}
