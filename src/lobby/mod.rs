//! The lobby: rooms, seats in them at once, matchmaking tickets, private tables and practice
//! tables. The decisions are those of `bahay_shell::lobby`; this module performs their calls.
//!
//! A seat is reserved before the claim is taken, on every path to a table. A seat beside a player
//! with the same device, or, in rooms with a high bet, with the same network, is not reserved
//! (`conflict_keys`). The instant seat and the matcher therefore enforce the same separation, also
//! against each other. No seat is reserved for a player without an open socket (`online`), or for a
//! player that has to wait after a no-show (`admission`).
//!
//! `seats` seats players, `admission` decides who may sit down, `matching` places tickets and
//! seats house bots, `private` runs tables with codes, `practice` tables without coins,
//! `tournaments` tables of tournaments, and `room_counts` samples the players of the rooms for
//! metrics.

mod admission;
mod bots;
pub mod conflict_keys;
mod error;
mod matching;
mod online;
mod options;
mod player_news;
mod practice;
mod private;
mod room_counts;
mod seats;
mod tournaments;

use std::collections::BTreeMap;
use std::sync::Arc;

use bahay_engine::catalog::{self, AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::table::{Spectators, TableId, Terms, Timestamp};
use tokio::sync::Mutex;

use crate::accounts::Accounts;
use crate::ledger::Ledger;
use crate::ledger::allowance;
use crate::live_store::{LiveStore, OnlinePublisher, PlayingCount, Unavailable};
use crate::ratings::Ratings;
use crate::tables::Tables;

use matching::TicketWaiters;
use online::Online;

pub use crate::accounts::HouseBot;
pub use crate::rooms::{Catalog, Room, RoomError, RuleSetRequest, house_rooms};
pub use bahay_shell::lobby::{BotsUnavailable, InvalidWaits, NotReadyWaits, PRIVATE_BET_MAX};
pub use error::LobbyError;
pub use matching::{Matcher, TICKET_LIFE, TICKET_ROOMS_MAX, Ticket, TicketSubscription};
pub use online::OpenSocket;
pub use options::Options;
pub use player_news::{Invitation, PlayerNews};
pub use private::{
    CODE_LENGTH, FinishedGame, PRIVATE_TABLES_MAX, PrivateSeat, PrivateTableRequest, PrivateView,
    REMATCH_WITHIN, Rematch,
};
pub use room_counts::RoomCounts;
pub use seats::RoomSeat;
pub use tournaments::{TournamentCandidate, TournamentTable};

/// The time in milliseconds for which the counts of [`Lobby::playing_counts`] are cached.
const PLAYING_COUNTS_MS: u64 = 1_000;

/// The services and settings that a lobby needs.
#[derive(Clone, Debug)]
pub struct LobbyParts {
    pub rooms: Catalog,
    pub tables: Tables<AnyGame>,
    pub live: LiveStore,
    pub ledger: Ledger,
    /// The source of bans, account states and deletions.
    pub accounts: Accounts,
    /// The source of matchmaking profiles.
    pub ratings: Ratings,
    /// The bots of the house.
    pub bots: Arc<[HouseBot]>,
    pub options: Options,
}

/// A handle to the rooms and to the operations that seat players in them. Clones share everything.
#[derive(Clone, Debug)]
pub struct Lobby {
    rooms: Catalog,
    tables: Tables<AnyGame>,
    live: LiveStore,
    ledger: Ledger,
    accounts: Accounts,
    ratings: Ratings,
    bots: Arc<[HouseBot]>,
    options: Arc<Options>,
    waiters: TicketWaiters,
    online: Online,
    online_publisher: OnlinePublisher,
    playing_counts: Arc<Mutex<PlayingCounts>>,
}

/// A table that may be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchableTable {
    pub table: TableId,
    pub room: String,
    /// The number of players at the table.
    pub players: u8,
    pub seats: u8,
}

#[derive(Debug, Default)]
struct PlayingCounts {
    at: Timestamp,
    by_room: BTreeMap<String, PlayingCount>,
}

impl Lobby {
    pub fn new(parts: LobbyParts) -> Self {
        let LobbyParts { rooms, tables, live, ledger, accounts, ratings, bots, options } = parts;
        let online = Online::new();
        Self {
            online_publisher: online.publisher(&live),
            online,
            rooms,
            tables,
            live,
            ledger,
            accounts,
            ratings,
            bots,
            options: Arc::new(options),
            waiters: TicketWaiters::default(),
            playing_counts: Arc::default(),
        }
    }

    pub fn rooms(&self) -> Arc<[Arc<Room>]> {
        self.rooms.rooms()
    }

    pub fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms.room(id)
    }

    /// Returns the catalogue through which operators change rooms.
    pub fn catalog(&self) -> &Catalog {
        &self.rooms
    }

    /// Returns the bots of the house, in an order that is the same on all nodes.
    pub fn house_bots(&self) -> &[HouseBot] {
        &self.bots
    }

    /// Returns the tables that the rooms lead to.
    pub fn tables(&self) -> &Tables<AnyGame> {
        &self.tables
    }

    /// Returns the number of players and tables in each room, at most a second old.
    pub async fn playing_counts(&self) -> Result<BTreeMap<String, PlayingCount>, Unavailable> {
        let mut playing_counts = self.playing_counts.lock().await;
        let now = self.tables.clock().now();
        let is_good = !playing_counts.by_room.is_empty()
            && now.ms_since(playing_counts.at) < PLAYING_COUNTS_MS;
        if !is_good || now < playing_counts.at {
            let mut by_room = BTreeMap::new();
            for room in self.rooms.rooms().iter() {
                by_room.insert(room.id().to_owned(), self.live.playing_count(room.id()).await?);
            }
            *playing_counts = PlayingCounts { at: now, by_room };
        }
        Ok(playing_counts.by_room.clone())
    }

    /// Returns the tables of a room that may be watched, ordered by id. The list is empty for a
    /// room without spectators.
    pub async fn watchable_tables(&self, room: &str) -> Result<Vec<WatchableTable>, LobbyError> {
        let room = self.room(room).ok_or(LobbyError::NoSuchRoom)?;
        if room.terms().spectators == Spectators::Nobody {
            return Ok(Vec::new());
        }
        let mut tables = self.live.occupied_tables(room.id()).await?;
        tables.sort_unstable();
        let seats = room.seats().most;
        let room = room.id();
        let watchable =
            |(table, players)| WatchableTable { table, room: room.to_owned(), players, seats };
        Ok(tables.into_iter().map(watchable).collect())
    }

    /// Announces changed terms of rooms to the tables as soon as this node learns of them. Runs for
    /// as long as it is polled.
    pub async fn follow_rooms(self) {
        let mut changes = self.rooms.subscribe_changes();
        while changes.changed().await.is_ok() {
            self.tables.update_terms().await;
        }
    }
}

/// Returns the name of the first rule set of a game; `None` for an unknown one.
fn first_rule_set(kind: &str) -> Option<&'static str> {
    catalog::find_kind(kind)?.rule_sets.first().map(|set| set.name)
}

/// Returns the most that a game under these terms can win for one seat, given the coins in the POT
/// before its antes; `None` if the amount exceeds 64 bits.
pub fn max_winnings(terms: &Terms<AnyRules>, pot: Coins) -> Option<Coins> {
    let seats = terms.rules.seats().most;
    let antes = terms.ante()?.checked_mul(u32::from(seats))?;
    let stake = terms.stake_max(seats)?;
    let others = (1..seats).map(|_| stake);
    Some(allowance::max_gain(others, pot.checked_add(antes)?))
}
