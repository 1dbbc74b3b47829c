//! The settings of the way to a table.

use std::time::Duration;

use bahay_engine::coins::Coins;
use clap::Args;

use super::WholeCoins;
use crate::lobby;

/// How players are brought together.
#[derive(Args, Clone, Debug)]
pub struct LobbySettings {
    /// Keeps players from one network apart in rooms above BAHAY_SAME_NETWORK_BET_MAX.
    /// With false they meet everywhere.
    #[arg(
        long,
        env = "BAHAY_SEPARATE_SAME_NETWORK",
        default_value_t = true,
        action = clap::ArgAction::Set,
        value_name = "BOOL"
    )]
    pub separate_same_network: bool,

    /// Up to this bet, in coins, players from one network meet in rooms, because carriers of mobile
    /// phones put many strangers behind one address; 0: in no room.
    #[arg(long, env = "BAHAY_SAME_NETWORK_BET_MAX", default_value_t = 1, value_name = "COINS",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub same_network_bet_max: u32,

    /// How many seconds players wait for the next seat who took one and were not ready for its game:
    /// after the first time, the second and the third; 0 for no waits.
    #[arg(
        long,
        env = "BAHAY_NOT_READY_WAITS_S",
        default_value = "10,60,600",
        value_name = "SECONDS,SECONDS,SECONDS"
    )]
    pub not_ready_waits: lobby::NotReadyWaits,

    /// The beginning of the link to a private table; a slash and the table's code follow.
    #[arg(
        long,
        env = "BAHAY_INVITE_BASE",
        default_value = "http://127.0.0.1:8080/join",
        value_name = "URL"
    )]
    pub invite_base: String,

    /// How many practice tables there may be, where a player plays with bots and without coins; 0
    /// for none.
    #[arg(long, env = "BAHAY_PRACTICE_TABLES", default_value_t = 1_000, value_name = "NUMBER")]
    pub practice_tables: u16,

    /// How many bots the house has, for players who have waited long; 0 for none. The same on every
    /// node.
    #[arg(long, env = "BAHAY_BOTS", default_value_t = 0, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(..=1000))]
    pub bots: u16,

    /// How many seconds players have waited when bots come; 0: they come at once.
    #[arg(long, env = "BAHAY_BOTS_AFTER_S", default_value_t = 15, value_name = "SECONDS",
          value_parser = clap::value_parser!(u16).range(0..=100))]
    pub bots_after_s: u16,

    /// The most that all bots together may lose in 24 hours, in whole coins. Beyond it none comes.
    #[arg(long, env = "BAHAY_BOTS_DAY_MAX_COINS", default_value = "20000", value_name = "COINS")]
    pub bots_day_max_coins: WholeCoins,

    /// The highest bet, in coins and multiplied, at which bots play at private tables, whose host
    /// chooses who plays there; 0: at none.
    #[arg(long, env = "BAHAY_PRIVATE_BOTS_BET_MAX", default_value_t = 10, value_name = "COINS",
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub private_bots_bet_max: u32,
}

impl LobbySettings {
    /// As the lobby takes it.
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
