//! The settings of PostgreSQL and Redis.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sqlx::postgres::PgConnectOptions;

use crate::live_store;

/// The timeout of a connection to Redis, and of each response.
const LIVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The database. All commands that use PostgreSQL take it.
#[derive(Args, Clone, Debug)]
pub struct Database {
    /// PostgreSQL 15 or newer, as in postgres://bahay:PASSWORD@127.0.0.1:5432/bahay; over a network
    /// with ?sslmode=verify-full, and with &sslrootcert=FILE for your own CA
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: PgConnectOptions,
}

/// The store of live state. `bahay serve` and `bahay table` take it.
#[derive(Args, Clone, Debug)]
pub struct LiveState {
    /// Redis 7 or newer, as in redis://127.0.0.1:6379 or redis+unix:///run/redis/redis.sock; for a
    /// Redis Cluster some of its nodes, as in
    /// redis+cluster://USER:PASSWORD@10.0.0.1:6379,10.0.0.2:6379. Over TLS as in
    /// rediss://redis.example:6379 and rediss+cluster://…
    #[arg(long, env = "REDIS_URL", hide_env_values = true, value_name = "URL")]
    pub redis_url: String,

    /// A PEM file with the certificate authorities for Redis over TLS; by default those that
    /// browsers trust.
    #[arg(long, env = "BAHAY_REDIS_ROOT_CERTIFICATE", value_name = "FILE")]
    pub redis_root_certificate: Option<PathBuf>,

    /// The prefix of every key in Redis, so that several installations can share one.
    #[arg(long, env = "BAHAY_REDIS_PREFIX", default_value = "bahay", value_name = "PREFIX")]
    pub redis_prefix: String,

    /// Shards of live state, fixed at installation: with another number the server does not find
    /// its tables.
    #[arg(long, env = "BAHAY_SHARDS", default_value_t = 16, value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub shards: u16,
}

impl LiveState {
    pub fn options(self) -> live_store::Options {
        live_store::Options {
            url: self.redis_url,
            root_certificate: self.redis_root_certificate,
            prefix: self.redis_prefix,
            shards: self.shards,
            connect_timeout: LIVE_TIMEOUT,
            response_timeout: LIVE_TIMEOUT,
        }
    }
}
