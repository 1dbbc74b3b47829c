//! House bots (rule 8.6): their locations, their seats, and grants of coins within the purse of the
//! house.
//!
//! Any node may grant coins: the matcher that holds the lease, for its rooms, and each node at
//! which the host of a private table asks for bots. A grant reads the purse and posts the operation
//! under one lock, so that no two grants spend the same coins.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{Input, PlayerId, TableId, Timestamp};
use bahay_shell::lobby::{BotPurse, BotTable, PursePurpose, SeatingEnd, WalletRefusal};
use futures_util::{StreamExt as _, stream};

use crate::clock;
use crate::entropy;
use crate::ledger::{AMOUNT_MAX, Grant, GrantCoins, HouseBotCoins};
use crate::live_store::{JoinableTable, SeatReservation};

use super::admission::check_room_wallet;
use super::seats::SeatRequest;
use super::{HouseBot, Lobby, LobbyError, Room};

/// The number of bots that are located concurrently.
const AT_ONCE: usize = 16;

/// The period over which losses of bots count against their purse.
const PURSE_WINDOW: Duration = Duration::from_hours(24);

/// The wallet that a bot needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedFunds {
    /// The minimum of the table.
    pub(super) least: Coins,
    /// The maximum of the table.
    pub(super) most: Coins,
    pub(super) purpose: PursePurpose,
}

/// The outcome of a request for coins for a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Funding {
    /// The bot has enough coins.
    Funded,
    /// Another grant to a bot holds the lock.
    Busy,
    /// The purse holds too little.
    Empty,
}

/// The locations of the bots.
#[derive(Debug, Default)]
pub(super) struct BotLocations {
    pub(super) free: Vec<HouseBot>,
    pub(super) tables: BTreeSet<TableId>,
    /// The coins that the house may still grant, once the purse was read.
    purse: Option<BotPurse>,
    /// A bot was not seated because the purse is empty.
    pub(super) is_purse_empty: bool,
}

impl Lobby {
    /// Looks up the tables of the house's bots.
    pub(super) async fn locate_bots(&self) -> BotLocations {
        let look = |bot: HouseBot| async move {
            let seated = self.seated_at(bot.player).await;
            (bot, seated)
        };
        let looking: Vec<_> = self.bots.iter().cloned().map(look).collect();
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

    /// Reads the tables of these rooms with bots that can leave, ordered by id.
    pub(super) async fn bot_tables(
        &self,
        rooms: &[Arc<Room>],
        tables: &BTreeSet<TableId>,
    ) -> Vec<BotTable> {
        let mut found = Vec::new();
        for id in tables {
            let Ok(Some(table)) = self.tables.read_table(*id).await else {
                continue;
            };
            let room = rooms.iter().position(|room| room.id() == table.terms().room);
            let staying = table.occupants().filter(|(_, occupant)| occupant.bot && !occupant.left);
            let bots: Vec<PlayerId> = staying.map(|(_, occupant)| occupant.player).collect();
            let (Some(room), false) = (room, bots.is_empty()) else {
                continue;
            };
            let Ok(mut companions) = self.live.companions(&table.terms().room, *id).await else {
                continue;
            };
            companions.retain(|one| self.bots.iter().all(|bot| bot.player != one.player));
            let is_running = table.phase().is_running();
            found.push(BotTable { table: *id, room, bots, companions, is_running });
        }
        found
    }

    /// Reserves the seat of a bot at a table without a running game, for a player who would
    /// otherwise open a table alone. The bot leaves first. Returns `None` if players wait at open
    /// tables or no bot can be replaced.
    pub(super) async fn replace_bot(
        &self,
        room: &Arc<Room>,
        player: &Candidate,
    ) -> Result<Option<TableId>, LobbyError> {
        if self.bots.is_empty() {
            return Ok(None);
        }
        let apart = self.options.keeps_networks_apart(room);
        let fits = |one: &Candidate| player.may_meet(one, apart);
        let are_companions =
            |open: &JoinableTable| !open.companions.is_empty() && open.companions.iter().all(fits);
        if self.live.open_tables(room.id()).await?.iter().any(are_companions) {
            return Ok(None);
        }
        let locations = self.locate_bots().await;
        for occupied in self.bot_tables(std::slice::from_ref(room), &locations.tables).await {
            let Some(bot) = occupied.replaceable_bot(player, apart) else {
                continue;
            };
            let table = occupied.table;
            let left = self.tables.submit(table, Input::Leave { player: bot }).await;
            let reserve = self.build_reservation(room, std::slice::from_ref(player));
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
        bot: &HouseBot,
    ) -> Result<bool, LobbyError> {
        let HouseBot { player, name, avatar } = bot;
        if !self.live.reserve_at_table(reserve, table).await? {
            return Ok(false);
        }
        let avatar = Some(avatar.as_str());
        let request =
            SeatRequest { player: *player, name, avatar, is_bot: true, reserve, room: None };
        let end = self.take_seat(table, &request).await?;
        Ok(matches!(end, SeatingEnd::Seated(_)))
    }

    /// Returns true if the purse covers the wallets that this many bots need in a room.
    pub(super) async fn can_fund(
        &self,
        now: Timestamp,
        room: &Room,
        bots: usize,
        locations: &mut BotLocations,
    ) -> bool {
        let purse = match locations.purse {
            Some(purse) => Ok(purse),
            None => self.read_purse(now, PursePurpose::Rooms).await,
        };
        match purse {
            Ok(purse) => {
                locations.purse = Some(purse);
                let covers = purse.covers(room.wallet_min(), bots);
                locations.is_purse_empty |= !covers;
                covers
            }
            Err(error) => {
                tracing::warn!(%error, "the purse of bots could not be read; bots join later");
                false
            }
        }
    }

    /// Grants a bot the coins that it needs in a room. Returns false if the bot holds more than the
    /// room's maximum, or if the purse is too small.
    pub(super) async fn fund_for_room(
        &self,
        now: Timestamp,
        room: &Room,
        player: PlayerId,
        locations: &mut BotLocations,
    ) -> Result<bool, LobbyError> {
        let available = self.ledger.wallet(player).await?.available;
        match check_room_wallet(room, available) {
            Ok(()) => Ok(true),
            Err(WalletRefusal::TooFewCoins { needed }) => {
                let most = room.wallet_max().unwrap_or(AMOUNT_MAX);
                let wanted = WantedFunds { least: needed, most, purpose: PursePurpose::Rooms };
                let funding = self.fund_bot(now, player, wanted).await?;
                // The purse is read again before the next grant.
                locations.purse = None;
                locations.is_purse_empty |= funding == Funding::Empty;
                Ok(funding == Funding::Funded)
            }
            Err(WalletRefusal::TooManyCoins { .. }) => Ok(false),
        }
    }

    /// Grants a bot the coins that it lacks, if the purse covers them.
    pub(super) async fn fund_bot(
        &self,
        now: Timestamp,
        player: PlayerId,
        wanted: WantedFunds,
    ) -> Result<Funding, LobbyError> {
        let Some(lock) = self.ledger.lock_bot_grants().await? else {
            return Ok(Funding::Busy);
        };
        let available = self.ledger.wallet(player).await?.available;
        if available >= wanted.least {
            return Ok(Funding::Funded);
        }
        let mut purse = self.read_purse(now, wanted.purpose).await?;
        let Some(amount) = purse.take_grant(wanted.least, available, wanted.most) else {
            return Ok(Funding::Empty);
        };
        // A grant whose answer is lost is repeated under another key: the bot then holds more
        // coins, and the ledger records both grants.
        let key = format!("{player}:{}", entropy::uuid());
        let grant = GrantCoins { player, grant: Grant::HouseBot, key, amount };
        self.ledger.grant(grant).await?;
        lock.release().await;
        Ok(Funding::Funded)
    }

    /// Reads the coins that the house may still grant its bots.
    pub(super) async fn read_purse(
        &self,
        now: Timestamp,
        purpose: PursePurpose,
    ) -> Result<BotPurse, LobbyError> {
        let since = clock::subtract(now, PURSE_WINDOW);
        let HouseBotCoins { lost, held } = self.ledger.house_bot_coins(since).await?;
        Ok(BotPurse::new(self.options.bots_day_max, lost, held, purpose))
    }
}
