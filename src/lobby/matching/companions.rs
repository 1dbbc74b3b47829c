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
//! A bot that sits nowhere holds no coins: it is granted coins when it joins a table, and the rest
//! is swept back afterwards, also from bots that no server uses any more. The coins that the house
//! grants and loses in a day are limited; beyond the limit no bot sits down.

use bahay_engine::matchmaking::{Candidate, Ticket};
use bahay_engine::table::{Input, TableId, Timestamp};
use bahay_shell::lobby::Companions;

use crate::entropy;
use crate::ledger::LedgerError;
use crate::live_store::{MatchingLease, Unavailable};
use crate::lobby::bots::BotLocations;
use crate::lobby::{Lobby, Room};
use crate::ratings::INITIAL_RATING;

use super::{Matcher, PlannedTable, RoundRooms};

/// The minimum interval between two log lines about an empty purse, in milliseconds.
const EMPTY_PURSE_LOGGED_MS: u64 = 10 * 60 * 1_000;

/// The decisions about companions, with the stored form of their memory.
#[derive(Debug)]
pub(super) struct CompanionPass {
    pub(super) decisions: Companions,
    /// The time of the last log line about an empty purse.
    empty_purse_logged: Option<Timestamp>,
    /// The fence of the lease under which the memory was loaded, and its stored form.
    stored: (u64, String),
}

impl CompanionPass {
    pub(super) fn new(lobby: &Lobby) -> Self {
        let after_ms = u64::try_from(lobby.options.bots_after.as_millis()).unwrap_or(u64::MAX);
        let bots = lobby.bots.iter().map(|bot| bot.player);
        let decisions = Companions::new(bots, after_ms);
        Self { decisions, empty_purse_logged: None, stored: (0, String::new()) }
    }
}

impl Matcher {
    /// Provides companions for players whom a round has not placed.
    pub(super) async fn provide_companions(
        &mut self,
        held: &MatchingLease,
        rooms: &RoundRooms,
        waiting: Vec<Ticket>,
    ) -> Result<(), Unavailable> {
        if self.companions.stored.0 != held.fence {
            let stored = self.lobby.live.matching_memory().await?.unwrap_or_default();
            self.companions.decisions.memory = serde_json::from_str(&stored).unwrap_or_default();
            self.companions.stored = (held.fence, stored);
        }
        let kept = self.add_companions(held, rooms, waiting).await;
        let memory = serde_json::to_string(&self.companions.decisions.memory).unwrap_or_default();
        if memory != self.companions.stored.1 {
            self.lobby.live.store_matching_memory(&memory).await?;
            self.companions.stored.1 = memory;
        }
        kept
    }

    async fn add_companions(
        &mut self,
        held: &MatchingLease,
        rooms: &RoundRooms,
        mut waiting: Vec<Ticket>,
    ) -> Result<(), Unavailable> {
        let now = held.now;
        let open = self.lobby.open_tables(rooms, |_| true).await?;
        let long = self.companions.decisions.take_long_waiting(open, &waiting, now);
        if long.is_empty() && waiting.is_empty() {
            return Ok(());
        }
        let mut locations = self.lobby.locate_bots().await;
        for open in long {
            let room = &rooms.rooms[open.room];
            let plan = &rooms.plan[open.room];
            let invited = Companions::fitting_tickets(plan, &open, &mut waiting);
            if !invited.is_empty() {
                self.place_tickets(held, &PlannedTable::new(room.id(), open.id), &invited).await;
                waiting.retain(|ticket| !invited.contains(&ticket.id));
            }
            let bots = Companions::missing_bots(plan, &open, invited.len());
            let rating = self.companions.decisions.rating_at(&open).unwrap_or(INITIAL_RATING);
            self.lobby.fill_with_bots(now, room, open.id, bots, rating, &mut locations).await;
        }
        for size in Companions::group_sizes(&rooms.plan) {
            let groups =
                self.companions.decisions.groups(&rooms.plan, &waiting, size, now, self.turn);
            for group in groups {
                let room = &rooms.rooms[group.room];
                let bots = usize::from(group.bots);
                if locations.free.len() < bots
                    || (bots > 0 && !self.lobby.can_fund(now, room, bots, &mut locations).await)
                {
                    continue;
                }
                let planned = PlannedTable::new(room.id(), TableId(entropy::uuid()));
                if self.place_tickets(held, &planned, &group.tickets).await > 0 {
                    let table = planned.table;
                    let count = group.bots;
                    let rating = group.rating;
                    let lobby = &self.lobby;
                    lobby.fill_with_bots(now, room, table, count, rating, &mut locations).await;
                }
                waiting.retain(|ticket| !group.tickets.contains(&ticket.id));
            }
        }
        if locations.is_purse_empty {
            self.log_empty_purse(now);
        }
        let is_wanted = self.companions.decisions.wants_bots_to_leave(&waiting);
        if !is_wanted || locations.tables.is_empty() {
            return Ok(());
        }
        let mut tables = self.lobby.bot_tables(&rooms.rooms, &locations.tables).await;
        let leaving =
            self.companions.decisions.leaving_bots(&rooms.plan, &waiting, &mut tables, now);
        for (table, player) in leaving {
            // A rejected request means that the bot is leaving already or has left.
            if let Err(error) = self.lobby.tables.submit(table, Input::Leave { player }).await {
                tracing::debug!(%table, %error, "a bot could not leave its table");
            }
        }
        Ok(())
    }

    fn log_empty_purse(&mut self, now: Timestamp) {
        let logged = self.companions.empty_purse_logged;
        if logged.is_none_or(|logged| now.ms_since(logged) >= EMPTY_PURSE_LOGGED_MS) {
            self.companions.empty_purse_logged = Some(now);
            let max = self.lobby.options.bots_day_max;
            tracing::warn!(%max, "no bots are seated: with another one they could lose more than \
                BAHAY_BOTS_DAY_MAX_COINS in 24 hours");
        }
    }
}

impl Lobby {
    /// Seats up to `count` bots at a table, as long as bots are free.
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
            let funded = self.fund_for_room(now, room, bot.player, locations).await;
            let candidates = [Candidate::new(bot.player, rating)];
            let reserve = self.build_reservation(room, &candidates);
            let seated = match funded {
                Ok(true) => self.seat_bot(reserve, table, &bot).await,
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

    /// Sweeps the coins of bots that sit nowhere back to the house. Failures are retried in a later
    /// sweep.
    pub(super) async fn sweep_bots(&self) {
        let swept = async {
            for wallet in self.ledger.bots_with_coins().await? {
                if !matches!(self.seated_at(wallet.player).await, Ok(None)) {
                    continue;
                }
                match self.ledger.sweep(wallet).await {
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
