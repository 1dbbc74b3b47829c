//! Matchmaking over the socket: the client requests a ticket, is notified of its end, and then
//! joins. The ticket outlives the connection while its player has another one; a player who
//! reconnects and asks again then gets the same ticket.

use crate::ids::TOURNAMENT_ROOM;
use crate::live_store::{self, TicketState};
use crate::lobby::{Invitation, PlayerNews, Ticket, TicketSubscription};
use crate::ws::protocol::{Message, SeekState, WaitReason};
use crate::ws::refusal::SessionRefusal;
use crate::ws::session::Session;
use crate::ws::state::PlayState;
use bahay_engine::catalog::AnyGame;
use bahay_engine::matchmaking::TicketId;
use bahay_engine::table::PlayerId;

/// A ticket whose updates the client receives.
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
        // The ticket may have ended before this connection subscribed to it.
        let ticket = lobby.ticket(self.player, ticket.id).await.unwrap_or(ticket);
        self.pending.push(ticket_message(&ticket));
        self.pending.push(Message::Ack { id, version: None });
        self.seeking =
            (!is_over(ticket.state)).then(|| Box::new(PendingTicket { ticket, updates }));
    }

    pub(super) async fn cancel_seek(&mut self, id: u32) {
        let Some(seeking) = &self.seeking else {
            return self.refuse(id, SessionRefusal::TicketNotFound);
        };
        match self.state.lobby.cancel_ticket(self.player, seeking.updates.ticket).await {
            Ok(ticket) => {
                self.seeking = None;
                self.pending.push(ticket_message(&ticket));
                self.pending.push(Message::Ack { id, version: None });
            }
            // A match is reported by an update of the ticket.
            Err(error) => self.refuse_lobby(id, &error),
        }
    }

    /// Reports the end of the ticket, or the reason why it waits.
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

/// Waits for the next update of the ticket; never completes without one.
pub(super) async fn next_ticket_update(
    seeking: &mut Option<Box<PendingTicket>>,
) -> live_store::TicketUpdate {
    match seeking {
        // Boxed, because nearly all connections wait without a ticket.
        Some(seeking) => Box::pin(seeking.updates.next()).await,
        None => std::future::pending().await,
    }
}

/// Returns the message for a player's news; `None` if they are others'. A client is led to its table
/// of a tournament as to any other: by a ticket that has been seated.
pub(super) fn news_message(
    news: &PlayerNews,
    player: PlayerId,
    state: &PlayState,
) -> Option<Message<AnyGame>> {
    let message = match news {
        PlayerNews::Invitation(Invitation { code, from, name, game }) => {
            Message::Invited { code: code.clone(), from: *from, name: name.clone(), game: *game }
        }
        PlayerNews::TournamentTable { table } => Message::Ticket {
            ticket: TicketId(table.0),
            state: SeekState::Seated,
            rooms: vec![TOURNAMENT_ROOM.to_owned()],
            table: Some(*table),
            reason: None,
            expires_at_ms: state.lobby.tables().clock().now(),
        },
        PlayerNews::Standings { tournament, entrants, rows } => {
            let row = rows.iter().find(|row| row.player == player)?;
            Message::Standing {
                tournament: *tournament,
                rank: row.rank,
                score: row.score,
                tie_break: row.tie_break,
                entrants: *entrants,
            }
        }
    };
    Some(message)
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
