//! The matcher, which carries out the placements of `engine::matchmaking`. Every node runs one; the
//! holder of the lease works, and the others try to acquire the lease in each round.
//!
//! A round first finishes the placements that an earlier round of any process has left unfinished.
//! Then it reads the waiting tickets and the tables with free seats, plans placements, and carries
//! out each: it places the tickets together, reserves seats and seats the players. Each step is
//! idempotent. After a rejection the ticket waits again; without an answer the ticket stays placed,
//! for the next round.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::game::SeatRange;
use bahay_engine::matchmaking::{
    self, OpenTable, Placement, PlacementTarget, RoomSet, Round, TicketId,
};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::entropy;
use crate::live_store::{JoinableTable, MatchingLease, StoredTicket, Unavailable, WaitReason};

use super::bots::Bots;
use super::take_seat::{NewOccupant, SeatOutcome};
use super::tickets::TicketRequest;
use super::{Lobby, LobbyError, Room};

/// The interval between two rounds.
const ROUND_INTERVAL: Duration = Duration::from_millis(150);

/// The maximum number of placements in one round, so that a round ends long before the lease. The
/// others are planned again in the next round.
const PLACEMENTS_MAX: usize = 256;

/// The number of rounds between two passes that provide companions: about a second. A pass follows
/// at once when a ticket reaches the waiting time for bots.
const COMPANIONS_EVERY: u64 = 7;

/// The number of rounds between two sweeps of bots' wallets.
const SWEEP_EVERY: u64 = 20;

/// The number of placements carried out concurrently.
const AT_ONCE: usize = 32;

/// The task that places tickets at tables while it holds the lease.
#[derive(Debug)]
pub struct Matcher {
    pub(super) lobby: Lobby,
    pub(super) bots: Bots,
    /// The name under which this matcher acquires the lease.
    holder: String,
    /// The waiting tickets with their requests, which do not change while they wait.
    tickets: HashMap<TicketId, (StoredTicket, TicketRequest)>,
    pub(super) turn: u64,
}

/// The tables with free seats that a round considers.
#[derive(Debug, Default)]
struct OpenTables {
    tables: Vec<OpenTable>,
    planned: BTreeMap<TableId, PlannedTable>,
}

/// A placement as it is stored, so that any matcher can finish it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlannedTable {
    room: String,
    pub(super) table: TableId,
}

impl PlannedTable {
    pub(super) fn new(room: &str, table: TableId) -> Self {
        Self { room: room.to_owned(), table }
    }
}

impl Matcher {
    pub fn new(lobby: Lobby) -> Self {
        let holder = entropy::uuid().to_string();
        Self { lobby, bots: Bots::default(), holder, tickets: HashMap::new(), turn: 0 }
    }

    /// Adds the bots of the house.
    #[must_use]
    pub fn with_bots(self, bots: Bots) -> Self {
        Self { bots, ..self }
    }

    /// Runs rounds until the server stops, then releases the lease so that another node continues
    /// at once.
    pub async fn run_until(mut self, mut stopping: watch::Receiver<bool>) {
        tokio::select! {
            () = self.run_rounds() => {}
            // The next holder of the lease finishes an interrupted round.
            _ = stopping.wait_for(|stop| *stop) => {}
        }
        if let Err(error) = self.release_lease().await {
            tracing::warn!(%error, "the matcher's lease could not be released; it expires");
        }
    }

    /// Releases the lease, so that another process continues at once.
    pub async fn release_lease(self) -> Result<(), Unavailable> {
        self.lobby.live.release_matching_lease(&self.holder).await
    }

    /// Runs rounds for as long as it is polled.
    pub async fn run(mut self) {
        self.run_rounds().await;
    }

    async fn run_rounds(&mut self) {
        let mut ticks = tokio::time::interval(ROUND_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_down = false;
        loop {
            ticks.tick().await;
            match self.run_round().await {
                Ok(_) => is_down = false,
                Err(error) => {
                    if !is_down {
                        tracing::error!(%error, "the matcher's rounds fail");
                    }
                    is_down = true;
                }
            }
        }
    }

    /// Runs one round. Returns the number of tickets placed; `None` if another process holds the
    /// lease.
    pub async fn run_round(&mut self) -> Result<Option<usize>, Unavailable> {
        let Some(held) = self.lobby.live.acquire_matching_lease(&self.holder).await? else {
            self.tickets.clear();
            return Ok(None);
        };
        self.turn = self.turn.wrapping_add(1);
        self.finish_placed(&held).await?;
        self.load_tickets(&held.waiting).await?;
        self.cancel_offline_tickets().await?;
        let rooms = self.lobby.rooms();
        let mut waiting = self.waiting_tickets(&rooms);
        let mut count = 0;
        if !waiting.is_empty() {
            let open = self.open_tables(&rooms, &waiting).await?;
            let plans = self.plan_placements(&held, &rooms, &open, &waiting);
            let chosen: HashSet<TicketId> =
                plans.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
            waiting.retain(|ticket| !chosen.contains(&ticket.id));
            if self.turn.is_multiple_of(COMPANIONS_EVERY) {
                self.publish_wait_reasons(&held, &rooms, &open, &waiting).await?;
            }
            let this = &*self;
            let held = &held;
            let placing = plans.into_iter().take(PLACEMENTS_MAX).map(|(planned, ids)| async move {
                this.place_tickets(held, &planned, &ids).await
            });
            let placed: Vec<usize> =
                stream::iter(placing).buffer_unordered(AT_ONCE).collect().await;
            count = placed.iter().sum();
        }
        if !self.bots.is_empty()
            && (self.bots.are_due(&waiting, held.now) || self.turn.is_multiple_of(COMPANIONS_EVERY))
        {
            self.provide_companions(&held, &rooms, waiting).await?;
        }
        if self.turn.is_multiple_of(SWEEP_EVERY) {
            self.sweep_bots().await;
        }
        Ok(Some(count))
    }

    /// Finishes the placements that earlier rounds left unfinished.
    async fn finish_placed(&self, held: &MatchingLease) -> Result<(), Unavailable> {
        if held.placed.is_empty() {
            return Ok(());
        }
        let ids: Vec<TicketId> = held.placed.keys().copied().collect();
        let tickets = self.lobby.live.matching_tickets(&ids).await?;
        let work = ids.into_iter().zip(tickets).map(|(id, ticket)| async move {
            let planned = held.placed.get(&id).and_then(|plan| serde_json::from_str(plan).ok());
            if let (Some(planned), Some(ticket)) = (planned, ticket)
                && let Ok(request) = TicketRequest::parse(&ticket)
            {
                self.seat_tickets(&planned, &[(&ticket, &request)]).await;
            }
        });
        stream::iter(work).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
        Ok(())
    }

    /// Loads new tickets, and drops those that no longer wait.
    async fn load_tickets(&mut self, waiting: &[TicketId]) -> Result<(), Unavailable> {
        let mut before = std::mem::take(&mut self.tickets);
        let mut new = Vec::new();
        for id in waiting {
            match before.remove(id) {
                Some(ticket) => {
                    self.tickets.insert(*id, ticket);
                }
                None => new.push(*id),
            }
        }
        for ticket in self.lobby.live.matching_tickets(&new).await?.into_iter().flatten() {
            match TicketRequest::parse(&ticket) {
                Ok(request) => {
                    self.tickets.insert(ticket.id, (ticket, request));
                }
                Err(error) => tracing::error!(%error, "a ticket is malformed"),
            }
        }
        Ok(())
    }

    /// Cancels and drops the tickets of players who no longer have an open socket.
    async fn cancel_offline_tickets(&mut self) -> Result<(), Unavailable> {
        let players: Vec<PlayerId> =
            self.tickets.values().map(|(ticket, _)| ticket.player).collect();
        let online = self.lobby.filter_online(&players).await?;
        let (online_tickets, offline_tickets): (HashMap<_, _>, HashMap<_, _>) =
            std::mem::take(&mut self.tickets)
                .into_iter()
                .partition(|(_, (ticket, _))| online.contains(&ticket.player));
        self.tickets = online_tickets;
        for (id, (ticket, _)) in offline_tickets {
            self.lobby.live.cancel_matching_ticket(id, ticket.player).await?;
        }
        Ok(())
    }

    /// Publishes the reasons for which tickets wait. A ticket waits because of its network alone if
    /// it would be placed without the separation of networks.
    async fn publish_wait_reasons(
        &self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        open: &OpenTables,
        waiting: &[matchmaking::Ticket],
    ) -> Result<(), Unavailable> {
        if !waiting.iter().any(|ticket| ticket.candidate.network.is_some()) {
            return Ok(());
        }
        let seats = group_sizes(rooms, waiting, held.now);
        let round = Round {
            seats: &seats,
            networks_apart: RoomSet::default(),
            tables: &open.tables,
            tickets: waiting,
            now: held.now,
            turn: self.turn,
        };
        let apart: HashSet<TicketId> =
            round.placements().into_iter().flat_map(|placement| placement.tickets).collect();
        let reason = |ticket: &matchmaking::Ticket| {
            let reason = apart.contains(&ticket.id).then_some(WaitReason::OnlySameNetwork);
            (ticket.id, reason)
        };
        let news: Vec<_> = waiting.iter().map(reason).collect();
        self.lobby.live.set_wait_reasons(&news).await
    }

    /// Returns the waiting tickets as the planner takes them.
    fn waiting_tickets(&self, rooms: &[Arc<Room>]) -> Vec<matchmaking::Ticket> {
        let places: BTreeMap<&str, usize> =
            rooms.iter().enumerate().map(|(place, room)| (room.id(), place)).collect();
        let ticket = |(ticket, request): &(StoredTicket, TicketRequest)| {
            let named = request.rooms.iter().filter_map(|room| places.get(room.as_str()).copied());
            matchmaking::Ticket {
                id: ticket.id,
                candidate: request.candidate(ticket.player),
                rooms: named.collect(),
                recent: request.recent.clone(),
                since: ticket.since,
            }
        };
        self.tickets.values().map(ticket).collect()
    }

    /// Returns the tables with free seats in rooms that a ticket names.
    async fn open_tables(
        &self,
        rooms: &[Arc<Room>],
        tickets: &[matchmaking::Ticket],
    ) -> Result<OpenTables, Unavailable> {
        let mut open_tables = OpenTables::default();
        for (place, room) in rooms.iter().enumerate() {
            let is_wanted = || tickets.iter().any(|ticket| ticket.rooms.contains(place));
            if !room.is_open() || !is_wanted() {
                continue;
            }
            for open in self.lobby.live.open_tables(room.id()).await? {
                let JoinableTable { table: id, has_pot, seats_free, companions } = open;
                open_tables.planned.insert(id, PlannedTable::new(room.id(), id));
                let table = OpenTable { id, room: place, seats_free, has_pot, companions };
                open_tables.tables.push(table);
            }
        }
        Ok(open_tables)
    }

    /// Returns the tickets to be placed at each table.
    fn plan_placements(
        &self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        open: &OpenTables,
        tickets: &[matchmaking::Ticket],
    ) -> Vec<(PlannedTable, Vec<TicketId>)> {
        let seats = group_sizes(rooms, tickets, held.now);
        let round = Round {
            seats: &seats,
            networks_apart: self.lobby.networks_apart(rooms),
            tables: &open.tables,
            tickets,
            now: held.now,
            turn: self.turn,
        };
        let plan = |placement: Placement| {
            let planned = match placement.target {
                PlacementTarget::ExistingTable(table) => open.planned.get(&table)?.clone(),
                PlacementTarget::NewTable { room } => {
                    PlannedTable::new(rooms.get(room)?.id(), TableId(entropy::uuid()))
                }
            };
            Some((planned, placement.tickets))
        };
        round.placements().into_iter().filter_map(plan).collect()
    }

    /// Carries out one placement. Returns the number of tickets that it placed.
    pub(super) async fn place_tickets(
        &self,
        held: &MatchingLease,
        planned: &PlannedTable,
        ids: &[TicketId],
    ) -> usize {
        let Ok(plan) = serde_json::to_string(planned) else {
            return 0;
        };
        let table = planned.table;
        let placing =
            self.lobby.live.place_tickets(&self.holder, held.fence, ids, table, &plan).await;
        match placing {
            Ok(true) => {}
            // A ticket was cancelled, or this process has lost the lease.
            Ok(false) => return 0,
            Err(error) => {
                tracing::warn!(%error, "the outcome of a placement is unknown");
                return 0;
            }
        }
        let tickets: Vec<(&StoredTicket, &TicketRequest)> = ids
            .iter()
            .filter_map(|id| self.tickets.get(id).map(|(ticket, request)| (ticket, request)))
            .collect();
        self.seat_tickets(planned, &tickets).await;
        ids.len()
    }

    /// Seats the players of placed tickets. A ticket whose player cannot be seated there waits
    /// again.
    async fn seat_tickets(
        &self,
        planned: &PlannedTable,
        tickets: &[(&StoredTicket, &TicketRequest)],
    ) {
        match self.lobby.prepare_table(planned, tickets).await {
            Ok(true) => {}
            Ok(false) => {
                for (ticket, _) in tickets {
                    self.finish_ticket(planned, ticket, None).await;
                }
                return;
            }
            Err(error) => {
                tracing::warn!(table = %planned.table, %error, "players could not be seated yet");
                return;
            }
        }
        for (ticket, request) in tickets {
            match self.lobby.seat_ticket(planned, ticket, request).await {
                Ok(seated) => self.finish_ticket(planned, ticket, seated).await,
                Err(error) => {
                    tracing::warn!(ticket = %ticket.id, %error, "a player could not be seated yet");
                }
            }
        }
    }

    async fn finish_ticket(
        &self,
        planned: &PlannedTable,
        ticket: &StoredTicket,
        seated: Option<TableId>,
    ) {
        let live = &self.lobby.live;
        let ended = live.finish_placing(ticket.id, ticket.player, planned.table, seated).await;
        if let Err(error) = ended {
            tracing::warn!(ticket = %ticket.id, %error, "a placement is not finished yet");
        }
    }
}

impl Lobby {
    /// Returns the set of rooms, by index, in which players of one network are kept apart.
    pub(super) fn networks_apart(&self, rooms: &[Arc<Room>]) -> RoomSet {
        let keeps_apart = |(_, room): &(usize, &Arc<Room>)| self.options.keeps_networks_apart(room);
        rooms.iter().enumerate().filter(keeps_apart).map(|(place, _)| place).collect()
    }

    /// Reserves the seats and creates the table. Returns false if the table no longer takes these
    /// players.
    async fn prepare_table(
        &self,
        planned: &PlannedTable,
        tickets: &[(&StoredTicket, &TicketRequest)],
    ) -> Result<bool, Unavailable> {
        let Some(room) = self.room(&planned.room).filter(|room| room.is_open()) else {
            return Ok(false);
        };
        let candidates: Vec<_> =
            tickets.iter().map(|(ticket, request)| request.candidate(ticket.player)).collect();
        let reserve = self.build_reservation(&room, &candidates);
        if !self.live.reserve_at_table(reserve, planned.table).await? {
            return Ok(false);
        }
        let terms = room.terms().clone();
        let revision = room.revision();
        self.tables.create_at_revision(planned.table, terms, revision).await?;
        Ok(true)
    }

    /// Seats the player of a placed ticket. Returns the table at which the player then sits, which
    /// may be another one; `None` if no seat is left.
    async fn seat_ticket(
        &self,
        planned: &PlannedTable,
        ticket: &StoredTicket,
        request: &TicketRequest,
    ) -> Result<Option<TableId>, LobbyError> {
        let player = ticket.player;
        let table = planned.table;
        if !self.filter_online(&[player]).await?.contains(&player) {
            self.live.unreserve(&planned.room, table, player).await?;
            return Ok(None);
        }
        let avatar = request.avatar.as_deref();
        let occupant = NewOccupant { player, name: &request.name, avatar, is_bot: false };
        let elsewhere = match self.take_seat(&occupant, table).await? {
            SeatOutcome::Seated => return Ok(Some(table)),
            SeatOutcome::NoSeat => None,
            // The player returns to the other table, if that claim lasts.
            SeatOutcome::BoundElsewhere => match self.seated_at(player).await {
                Ok(elsewhere) => elsewhere,
                Err(LobbyError::Seating | LobbyError::Halted | LobbyError::OtherVersion) => None,
                Err(error) => return Err(error),
            },
        };
        self.live.unreserve(&planned.room, table, player).await?;
        Ok(elsewhere)
    }
}
/// Returns the number of players who begin together at a new table of each room: the maximum of the
/// game, or as many as wait. Once a ticket has waited for a while it is the minimum of the game,
/// and later players take the free seats. Zero for a closed room.
fn group_sizes(rooms: &[Arc<Room>], tickets: &[matchmaking::Ticket], now: Timestamp) -> Vec<u8> {
    let size = |(place, room): (usize, &Arc<Room>)| {
        let SeatRange { least, most } = room.seats();
        if !room.is_open() {
            return 0;
        }
        if least == most {
            return most;
        }
        let waiting = || tickets.iter().filter(|ticket| ticket.rooms.contains(place));
        if waiting().any(|ticket| now.ms_since(ticket.since) >= matchmaking::REPEAT_MS) {
            return least;
        }
        u8::try_from(waiting().count()).unwrap_or(u8::MAX).clamp(least, most)
    };
    rooms.iter().enumerate().map(size).collect()
}
