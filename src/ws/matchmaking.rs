//! Looking for a table over the socket: a ticket is asked for, its end is told without asking, and
//! then the client joins. The ticket outlives the connection as long as its player has another one; a
//! player who comes back and asks again then is given the same ticket.

use crate::live_store::{self, TicketState};
use crate::lobby::{TicketSubscription, Ticket};
use crate::ws::protocol::{Message, SeekState, WaitReason};
use crate::ws::session::Session;
use bahay_engine::catalog::AnyGame;

/// A ticket whose end the client is to hear.
pub(super) struct PendingTicket {
    ticket: Ticket,
    updates: TicketSubscription,
}

impl Session {
    pub(super) async fn seek(&mut self, id: u32, rooms: &[String]) {
        let lobby = self.state.lobby.clone();
        let ticket = match lobby.create_ticket(self.player, rooms, Some(self.from)).await {
            Ok(ticket) => ticket,
            Err(error) => return self.refuse_lobby(id, &error),
        };
        let updates = lobby.subscribe_ticket(ticket.id);
        // It may have come to its end before this connection began to wait for it.
        let ticket = lobby.ticket(self.player, ticket.id).await.unwrap_or(ticket);
        self.pending.push(ticket_message(&ticket));
        self.pending.push(Message::Ack { id, version: None });
        self.seeking = (!is_over(ticket.state)).then(|| Box::new(PendingTicket { ticket, updates }));
    }

    pub(super) async fn cancel_seek(&mut self, id: u32) {
        let Some(seeking) = &self.seeking else {
            let detail = "you are not looking for a table here".to_owned();
            return self.refuse(Some(id), "ticket_not_found", None, detail, false);
        };
        match self.state.lobby.cancel_ticket(self.player, seeking.updates.ticket).await {
            Ok(ticket) => {
                self.seeking = None;
                self.pending.push(ticket_message(&ticket));
                self.pending.push(Message::Ack { id, version: None });
            }
            // What has been found is told by itself.
            Err(error) => self.refuse_lobby(id, &error),
        }
    }

    /// Says what became of the ticket, or why it waits.
    pub(super) fn handle_ticket_update(&mut self, update: live_store::TicketUpdate) {
        if let Some(mut seeking) = self.seeking.take() {
            seeking.ticket.state = update.state;
            seeking.ticket.table = update.table;
            seeking.ticket.reason = update.reason;
            self.pending.push(ticket_message(&seeking.ticket));
            self.seeking = (!is_over(update.state)).then_some(seeking);
        }
    }
}

/// What becomes of the ticket; never, where none is waited for.
pub(super) async fn next_ticket_update(seeking: &mut Option<Box<PendingTicket>>) -> live_store::TicketUpdate {
    match seeking {
        // In a box, because nearly all connections wait without a ticket.
        Some(seeking) => Box::pin(seeking.updates.next()).await,
        None => std::future::pending().await,
    }
}

fn is_over(state: TicketState) -> bool {
    match state {
        TicketState::Waiting | TicketState::Placed => false,
        TicketState::Seated | TicketState::Cancelled | TicketState::Expired => true,
    }
}

fn ticket_message(ticket: &Ticket) -> Message<AnyGame> {
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
        reason: ticket.reason.map(|reason| match reason {
            live_store::WaitReason::OnlySameNetwork => WaitReason::OnlySameNetwork,
        }),
        expires_at_ms: ticket.expires_at,
    }
}
