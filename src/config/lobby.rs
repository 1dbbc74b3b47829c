//! The settings of the lobby.

use std::time::Duration;

use bahay_engine::coins::Coins;
use clap::Args;

use super::WholeCoins;
use crate::lobby;

/// The settings of matchmaking, private tables, practice tables and bots.
#[derive(Args, Clone, Debug)]
pub struct LobbySettings {
    /// Separate players of one network in rooms above BAHAY_SAME_NETWORK_BET_MAX. With false they
    /// may meet in every room.
    #[arg(
        long,
        env = "BAHAY_SEPARATE_SAME_NETWORK",
        default_value_t = true,
        action = clap::ArgAction::Set,
        value_name = "BOOL"
    )]
    pub separate_same_network: bool,

    /// The highest bet, in coins, at which players of one network may meet in rooms, since mobile
    /// carriers put many players behind one address; 0: in no room.
    #[arg(long, env = "BAHAY_SAME_NETWORK_BET_MAX", default_value_t = 1, value_name = "COINS",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub same_network_bet_max: u32,

    /// Seconds for which a player who took a seat and was not ready for its game waits for the next
    /// seat: after the first, the second and the third time; 0 for no wait.
    #[arg(
        long,
        env = "BAHAY_NOT_READY_WAITS_S",
        default_value = "10,60,600",
        value_name = "SECONDS,SECONDS,SECONDS"
    )]
    pub not_ready_waits: lobby::NotReadyWaits,

    /// The prefix of links to private tables; a slash and the table's code follow.
    #[arg(
        long,
        env = "BAHAY_INVITE_BASE",
        default_value = "http://127.0.0.1:8080/join",
        value_name = "URL"
    )]
    pub invite_base: String,

    /// The most practice tables, at which a player plays with bots and without coins; 0 for none.
    #[arg(long, env = "BAHAY_PRACTICE_TABLES", default_value_t = 1_000, value_name = "NUMBER")]
    pub practice_tables: u16,

    /// The number of house bots for players who have waited long; 0 for none. The same on every
    /// node.
    #[arg(long, env = "BAHAY_BOTS", default_value_t = 0, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(..=1000))]
    pub bots: u16,

    /// Seconds that players wait until bots join; 0: they join at once.
    #[arg(long, env = "BAHAY_BOTS_AFTER_S", default_value_t = 15, value_name = "SECONDS",
          value_parser = clap::value_parser!(u16).range(0..=100))]
    pub bots_after_s: u16,

    /// The most that all bots together may lose in 24 hours, in whole coins. Beyond it no bot
    /// joins.
    #[arg(long, env = "BAHAY_BOTS_DAY_MAX_COINS", default_value = "20000", value_name = "COINS")]
    pub bots_day_max_coins: WholeCoins,

    /// The highest bet, in coins and multiplied, at which bots join private tables, whose host
    /// chooses the players; 0: at none.
    #[arg(long, env = "BAHAY_PRIVATE_BOTS_BET_MAX", default_value_t = 10, value_name = "COINS",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub private_bots_bet_max: u32,
}

impl LobbySettings {
    /// Returns the options for the lobby.
    pub fn options(self) -> lobby::Options {
        lobby::Options {
            separate_same_network: self.separate_same_network,
            same_network_bet_max: Coins::from_whole(self.same_network_bet_max.into())
                .unwrap_or(Coins::ZERO),
            socket_required: true,
            not_ready_waits: self.not_ready_waits,
            invite_base: self.invite_base,
            practice_tables: self.practice_tables,
            bots: self.bots,
            bots_after: Duration::from_secs(u64::from(self.bots_after_s)),
            bots_day_max: self.bots_day_max_coins.0,
            private_bots_bet_max: Coins::from_whole(self.private_bots_bet_max.into())
                .unwrap_or(Coins::ZERO),
            ..lobby::Options::default()
        }
    }
}
