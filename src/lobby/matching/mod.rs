//! The matcher, which carries out the placements of `engine::matchmaking`. Every node runs one; the
//! holder of the lease works, and the others try to acquire the lease in each round.
//!
//! A round first finishes the placements that an earlier round of any process has left unfinished.
//! Then it reads the waiting tickets and the tables with free seats, plans placements, and carries
//! out each: it places the tickets together, reserves seats and seats the players. Each step is
//! idempotent. After a rejection the ticket waits again; without an answer the ticket stays placed,
//! for the next round.

mod companions;
mod ticket_waiters;
mod tickets;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::matchmaking::{self, OpenTable, Placement, PlacementTarget, TicketId};
use bahay_engine::table::{PlayerId, TableId};
use bahay_shell::lobby::{MatchRoom, MatchRound, SeatingEnd};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::entropy;
use crate::live_store::{JoinableTable, MatchingLease, StoredTicket, Unavailable, WaitReason};

use super::seats::SeatRequest;
use super::{Lobby, LobbyError, Room};

use companions::CompanionPass;
use tickets::TicketRequest;

pub use ticket_waiters::TicketSubscription;
pub(super) use ticket_waiters::TicketWaiters;
pub use tickets::{TICKET_LIFE, TICKET_ROOMS_MAX, Ticket};

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
    lobby: Lobby,
    companions: CompanionPass,
    /// The name under which this matcher acquires the lease.
    holder: String,
    /// The waiting tickets with their requests, which do not change while they wait.
    tickets: HashMap<TicketId, (StoredTicket, TicketRequest)>,
    turn: u64,
}

/// The rooms of a round.
#[derive(Debug)]
struct RoundRooms {
    rooms: Arc<[Arc<Room>]>,
    /// The same rooms as the shell distinguishes them.
    plan: Vec<MatchRoom>,
}

/// A placement as it is stored, so that any matcher can finish it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlannedTable {
    room: String,
    table: TableId,
}

impl PlannedTable {
    fn new(room: &str, table: TableId) -> Self {
        Self { room: room.to_owned(), table }
    }
}

impl Matcher {
    pub fn new(lobby: Lobby) -> Self {
        let holder = entropy::uuid().to_string();
        let companions = CompanionPass::new(&lobby);
        Self { lobby, companions, holder, tickets: HashMap::new(), turn: 0 }
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
        let rooms = self.lobby.round_rooms();
        let mut waiting = self.waiting_tickets(&rooms);
        let mut count = 0;
        if !waiting.is_empty() {
            let is_wanted = |room| waiting.iter().any(|ticket| ticket.rooms.contains(room));
            let tables = self.lobby.open_tables(&rooms, is_wanted).await?;
            let round = MatchRound {
                rooms: &rooms.plan,
                tables: &tables,
                tickets: &[],
                now: held.now,
                turn: self.turn,
            };
            let placements = round.with_tickets(&waiting).placements();
            let chosen: HashSet<TicketId> =
                placements.iter().flat_map(|placement| placement.tickets.iter().copied()).collect();
            waiting.retain(|ticket| !chosen.contains(&ticket.id));
            if self.turn.is_multiple_of(COMPANIONS_EVERY) {
                self.publish_wait_reasons(&round.with_tickets(&waiting)).await?;
            }
            let plan = |Placement { target, tickets }: Placement| {
                Some((rooms.plan_table(target, &tables)?, tickets))
            };
            let plans = placements.into_iter().filter_map(plan).take(PLACEMENTS_MAX);
            let this = &*self;
            let held = &held;
            let placing = plans.map(|(planned, ids)| async move {
                this.place_tickets(held, &planned, &ids).await
            });
            let placed: Vec<usize> =
                stream::iter(placing).buffer_unordered(AT_ONCE).collect().await;
            count = placed.iter().sum();
        }
        let is_due = self.companions.decisions.are_due(&waiting, held.now);
        if !self.lobby.bots.is_empty() && (is_due || self.turn.is_multiple_of(COMPANIONS_EVERY)) {
            self.provide_companions(&held, &rooms, waiting).await?;
        }
        if self.turn.is_multiple_of(SWEEP_EVERY) {
            self.lobby.sweep_bots().await;
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
    async fn publish_wait_reasons(&self, round: &MatchRound<'_>) -> Result<(), Unavailable> {
        if !round.tickets.iter().any(|ticket| ticket.candidate.network.is_some()) {
            return Ok(());
        }
        let apart = round.kept_apart_by_network();
        let reason = |ticket: &matchmaking::Ticket| {
            let reason = apart.contains(&ticket.id).then_some(WaitReason::OnlySameNetwork);
            (ticket.id, reason)
        };
        let news: Vec<_> = round.tickets.iter().map(reason).collect();
        self.lobby.live.set_wait_reasons(&news).await
    }

    /// Returns the waiting tickets as the planner takes them.
    fn waiting_tickets(&self, rooms: &RoundRooms) -> Vec<matchmaking::Ticket> {
        let rooms = rooms.rooms.iter().enumerate();
        let places: BTreeMap<&str, usize> = rooms.map(|(place, room)| (room.id(), place)).collect();
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

    /// Carries out one placement. Returns the number of tickets that it placed.
    async fn place_tickets(
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

impl RoundRooms {
    /// Returns the table of a placement, which is a new one if it names a room.
    fn plan_table(&self, target: PlacementTarget, tables: &[OpenTable]) -> Option<PlannedTable> {
        let (room, table) = match target {
            PlacementTarget::ExistingTable(table) => {
                (tables.iter().find(|open| open.id == table)?.room, table)
            }
            PlacementTarget::NewTable { room } => (room, TableId(entropy::uuid())),
        };
        Some(PlannedTable::new(self.rooms.get(room)?.id(), table))
    }
}

impl Lobby {
    fn round_rooms(&self) -> RoundRooms {
        let rooms = self.rooms();
        let plan = |room: &Arc<Room>| MatchRoom {
            seats: room.seats(),
            is_open: room.is_open(),
            networks_apart: self.options.keeps_networks_apart(room),
        };
        RoundRooms { plan: rooms.iter().map(plan).collect(), rooms }
    }

    /// Returns the tables with free seats in open rooms that are wanted.
    async fn open_tables(
        &self,
        rooms: &RoundRooms,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<OpenTable>, Unavailable> {
        let mut open_tables = Vec::new();
        for (place, room) in rooms.rooms.iter().enumerate() {
            if !room.is_open() || !is_wanted(place) {
                continue;
            }
            for open in self.live.open_tables(room.id()).await? {
                let JoinableTable { table: id, has_pot, seats_free, companions } = open;
                open_tables.push(OpenTable { id, room: place, seats_free, has_pot, companions });
            }
        }
        Ok(open_tables)
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
        let is_online = self.filter_online(&[player]).await?.contains(&player);
        let Some(room) = self.room(&planned.room).filter(|_| is_online) else {
            self.live.unreserve(&planned.room, table, player).await?;
            return Ok(None);
        };
        let request = SeatRequest {
            player,
            name: &request.name,
            avatar: request.avatar.as_deref(),
            is_bot: false,
            reserve: self.build_reservation(&room, &[]),
            room: None,
        };
        match self.take_seat(table, &request).await? {
            SeatingEnd::Seated(table) => Ok(Some(table)),
            // The player returns to the other table, if that claim lasts.
            SeatingEnd::Busy => match self.seated_at(player).await {
                Ok(elsewhere) => Ok(elsewhere),
                Err(LobbyError::Seating | LobbyError::Halted | LobbyError::OtherVersion) => {
                    Ok(None)
                }
                Err(error) => Err(error),
            },
            SeatingEnd::Unseated
            | SeatingEnd::NoSeat
            | SeatingEnd::Halted
            | SeatingEnd::OtherVersion => Ok(None),
        }
    }
}
