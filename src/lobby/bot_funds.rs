//! Grants of coins to bots that go to a table, within the purse of the house (`bot_purse`).
//!
//! Any node may grant: the matcher that holds the lease for its rooms, and whichever node a host of a
//! private table asks. A grant reads what is left and books under one lock, so that no two are
//! decided by the same coins.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, Timestamp};

use crate::clock;
use crate::entropy;
use crate::ledger::{AMOUNT_MAX, Grant, GrantCoins};

use super::bot_purse::{BotPurse, Purpose};
use super::bots::Spots;
use super::{Lobby, LobbyError, Room, admit};

/// Losses of bots count against their purse for so long.
const PURSE_WINDOW: Duration = Duration::from_hours(24);

/// The wallet that a bot is to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedFunds {
    /// The least that the table asks for.
    pub(super) least: Coins,
    /// The most that the table admits.
    pub(super) most: Coins,
    pub(super) purpose: Purpose,
}

/// The result of asking for coins for a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Funding {
    /// The bot has enough.
    Funded,
    /// Another grant to a bot is being made.
    Busy,
    /// Too little is left in the purse.
    Empty,
}

impl Lobby {
    /// Returns true if so many bots can be given what they need for a room.
    pub(super) async fn can_fund(
        &self,
        now: Timestamp,
        room: &Room,
        bots: usize,
        spots: &mut Spots,
    ) -> bool {
        let purse = match spots.purse {
            Some(purse) => Ok(purse),
            None => self.read_purse(now, Purpose::Rooms).await,
        };
        match purse {
            Ok(purse) => {
                spots.purse = Some(purse);
                let covers = purse.covers(room.wallet_min(), bots);
                spots.is_purse_empty |= !covers;
                covers
            }
            Err(error) => {
                tracing::warn!(%error, "bots come later");
                false
            }
        }
    }

    /// Gives a bot what it needs for a room. False when it has more than the room is for, or the
    /// house would give its bots more than it may.
    pub(super) async fn fund(
        &self,
        now: Timestamp,
        room: &Room,
        player: PlayerId,
        spots: &mut Spots,
    ) -> Result<bool, LobbyError> {
        let available = self.ledger.wallet(player).await?.available;
        match admit(room, available) {
            Ok(()) => Ok(true),
            Err(LobbyError::TooFewCoins { needed }) => {
                let most = room.wallet_max().unwrap_or(AMOUNT_MAX);
                let wanted = WantedFunds { least: needed, most, purpose: Purpose::Rooms };
                let funding = self.fund_bot(now, player, wanted).await?;
                // Read again before the next one.
                spots.purse = None;
                spots.is_purse_empty |= funding == Funding::Empty;
                Ok(funding == Funding::Funded)
            }
            Err(_) => Ok(false),
        }
    }

    /// Gives a bot what it lacks of a wallet, if the purse has it.
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
        // A grant whose answer is lost is given again: the bot has more then, and the ledger says
        // so.
        let key = format!("{player}:{}", entropy::uuid());
        let grant = GrantCoins { player, grant: Grant::HouseBot, key, amount };
        self.ledger.grant(grant).await?;
        lock.release().await;
        Ok(Funding::Funded)
    }

    /// Reads what the house may still give its bots.
    pub(super) async fn read_purse(
        &self,
        now: Timestamp,
        purpose: Purpose,
    ) -> Result<BotPurse, LobbyError> {
        let coins = self.ledger.house_bot_coins(clock::before(now, PURSE_WINDOW)).await?;
        Ok(BotPurse::new(self.options.bots_day_max, coins, purpose))
    }
}
