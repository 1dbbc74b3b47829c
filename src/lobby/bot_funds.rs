//! Grants of coins to bots that join a table, within the purse of the house (`bot_purse`).
//!
//! Any node may grant coins: the matcher that holds the lease, for its rooms, and each node at
//! which the host of a private table asks for bots. A grant reads the purse and posts the operation
//! under one lock, so that no two grants spend the same coins.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, Timestamp};

use crate::clock;
use crate::entropy;
use crate::ledger::{AMOUNT_MAX, Grant, GrantCoins};

use super::bot_purse::{BotPurse, PursePurpose};
use super::bots::BotLocations;
use super::{Lobby, LobbyError, Room, check_wallet};

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

impl Lobby {
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
        match check_wallet(room, available) {
            Ok(()) => Ok(true),
            Err(LobbyError::TooFewCoins { needed }) => {
                let most = room.wallet_max().unwrap_or(AMOUNT_MAX);
                let wanted = WantedFunds { least: needed, most, purpose: PursePurpose::Rooms };
                let funding = self.fund_bot(now, player, wanted).await?;
                // The purse is read again before the next grant.
                locations.purse = None;
                locations.is_purse_empty |= funding == Funding::Empty;
                Ok(funding == Funding::Funded)
            }
            Err(_) => Ok(false),
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
        let coins = self.ledger.house_bot_coins(clock::subtract(now, PURSE_WINDOW)).await?;
        Ok(BotPurse::new(self.options.bots_day_max, coins, purpose))
    }
}
