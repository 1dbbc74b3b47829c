//! Matchmaking tickets: a player names acceptable rooms and waits until a table is found. A ticket
//! is stored in Redis. It outlives the node that created it, and the connection as long as its
//! player has another open socket: the matcher cancels a ticket without one in its next round.

use std::time::Duration;

use bahay_engine::matchmaking::{BlockList, Candidate, ConflictKey, TicketId};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::entropy;
use crate::live_store::{StoredTicket, TicketState, Unavailable, WaitReason};
use crate::rate_limit::Address;
use crate::ratings::MatchmakingProfile;

use crate::lobby::admission::check_room_wallet;
use crate::lobby::{Lobby, LobbyError};

/// The lifetime of a waiting ticket.
pub const TICKET_LIFE: Duration = Duration::from_secs(120);

/// The maximum number of rooms that a ticket names.
pub const TICKET_ROOMS_MAX: usize = 8;

/// A ticket as its player sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub id: TicketId,
    pub state: TicketState,
    /// The acceptable rooms.
    pub rooms: Vec<String>,
    /// The table at which the player is seated.
    pub table: Option<TableId>,
    /// The reason why the ticket waits although other players wait too.
    pub reason: Option<WaitReason>,
    pub since: Timestamp,
    pub expires_at: Timestamp,
}

/// The request of a player, stored as the body of its ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TicketRequest {
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

impl TicketRequest {
    pub(super) fn parse(ticket: &StoredTicket) -> Result<Self, Unavailable> {
        let unreadable = |error| Unavailable::new(format!("ticket {}: {error}", ticket.id));
        serde_json::from_str(&ticket.body).map_err(unreadable)
    }

    pub(super) fn candidate(&self, player: PlayerId) -> Candidate {
        Candidate {
            player,
            rating: self.rating,
            conflict_keys: self.conflict_keys.clone(),
            network: self.network,
            blocked: self.blocked.clone(),
        }
    }
}

impl Lobby {
    /// Creates a ticket for any of these rooms. A player has one ticket at a time: a waiting ticket
    /// is returned as it is, and a seated player gets a ticket that leads to its table at once.
    ///
    /// # Errors
    /// [`LobbyError::InvalidTicketRooms`] unless one to [`TICKET_ROOMS_MAX`] rooms of one game are
    /// named; otherwise the reason why the player may sit in none of them.
    pub async fn create_ticket(
        &self,
        player: PlayerId,
        rooms: &[String],
        from: Option<Address>,
    ) -> Result<Ticket, LobbyError> {
        self.check_not_banned(player).await?;
        if !(1..=TICKET_ROOMS_MAX).contains(&rooms.len()) {
            return Err(LobbyError::InvalidTicketRooms);
        }
        let wanted: Option<Vec<_>> = rooms.iter().map(|wanted| self.room(wanted)).collect();
        let wanted = wanted.ok_or(LobbyError::NoSuchRoom)?;
        // A ticket has one rating, and ratings are kept by game.
        let kind = wanted[0].kind();
        if wanted.iter().any(|room| room.kind() != kind) {
            return Err(LobbyError::InvalidTicketRooms);
        }
        let id = TicketId(entropy::uuid());
        if let Some(table) = self.seated_at(player).await? {
            return self.seated_ticket(table).await;
        }
        let rooms = self.filter_rooms(player, rooms).await?;
        self.require_socket(player).await?;
        let profile = self.room_profile(player, kind).await?;
        self.check_no_shows(player, &profile, from).await?;
        let Candidate { rating, conflict_keys, network, blocked, .. } =
            self.candidate(player, &profile, from);
        let MatchmakingProfile { name, avatar, recent, .. } = profile;
        let request =
            TicketRequest { name, avatar, rooms, rating, conflict_keys, network, blocked, recent };
        let body = serde_json::to_string(&request);
        let body = body.map_err(|error| Unavailable::new(error.to_string()))?;
        let life_ms = u32::try_from(TICKET_LIFE.as_millis()).unwrap_or(u32::MAX);
        let stored_id = self.live.put_matching_ticket(id, player, &body, life_ms).await?;
        self.ticket(player, stored_id).await
    }

    /// Returns the rooms in which the player may sit down, without duplicates, or the first refusal
    /// if there is none.
    async fn filter_rooms(
        &self,
        player: PlayerId,
        wanted: &[String],
    ) -> Result<Vec<String>, LobbyError> {
        let wallet = self.ledger.wallet(player).await?;
        let mut rooms = Vec::with_capacity(wanted.len());
        let mut refused = None;
        for wanted in wanted {
            let room = self.room(wanted).ok_or(LobbyError::NoSuchRoom)?;
            let admitted = match check_room_wallet(&room, wallet.available) {
                _ if !room.is_open() => Err(LobbyError::RoomClosed),
                Ok(()) => self.require_account(player, &room).await,
                Err(refusal) => Err(refusal.into()),
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

    /// Returns a ticket of this player.
    pub async fn ticket(&self, player: PlayerId, id: TicketId) -> Result<Ticket, LobbyError> {
        let stored = self.live.matching_ticket(id).await?;
        let stored = stored.filter(|stored| stored.player == player);
        let Some(stored) = stored else {
            return match self.seated_at(player).await? {
                Some(table) if table.0 == id.0 => self.seated_ticket(table).await,
                Some(_) | None => Err(LobbyError::TicketUnknown),
            };
        };
        let rooms = TicketRequest::parse(&stored)?.rooms;
        let StoredTicket { id, state, table, reason, since, expires_at, .. } = stored;
        // Until the player is seated, the table is only planned.
        let table = table.filter(|_| state == TicketState::Seated);
        let reason = reason.filter(|_| state == TicketState::Waiting);
        Ok(Ticket { id, state, rooms, table, reason, since, expires_at })
    }

    /// Returns the ticket of a seated player. It is not stored: its id is that of the table, so it
    /// can be read for as long as the player sits there.
    async fn seated_ticket(&self, table: TableId) -> Result<Ticket, LobbyError> {
        let copy = self.tables.read_table(table).await?.ok_or(LobbyError::Seating)?;
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

    /// Cancels a ticket, unless a table has been found.
    pub async fn cancel_ticket(
        &self,
        player: PlayerId,
        id: TicketId,
    ) -> Result<Ticket, LobbyError> {
        // Rejects a ticket of another player as unknown.
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
