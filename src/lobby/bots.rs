//! House bots (rule 8.6), seated by the matcher that holds the lease if players have waited so long
//! that a game with a bot is better than none. A table chooses its bots' actions by itself, on any
//! node, so a game does not depend on this module once it runs.
//!
//! About once a second, and as soon as a ticket has waited long enough:
//!
//! - Free seats beside players who have waited long at a table are filled with tickets, then with
//!   bots.
//! - Players who have waited long with tickets are seated together, fewer than a table takes, and
//!   bots beside them.
//! - For each ticket that still waits, one bot at a table that fits its player is asked to leave,
//!   which it does after the game.
//!
//! Ratings keep no players apart where a bot would join. The state that is kept between these
//! passes is stored beside the tickets, and is loaded by the next matcher that acquires the lease.
//!
//! A player who asks for a seat at once replaces a bot if no player waits and a table with a bot is
//! between two games.
//!
//! A bot that sits nowhere holds no coins: it is granted coins when it joins a table, and the rest
//! is swept back afterwards, also from bots that no server uses any more. The coins that the house
//! grants and loses in a day are limited (`bot_funds`, `bot_purse`); beyond the limit no bot sits
//! down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::matchmaking::{
    self, Candidate, Round, Ticket, TicketId, WINDOW_MS, fits_candidate,
};
use bahay_engine::table::{Input, PlayerId, TableId, Timestamp};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};

use crate::entropy;
use crate::ledger::LedgerError;
use crate::live_store::{JoinableTable, MatchingLease, SeatReservation, Unavailable};

use super::bot_purse::BotPurse;
use super::matcher::{Matcher, PlannedTable};
use super::take_seat::{NewOccupant, SeatOutcome};
use super::{Lobby, LobbyError, Room};

/// The number of bots that are located concurrently.
const AT_ONCE: usize = 16;

/// The maximum number of tickets for which bots are asked to leave in one pass.
const LEAVE_REQUESTS_MAX: usize = 64;

/// The minimum interval between two log lines about an empty purse, in milliseconds.
const EMPTY_PURSE_LOGGED_MS: u64 = 10 * 60 * 1_000;

/// A house bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub player: PlayerId,
    pub name: String,
    pub avatar: String,
}

/// The bots of a house, and the matcher's state about companions.
#[derive(Debug, Default)]
pub struct Bots {
    bots: Arc<[Bot]>,
    players: BTreeSet<PlayerId>,
    after_ms: u64,
    /// The time of the last call of [`Bots::are_due`].
    checked_at: Timestamp,
    memory: MatcherMemory,
    /// The time of the last log line about an empty purse.
    empty_purse_logged: Option<Timestamp>,
    /// The fence of the lease under which `memory` was loaded, and its stored form.
    stored: (u64, String),
}

/// The state that is kept between two passes of [`Matcher::provide_companions`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct MatcherMemory {
    /// Tables at which players wait: the number of free seats, and the time since which it is that
    /// number.
    #[serde(rename = "lonely")]
    waiting_tables: BTreeMap<TableId, (u8, Timestamp)>,
    /// Tickets for which a bot was asked to leave.
    promised: BTreeSet<TicketId>,
}

/// The locations of the bots.
#[derive(Debug, Default)]
pub(super) struct BotLocations {
    pub(super) free: Vec<Bot>,
    tables: BTreeSet<TableId>,
    /// The coins that the house may still grant, once the purse was read.
    pub(super) purse: Option<BotPurse>,
    /// A bot was not seated because the purse is empty.
    pub(super) is_purse_empty: bool,
}

impl Bots {
    /// Creates bots that join players who have waited for `after`.
    pub fn new(bots: Vec<Bot>, after: Duration) -> Self {
        let players = bots.iter().map(|bot| bot.player).collect();
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        Self { bots: bots.into(), players, after_ms, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bots.is_empty()
    }

    pub(super) fn shared_list(&self) -> Arc<[Bot]> {
        self.bots.clone()
    }

    /// Returns true if one of these tickets reached the waiting time after the previous call.
    pub(super) fn are_due(&mut self, waiting: &[Ticket], now: Timestamp) -> bool {
        let before = std::mem::replace(&mut self.checked_at, now);
        let waited = |ticket: &Ticket, at: Timestamp| {
            at >= ticket.since && at.ms_since(ticket.since) >= self.after_ms
        };
        waiting.iter().any(|ticket| waited(ticket, now) && !waited(ticket, before))
    }

    /// Returns the tables at which players have waited long enough, and updates the state about all
    /// of them.
    fn take_long_waiting(
        &mut self,
        open: Vec<(Arc<Room>, JoinableTable)>,
        now: Timestamp,
    ) -> Vec<(Arc<Room>, JoinableTable)> {
        let mut before = std::mem::take(&mut self.memory.waiting_tables);
        let mut long = Vec::new();
        for (room, open) in open {
            if open.companions.iter().all(|one| self.players.contains(&one.player)) {
                continue;
            }
            let since = match before.remove(&open.table) {
                Some((seats_free, since)) if seats_free == open.seats_free => since,
                Some(_) | None => now,
            };
            self.memory.waiting_tables.insert(open.table, (open.seats_free, since));
            if now.ms_since(since) >= self.after_ms {
                long.push((room, open));
            }
        }
        long
    }
}

impl Matcher {
    /// Provides companions for players whom a round has not placed.
    pub(super) async fn provide_companions(
        &mut self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        waiting: Vec<Ticket>,
    ) -> Result<(), Unavailable> {
        if self.bots.stored.0 != held.fence {
            let stored = self.lobby.live.matching_memory().await?.unwrap_or_default();
            self.bots.memory = serde_json::from_str(&stored).unwrap_or_default();
            self.bots.stored = (held.fence, stored);
        }
        let kept = self.add_companions(held, rooms, waiting).await;
        let memory = serde_json::to_string(&self.bots.memory).unwrap_or_default();
        if memory != self.bots.stored.1 {
            self.lobby.live.store_matching_memory(&memory).await?;
            self.bots.stored.1 = memory;
        }
        kept
    }

    async fn add_companions(
        &mut self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        mut waiting: Vec<Ticket>,
    ) -> Result<(), Unavailable> {
        let mut open = Vec::new();
        for room in rooms {
            if !room.is_open() {
                continue;
            }
            let tables = self.lobby.live.open_tables(room.id()).await?;
            open.extend(tables.into_iter().map(|table| (room.clone(), table)));
        }
        let long = self.bots.take_long_waiting(open, held.now);
        let waits = |ticket: &TicketId| waiting.iter().any(|waiting| waiting.id == *ticket);
        self.bots.memory.promised.retain(waits);
        if long.is_empty() && waiting.is_empty() {
            return Ok(());
        }
        let mut locations = self.lobby.locate_bots(&self.bots.bots).await;
        for (room, open) in long {
            let people =
                open.companions.iter().find(|one| !self.bots.players.contains(&one.player));
            let rating = people.map_or(crate::ratings::INITIAL_RATING, |one| one.rating);
            let invited = self.seat_ticket_holders(held, rooms, &room, &open, &mut waiting).await;
            // Bots complete a table only up to the minimum of a game, and leave the other seats to
            // players.
            let here = u8::try_from(open.companions.len()).unwrap_or(u8::MAX);
            let lacking = room.seats().least.saturating_sub(here);
            let free = open.seats_free.min(lacking).saturating_sub(invited);
            self.fill_with_bots(held.now, &room, open.table, free, rating, &mut locations).await;
        }
        let waiting = self.group_tickets(held, rooms, waiting, &mut locations).await;
        if locations.is_purse_empty {
            self.log_empty_purse(held.now);
        }
        self.ask_bots_to_leave(held.now, rooms, &waiting, &locations).await;
        Ok(())
    }

    fn log_empty_purse(&mut self, now: Timestamp) {
        let logged = self.bots.empty_purse_logged;
        if logged.is_none_or(|logged| now.ms_since(logged) >= EMPTY_PURSE_LOGGED_MS) {
            self.bots.empty_purse_logged = Some(now);
            let max = self.lobby.options.bots_day_max;
            tracing::warn!(%max, "no bots are seated: with another one they could lose more than \
                BAHAY_BOTS_DAY_MAX_COINS in 24 hours");
        }
    }

    /// Seats players with tickets beside those who have waited long at a table. Returns the number
    /// of seats for which a ticket fits, whether or not its player was seated in this round.
    async fn seat_ticket_holders(
        &self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        room: &Room,
        open: &JoinableTable,
        waiting: &mut Vec<Ticket>,
    ) -> u8 {
        let place = rooms.iter().position(|one| one.id() == room.id());
        let apart = self.lobby.options.keeps_networks_apart(room);
        let mut companions = open.companions.clone();
        let mut invited = Vec::new();
        waiting.sort_by_key(|ticket| (ticket.since, ticket.id));
        for ticket in waiting.iter() {
            let is_full = invited.len() >= usize::from(open.seats_free);
            let wants = place.is_some_and(|place| ticket.rooms.contains(place));
            if !is_full
                && wants
                && companions.iter().all(|one| fits_candidate(ticket, one, apart, WINDOW_MS))
            {
                companions.push(ticket.candidate.clone());
                invited.push(ticket.id);
            }
        }
        if !invited.is_empty() {
            self.place_tickets(held, &PlannedTable::new(room.id(), open.table), &invited).await;
            waiting.retain(|ticket| !invited.contains(&ticket.id));
        }
        u8::try_from(invited.len()).unwrap_or(u8::MAX)
    }

    /// Seats players who have waited long together, as many as fit each other, and bots beside
    /// them. Returns the tickets that still wait.
    async fn group_tickets(
        &self,
        held: &MatchingLease,
        rooms: &[Arc<Room>],
        mut waiting: Vec<Ticket>,
        locations: &mut BotLocations,
    ) -> Vec<Ticket> {
        let is_tired = |ticket: &Ticket| held.now.ms_since(ticket.since) >= self.bots.after_ms;
        let most = rooms.iter().map(|room| room.seats().least).max().unwrap_or_default();
        let long_ago = Timestamp::from_ms(held.now.ms().saturating_sub_unsigned(WINDOW_MS));
        // Larger groups come first: another player of any rating is preferred to a bot.
        for size in (1..=most).rev() {
            if !waiting.iter().any(is_tired) {
                break;
            }
            let takes = |room: &Arc<Room>| room.is_open() && room.seats().least >= size;
            let seats: Vec<u8> =
                rooms.iter().map(|room| if takes(room) { size } else { 0 }).collect();
            let regardless = |ticket: &Ticket| {
                let since =
                    if is_tired(ticket) { ticket.since.min(long_ago) } else { ticket.since };
                Ticket { since, ..ticket.clone() }
            };
            let tickets: Vec<Ticket> = waiting.iter().map(regardless).collect();
            let now = held.now;
            let turn = self.turn;
            let networks_apart = self.lobby.networks_apart(rooms);
            let round =
                Round { seats: &seats, networks_apart, tables: &[], tickets: &tickets, now, turn };
            for placement in round.placements() {
                let matchmaking::PlacementTarget::NewTable { room } = placement.target else {
                    continue;
                };
                let Some(room) = rooms.get(room) else {
                    continue;
                };
                let is_one = |ticket: &&Ticket| placement.tickets.contains(&ticket.id);
                let group: Vec<&Ticket> = waiting.iter().filter(is_one).collect();
                let free_max = usize::from(room.seats().least - size);
                if !group.iter().any(|ticket| is_tired(ticket)) || locations.free.len() < free_max {
                    continue;
                }
                if free_max > 0 && !self.lobby.can_fund(held.now, room, free_max, locations).await {
                    continue;
                }
                let rating = group.first().map_or(0, |ticket| ticket.candidate.rating);
                let planned = PlannedTable::new(room.id(), TableId(entropy::uuid()));
                if self.place_tickets(held, &planned, &placement.tickets).await > 0 {
                    let count = room.seats().least - size;
                    self.fill_with_bots(held.now, room, planned.table, count, rating, locations)
                        .await;
                }
                waiting.retain(|ticket| !placement.tickets.contains(&ticket.id));
            }
        }
        waiting
    }

    /// Seats up to `count` bots at a table, as long as bots are free. They take the rating of the
    /// players there, so that ratings keep nobody away.
    async fn fill_with_bots(
        &self,
        now: Timestamp,
        room: &Room,
        table: TableId,
        count: u8,
        rating: i32,
        locations: &mut BotLocations,
    ) {
        for _ in 0..count {
            let Some(bot) = locations.free.pop() else {
                return;
            };
            let funded = self.lobby.fund_for_room(now, room, bot.player, locations).await;
            let candidates = [Candidate::new(bot.player, rating)];
            let reserve = self.lobby.build_reservation(room, &candidates);
            let seated = match funded {
                Ok(true) => self.lobby.seat_bot(reserve, table, &bot).await,
                Ok(false) => Ok(false),
                Err(error) => Err(error),
            };
            match seated {
                Ok(true) => {}
                // Another player took the seat, or the room does not admit this bot.
                Ok(false) => locations.free.insert(0, bot),
                Err(error) => {
                    tracing::warn!(%table, bot = %bot.player, %error, "a bot could not be seated");
                }
            }
        }
    }

    /// Asks bots to leave tables that would fit waiting players: one bot for each ticket, once.
    async fn ask_bots_to_leave(
        &mut self,
        now: Timestamp,
        rooms: &[Arc<Room>],
        waiting: &[Ticket],
        locations: &BotLocations,
    ) {
        let mut waiting: Vec<&Ticket> =
            waiting.iter().filter(|ticket| !self.is_promised(ticket)).collect();
        waiting.sort_by_key(|ticket| (ticket.since, ticket.id));
        waiting.truncate(LEAVE_REQUESTS_MAX);
        if waiting.is_empty() || locations.tables.is_empty() {
            return;
        }
        let mut tables = self.lobby.tables_with_bots(rooms, locations, &self.bots.players).await;
        for ticket in waiting {
            let waited_ms = now.ms_since(ticket.since);
            let fits = |room: usize, one: &Candidate| {
                let apart = rooms
                    .get(room)
                    .is_none_or(|room| self.lobby.options.keeps_networks_apart(room));
                fits_candidate(ticket, one, apart, waited_ms)
            };
            let found = tables.iter_mut().find_map(|(table, spot)| {
                let goes = ticket.rooms.contains(spot.room)
                    && spot.companions.iter().all(|one| fits(spot.room, one));
                Some((*table, spot.bots.pop().filter(|_| goes)?))
            });
            let Some((table, player)) = found else {
                continue;
            };
            self.bots.memory.promised.insert(ticket.id);
            // A rejected request means that the bot is leaving already or has left.
            if let Err(error) = self.lobby.tables().submit(table, Input::Leave { player }).await {
                tracing::debug!(%table, %error, "a bot could not leave its table");
            }
        }
    }

    fn is_promised(&self, ticket: &Ticket) -> bool {
        self.bots.memory.promised.contains(&ticket.id)
    }

    /// Sweeps the coins of bots that sit nowhere back to the house. Failures are retried in a later
    /// sweep.
    pub(super) async fn sweep_bots(&self) {
        let swept = async {
            for wallet in self.lobby.ledger.bots_with_coins().await? {
                if !matches!(self.lobby.seated_at(wallet.player).await, Ok(None)) {
                    continue;
                }
                match self.lobby.ledger.sweep(wallet).await {
                    // A matcher that held the lease before has seated the bot meanwhile.
                    Ok(()) | Err(LedgerError::Overdrawn { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        if let Err(error) = swept.await {
            tracing::warn!(%error, "the coins of bots could not be swept; the sweep is retried");
        }
    }
}

/// A table with bots that can leave.
#[derive(Debug)]
struct BotTable {
    /// The index of the table's room.
    room: usize,
    bots: Vec<PlayerId>,
    /// The players at the table beside the bots.
    companions: Vec<Candidate>,
    is_running: bool,
}

impl Lobby {
    /// Looks up the tables of these bots.
    pub(super) async fn locate_bots(&self, bots: &[Bot]) -> BotLocations {
        let look = |bot: Bot| async move {
            let seated = self.seated_at(bot.player).await;
            (bot, seated)
        };
        let looking: Vec<_> = bots.iter().cloned().map(look).collect();
        let found: Vec<_> = stream::iter(looking).buffer_unordered(AT_ONCE).collect().await;
        let mut locations = BotLocations::default();
        for (bot, seated) in found {
            match seated {
                Ok(None) => locations.free.push(bot),
                Ok(Some(table)) => {
                    locations.tables.insert(table);
                }
                // The bot is being seated, sits at a halted table, or cannot be located now.
                Err(_) => {}
            }
        }
        locations
    }

    async fn tables_with_bots(
        &self,
        rooms: &[Arc<Room>],
        locations: &BotLocations,
        bots: &BTreeSet<PlayerId>,
    ) -> BTreeMap<TableId, BotTable> {
        let mut tables = BTreeMap::new();
        for id in &locations.tables {
            let Ok(Some(table)) = self.tables.read_table(*id).await else {
                continue;
            };
            let room = rooms.iter().position(|room| room.id() == table.terms().room);
            let staying = table.occupants().filter(|(_, occupant)| occupant.bot && !occupant.left);
            let staying: Vec<PlayerId> = staying.map(|(_, occupant)| occupant.player).collect();
            let (Some(room), false) = (room, staying.is_empty()) else {
                continue;
            };
            let Ok(mut companions) = self.live.companions(&table.terms().room, *id).await else {
                continue;
            };
            companions.retain(|one| !bots.contains(&one.player));
            let is_running = table.phase().is_running();
            tables.insert(*id, BotTable { room, bots: staying, companions, is_running });
        }
        tables
    }

    /// Reserves the seat of a bot at a table without a running game, for a player who would
    /// otherwise open a table alone. The bot leaves first. Returns `None` if players wait at open
    /// tables or no bot can be replaced.
    pub(super) async fn replace_bot(
        &self,
        room: &Arc<Room>,
        who: &Candidate,
    ) -> Result<Option<TableId>, LobbyError> {
        if self.bots.is_empty() {
            return Ok(None);
        }
        let apart = self.options.keeps_networks_apart(room);
        let fits = |one: &Candidate| who.may_meet(one, apart);
        let are_companions =
            |open: &JoinableTable| !open.companions.is_empty() && open.companions.iter().all(fits);
        if self.live.open_tables(room.id()).await?.iter().any(are_companions) {
            return Ok(None);
        }
        let players: BTreeSet<PlayerId> = self.bots.iter().map(|bot| bot.player).collect();
        let locations = self.locate_bots(&self.bots).await;
        let occupied =
            self.tables_with_bots(std::slice::from_ref(room), &locations, &players).await;
        for (table, BotTable { bots, companions, is_running, .. }) in occupied {
            let Some(player) = bots.last().filter(|_| !is_running && companions.iter().all(fits))
            else {
                continue;
            };
            let left = self.tables.submit(table, Input::Leave { player: *player }).await;
            let candidates = std::slice::from_ref(who);
            let reserve = self.build_reservation(room, candidates);
            if left.is_ok() && self.live.reserve_at_table(reserve, table).await? {
                return Ok(Some(table));
            }
        }
        Ok(None)
    }

    /// Seats a bot at a table, with a reservation for it alone. Returns false if no seat is
    /// available.
    pub(super) async fn seat_bot(
        &self,
        reserve: SeatReservation<'_>,
        table: TableId,
        bot: &Bot,
    ) -> Result<bool, LobbyError> {
        let player = bot.player;
        if !self.live.reserve_at_table(reserve, table).await? {
            return Ok(false);
        }
        let occupant =
            NewOccupant { player, name: &bot.name, avatar: Some(&bot.avatar), is_bot: true };
        match self.take_seat(&occupant, table).await? {
            SeatOutcome::Seated => Ok(true),
            SeatOutcome::BoundElsewhere | SeatOutcome::NoSeat => {
                self.live.unreserve(reserve.room, table, player).await?;
                Ok(false)
            }
        }
    }
}
