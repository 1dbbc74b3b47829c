//! The settings of a server: flag before environment before default, all known and checked before
//! anything starts. What is wrong with one is said in a line that tells what to do.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use bahay_engine::coins::Coins;
use clap::Args;
use sqlx::postgres::PgConnectOptions;

use crate::auth::{Signer, WeakSecret};

/// A setting that was given, and is not fit to serve with.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "BAHAY_SIGNING_SECRET is not set: give at least 32 random bytes, as from \
         `openssl rand -hex 32`, the same on every node"
    )]
    NoSecret,
    #[error(
        "BAHAY_SIGNING_SECRET {0}: give at least 32 random bytes, as from `openssl rand -hex 32`"
    )]
    WeakSecret(WeakSecret),
}

/// Where the database is. `bahay migrate` and `bahay serve` take it.
#[derive(Args, Clone, Debug)]
pub struct Database {
    /// PostgreSQL 15 or newer, as in postgres://bahay:PASSWORD@127.0.0.1:5432/bahay
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: PgConnectOptions,
}

/// Everything that `bahay serve` can be told.
#[derive(Args, Clone, Debug)]
pub struct Config {
    #[command(flatten)]
    pub database: Database,

    /// Redis 7 or newer, as in redis://127.0.0.1:6379 or redis+unix:///run/redis/redis.sock; of a
    /// Redis Cluster some nodes, as in redis+cluster://USER:PASSWORD@10.0.0.1:6379,10.0.0.2:6379
    #[arg(long, env = "REDIS_URL", hide_env_values = true, value_name = "URL")]
    pub redis_url: String,

    /// Address and port to listen on.
    #[arg(long, env = "BAHAY_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,

    /// Signs the tokens of players: at least 32 random bytes, the same on every node.
    #[arg(long, env = "BAHAY_SIGNING_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub signing_secret: Option<Secret>,

    /// Leads every key in Redis, so that several houses can share one.
    #[arg(long, env = "BAHAY_REDIS_PREFIX", default_value = "bahay", value_name = "PREFIX")]
    pub redis_prefix: String,

    /// Shards of live state. Fixed at installation: another number does not find the tables.
    #[arg(long, env = "BAHAY_SHARDS", default_value_t = 16, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub shards: u16,

    /// Connections to PostgreSQL. More than 8 for each 2 cores has not been seen to help.
    #[arg(long, env = "BAHAY_DATABASE_CONNECTIONS", default_value_t = 16, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub database_connections: u32,

    /// What a new player is given, in whole coins.
    #[arg(long, env = "BAHAY_WELCOME_COINS", default_value = "1000", value_name = "COINS")]
    pub welcome_coins: WholeCoins,

    /// Minutes from one check of the ledger to the next, across all nodes.
    #[arg(long, env = "BAHAY_LEDGER_CHECK_MINUTES", default_value_t = 60, value_name = "MINUTES",
          value_parser = clap::value_parser!(u16).range(1..=1440))]
    pub ledger_check_minutes: u16,

    /// What is logged: a level, or levels by module, as in info,bahay::ledger=debug
    #[arg(long, env = "RUST_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,

    /// Log JSON objects instead of lines for people.
    #[arg(long, env = "BAHAY_LOG_JSON")]
    pub log_json: bool,
}

impl Config {
    /// The signer of tokens, if the secret is fit for it.
    pub fn signer(&self) -> Result<Signer, ConfigError> {
        let secret = self.signing_secret.as_ref().ok_or(ConfigError::NoSecret)?;
        Signer::new(secret.0.as_bytes()).map_err(ConfigError::WeakSecret)
    }
}

/// A text that never shows itself.
#[derive(Clone)]
pub struct Secret(pub String);

impl FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// An amount that is given in whole coins.
#[derive(Clone, Copy, Debug)]
pub struct WholeCoins(pub Coins);

impl FromStr for WholeCoins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let coins: u32 = text.parse().map_err(|_| "give a whole number of coins".to_owned())?;
        Coins::from_whole(i64::from(coins)).map(Self).ok_or_else(|| "that is too much".to_owned())
    }
}
