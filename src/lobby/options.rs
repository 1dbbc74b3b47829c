//! The settings of the lobby: separation of players, waits after no-shows, and the limits of
//! private tables, practice tables and house bots.

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::PrivateTerms;

use crate::ledger::allowance::Allowance;

use super::conflict_keys::ConflictSecret;
use super::{NotReadyWaits, Room};

/// The settings of a [`super::Lobby`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Keeps players of one network apart in rooms with a bet above `same_network_bet_max`.
    pub separate_same_network: bool,
    /// The highest bet, multiplied, at which players of one network may meet, because mobile
    /// carriers put many unrelated players behind one address.
    pub same_network_bet_max: Coins,
    /// Requires an open socket for a seat or a ticket.
    pub socket_required: bool,
    /// The waits after no-shows.
    pub not_ready_waits: NotReadyWaits,
    /// The beginning of an invitation link, as in `https://play.example/join`; the code follows a
    /// slash.
    pub invite_base: String,
    pub conflict_secret: ConflictSecret,
    /// The time without seated players after which a private table ends (rule 7.4).
    pub private_ends_after: Duration,
    /// The limits on winnings at private tables. The ledger has to be started with the same value.
    pub allowance: Allowance,
    /// The maximum number of practice tables in the house.
    pub practice_tables: u16,
    /// The number of house bots. With zero, players wait for each other.
    pub bots: u16,
    /// The waiting time after which bots join.
    pub bots_after: Duration,
    /// The most that all bots together may lose in 24 hours.
    pub bots_day_max: Coins,
    /// The highest bet, multiplied, at which bots play at private tables.
    pub private_bots_bet_max: Coins,
}

impl Options {
    /// Returns true if players of one network are kept apart in a room.
    pub fn keeps_networks_apart(&self, room: &Room) -> bool {
        let price = &room.terms().price;
        let bet = price.bet.checked_mul(price.multiplier);
        self.separate_same_network && bet.is_none_or(|bet| bet > self.same_network_bet_max)
    }
}

impl Default for Options {
    /// Returns settings that keep nobody apart, for tests of other features.
    fn default() -> Self {
        Self {
            separate_same_network: false,
            same_network_bet_max: Coins::ZERO,
            socket_required: false,
            not_ready_waits: NotReadyWaits::default(),
            invite_base: "http://127.0.0.1:8080/join".to_owned(),
            conflict_secret: ConflictSecret::default(),
            private_ends_after: Duration::from_millis(PrivateTerms::default().ends_after_ms.into()),
            allowance: Allowance::default(),
            practice_tables: 1_000,
            bots: 0,
            bots_after: Duration::from_secs(15),
            bots_day_max: BOTS_DAY_MAX,
            private_bots_bet_max: PRIVATE_BOTS_BET_MAX,
        }
    }
}

/// The default of [`Options::bots_day_max`].
const BOTS_DAY_MAX: Coins = Coins::from_hundredths(20_000 * 100);

/// The default of [`Options::private_bots_bet_max`].
const PRIVATE_BOTS_BET_MAX: Coins = Coins::from_hundredths(10 * 100);
