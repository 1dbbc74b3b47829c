//! Tickets: a player names the rooms that will do, and waits until a table is found. The ticket is
//! in Redis, so it outlives the node that it came from, and the connection as long as its player has
//! another open socket: a ticket without one is cancelled in the next round.

use std::time::Duration;

use bahay_engine::matchmaking::{BlockList, Companion, ConflictKey, TicketId};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::edge::Address;
use crate::entropy;
use crate::live_store::{StoredTicket, TicketState, Unavailable, WaitReason};
use crate::ratings::Bearing;

use super::{Lobby, LobbyError, admit};

/// How long a ticket waits.
pub const TICKET_LIFE: Duration = Duration::from_secs(120);

/// The most rooms that a ticket names.
pub const ROOMS_WANTED_MAX: usize = 8;

/// A ticket as its player sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub id: TicketId,
    pub state: TicketState,
    /// Any of these will do.
    pub rooms: Vec<String>,
    /// Where the player is seated.
    pub table: Option<TableId>,
    /// Why it waits although others do.
    pub reason: Option<WaitReason>,
    pub since: Timestamp,
    pub expires_at: Timestamp,
}

/// What is stored with a ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Wish {
    pub(super) name: String,
    #[serde(default)]
    pub(super) avatar: Option<String>,
    pub(super) rooms: Vec<String>,
    pub(super) rating: i32,
    pub(super) conflict_keys: Vec<ConflictKey>,
    #[serde(default)]
    pub(super) network: Option<ConflictKey>,
    #[serde(default)]
    pub(super) blocked: BlockList,
    pub(super) recent: Vec<PlayerId>,
}

impl Wish {
    pub(super) fn read(ticket: &StoredTicket) -> Result<Self, Unavailable> {
        let unreadable = |error| Unavailable::new(format!("ticket {}: {error}", ticket.id));
        serde_json::from_str(&ticket.body).map_err(unreadable)
    }

    pub(super) fn companion(&self, player: PlayerId) -> Companion {
        Companion {
            player,
            rating: self.rating,
            conflict_keys: self.conflict_keys.clone(),
            network: self.network,
            blocked: self.blocked.clone(),
        }
    }
}

impl Lobby {
    /// Asks for a table in any of these rooms. A player has one ticket at a time: who has one that
    /// waits is given that one, and who sits somewhere a ticket that leads there at once.
    pub async fn seek(
        &self,
        player: PlayerId,
        rooms: &[String],
        from: Option<Address>,
    ) -> Result<Ticket, LobbyError> {
        self.let_in(player).await?;
        if !(1..=ROOMS_WANTED_MAX).contains(&rooms.len()) {
            return Err(LobbyError::RoomsWanted);
        }
        let wanted: Option<Vec<_>> = rooms.iter().map(|wanted| self.room(wanted)).collect();
        let wanted = wanted.ok_or(LobbyError::NoSuchRoom)?;
        // Ratings are by game, and a ticket has one.
        let kind = wanted[0].kind();
        if wanted.iter().any(|room| room.kind() != kind) {
            return Err(LobbyError::RoomsWanted);
        }
        let id = TicketId(entropy::uuid());
        if let Some(table) = self.seated_at(player).await? {
            return self.ticket_to(table).await;
        }
        let rooms = self.affordable(player, rooms).await?;
        self.require_socket(player).await?;
        let bearing = self.room_bearing(player, kind).await?;
        self.check_no_shows(player, &bearing, from).await?;
        let Companion { rating, conflict_keys, network, blocked, .. } =
            self.companion(player, &bearing, from);
        let Bearing { name, avatar, recent, .. } = bearing;
        let wish = Wish { name, avatar, rooms, rating, conflict_keys, network, blocked, recent };
        let body = serde_json::to_string(&wish);
        let body = body.map_err(|error| Unavailable::new(error.to_string()))?;
        let life_ms = u32::try_from(TICKET_LIFE.as_millis()).unwrap_or(u32::MAX);
        let stands = self.live.put_matching_ticket(id, player, &body, life_ms).await?;
        self.ticket(player, stands).await
    }

    /// Those of the rooms where the player may sit down.
    async fn affordable(
        &self,
        player: PlayerId,
        wanted: &[String],
    ) -> Result<Vec<String>, LobbyError> {
        let wallet = self.ledger.wallet(player).await?;
        let mut rooms = Vec::with_capacity(wanted.len());
        let mut refused = None;
        for wanted in wanted {
            let room = self.room(wanted).ok_or(LobbyError::NoSuchRoom)?;
            let admitted = match admit(&room, wallet.available) {
                _ if !room.is_open() => Err(LobbyError::RoomClosed),
                Ok(()) => self.known_well_enough(player, &room).await,
                Err(error) => Err(error),
            };
            match admitted {
                Ok(()) if rooms.contains(wanted) => {}
                Ok(()) => rooms.push(wanted.clone()),
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        match refused {
            Some(error) if rooms.is_empty() => Err(error),
            Some(_) | None => Ok(rooms),
        }
    }

    /// A ticket of this player.
    pub async fn ticket(&self, player: PlayerId, id: TicketId) -> Result<Ticket, LobbyError> {
        let stored = self.live.matching_ticket(id).await?;
        let stored = stored.filter(|stored| stored.player == player);
        let Some(stored) = stored else {
            return match self.seated_at(player).await? {
                Some(table) if table.0 == id.0 => self.ticket_to(table).await,
                Some(_) | None => Err(LobbyError::TicketUnknown),
            };
        };
        let rooms = Wish::read(&stored)?.rooms;
        let StoredTicket { id, state, table, reason, since, expires_at, .. } = stored;
        // Before the player sits there, a table is a plan.
        let table = table.filter(|_| state == TicketState::Seated);
        let reason = reason.filter(|_| state == TicketState::Waiting);
        Ok(Ticket { id, state, rooms, table, reason, since, expires_at })
    }

    /// The ticket of somebody who sits at a table and asks for one. It is stored nowhere: its id is
    /// that of the table, so that it can be asked for as long as the player sits there.
    async fn ticket_to(&self, table: TableId) -> Result<Ticket, LobbyError> {
        let copy = self.tables.look(table).await?.ok_or(LobbyError::Seating)?;
        let now = self.tables.clock().now();
        Ok(Ticket {
            id: TicketId(table.0),
            state: TicketState::Seated,
            rooms: vec![copy.terms().room.clone()],
            table: Some(table),
            reason: None,
            since: now,
            expires_at: now,
        })
    }

    /// Takes a ticket back, unless a table has been found.
    pub async fn cancel(&self, player: PlayerId, id: TicketId) -> Result<Ticket, LobbyError> {
        // Somebody else's is unknown.
        self.ticket(player, id).await?;
        match self.live.cancel_matching_ticket(id, player).await? {
            None => match self.seated_at(player).await? {
                Some(table) if table.0 == id.0 => Err(LobbyError::TicketMatched),
                Some(_) | None => Err(LobbyError::TicketUnknown),
            },
            Some(TicketState::Placed | TicketState::Seated) => Err(LobbyError::TicketMatched),
            Some(TicketState::Cancelled | TicketState::Expired | TicketState::Waiting) => {
                self.ticket(player, id).await
            }
        }
    }
}
