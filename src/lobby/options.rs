//! The settings of the lobby: which players are kept apart, how long they wait, and the bounds of
//! private tables, practice tables and bots of the house.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::Private;

use crate::allowance::Allowance;

use super::{NotReadyWaits, Room};

/// How a house brings players together.
#[derive(Clone)]
pub struct Options {
    /// Two players from one network do not meet in rooms above `same_network_bet_max`.
    pub apart_by_address: bool,
    /// Up to this bet two players from one network may meet, because carriers of mobile phones put
    /// many strangers behind one address.
    pub same_network_bet_max: Coins,
    /// A seat or a ticket is for players with an open socket.
    pub socket_required: bool,
    /// How long players wait who were not ready for a game.
    pub not_ready_waits: NotReadyWaits,
    /// The beginning of an invitation's link, as in `https://play.example/join`; the code follows a slash.
    pub invite_base: String,
    /// Keeps what conflict keys are made of secret.
    pub conflict_secret: [u8; 32],
    /// How long nobody sits at a private table before it ends (rule 7.4).
    pub private_ends_after: Duration,
    /// The bounds of what a player wins at private tables. The ledger of the house is to be started with the
    /// same.
    pub allowance: Allowance,
    /// How many practice tables there may be in the house.
    pub practice_tables: u16,
    /// How many bots the house has; none, and players wait for each other.
    pub bots: u16,
    /// How long players have waited when bots come.
    pub bots_after: Duration,
    /// The most that all bots together may lose in 24 hours.
    pub bots_day_max: Coins,
    /// The highest bet, multiplied, at which bots play at private tables.
    pub private_bots_bet_max: Coins,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            apart_by_address,
            same_network_bet_max,
            socket_required,
            not_ready_waits,
            invite_base,
            conflict_secret: _,
            private_ends_after,
            allowance,
            practice_tables,
            bots,
            bots_after,
            bots_day_max,
            private_bots_bet_max,
        } = self;
        f.debug_struct("Options")
            .field("apart_by_address", apart_by_address)
            .field("same_network_bet_max", same_network_bet_max)
            .field("socket_required", socket_required)
            .field("not_ready_waits", not_ready_waits)
            .field("invite_base", invite_base)
            .field("private_ends_after", private_ends_after)
            .field("allowance", allowance)
            .field("practice_tables", practice_tables)
            .field("bots", bots)
            .field("bots_after", bots_after)
            .field("bots_day_max", bots_day_max)
            .field("private_bots_bet_max", private_bots_bet_max)
            .finish()
    }
}

impl Options {
    /// Returns whether players of one network do not meet in a room.
    pub fn keeps_networks_apart(&self, room: &Room) -> bool {
        let price = &room.terms().price;
        let bet = price.bet.checked_mul(price.multiplier);
        self.apart_by_address && bet.is_none_or(|bet| bet > self.same_network_bet_max)
    }
}

impl Default for Options {
    /// Everybody may meet, for tests of other things.
    fn default() -> Self {
        Self {
            apart_by_address: false,
            same_network_bet_max: Coins::ZERO,
            socket_required: false,
            not_ready_waits: NotReadyWaits::default(),
            invite_base: "http://127.0.0.1:8080/join".to_owned(),
            conflict_secret: [0; 32],
            private_ends_after: Duration::from_millis(Private::default().ends_after_ms.into()),
            allowance: Allowance::default(),
            practice_tables: 1_000,
            bots: 0,
            bots_after: Duration::from_secs(15),
            bots_day_max: BOTS_DAY_MAX,
            private_bots_bet_max: PRIVATE_BOTS_BET_MAX,
        }
    }
}

/// The most that all bots together may lose in 24 hours, if nothing else is set.
const BOTS_DAY_MAX: Coins = Coins::from_hundredths(20_000 * 100);

/// The highest bet at which bots play at private tables, if nothing else is set.
const PRIVATE_BOTS_BET_MAX: Coins = Coins::from_hundredths(10 * 100);
