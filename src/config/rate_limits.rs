//! The settings of the door: which pages, addresses and accounts are let in, and how often.

use std::time::Duration;

use clap::Args;

use crate::rate_limit;

/// Who is let in, and how often. All limits are those of one node.
#[derive(Args, Clone, Debug)]
pub struct RateLimitSettings {
    /// Whose pages may call from a browser, as in `https://play.example,https://m.example`; none
    /// by default. Apps name no origin and need none.
    #[arg(long, env = "BAHAY_ORIGINS", default_value = "", value_name = "ORIGINS")]
    pub origins: rate_limit::Origins,

    /// Proxies whose X-Forwarded-For is believed, as in 127.0.0.1,10.0.7.0/28.
    #[arg(long, env = "BAHAY_TRUSTED_PROXIES", default_value = "", value_name = "NETWORKS")]
    pub trusted_proxies: rate_limit::Proxies,

    /// For how many seconds browsers are to come by HTTPS alone (Strict-Transport-Security), where a
    /// trusted proxy says that they have come by it; 0 says nothing to them.
    #[arg(long, env = "BAHAY_HSTS_SECONDS", default_value_t = rate_limit::HSTS_SECONDS,
          value_name = "SECONDS")]
    pub hsts_seconds: u32,

    /// Seconds after which a connection ends on which nothing moves: longer than the proxy in front
    /// keeps one open.
    #[arg(long, env = "BAHAY_KEEP_ALIVE_SECONDS", default_value_t = rate_limit::KEEP_ALIVE_SECONDS,
          value_parser = clap::value_parser!(u16).range(15..=3600), value_name = "SECONDS")]
    pub keep_alive_seconds: u16,

    /// Connections of one address, whatever they ask for. Those of trusted proxies are not counted.
    #[arg(
        long,
        env = "BAHAY_CONNECTIONS_PER_ADDRESS",
        default_value_t = 256,
        value_name = "NUMBER"
    )]
    pub connections_per_address: u32,

    /// Open sockets of one address.
    #[arg(long, env = "BAHAY_SOCKETS_PER_ADDRESS", default_value_t = 64, value_name = "NUMBER")]
    pub sockets_per_address: u32,

    /// Sockets of one address that have not said yet who they are; each has 5 seconds.
    #[arg(long, env = "BAHAY_UNAUTHENTICATED_SOCKETS_PER_ADDRESS", default_value_t = 8, value_name = "NUMBER")]
    pub unauthenticated_sockets_per_address: u32,

    /// Sockets that an account may open: so many a second, so many at once.
    #[arg(long, env = "BAHAY_SOCKET_HANDSHAKES_PER_ACCOUNT", default_value = "3:12", value_name = "RATE")]
    pub socket_handshakes_per_account: rate_limit::Rate,

    /// Requests of one address.
    #[arg(
        long,
        env = "BAHAY_REQUESTS_PER_ADDRESS",
        default_value = "100:400",
        value_name = "RATE"
    )]
    pub requests_per_address: rate_limit::Rate,

    /// Requests of one account.
    #[arg(long, env = "BAHAY_REQUESTS_PER_ACCOUNT", default_value = "20:80", value_name = "RATE")]
    pub requests_per_account: rate_limit::Rate,

    /// Requests of one address that sign in or refresh.
    #[arg(long, env = "BAHAY_SIGN_INS_PER_ADDRESS", default_value = "2:60", value_name = "RATE")]
    pub sign_ins_per_address: rate_limit::Rate,
}

impl RateLimitSettings {
    /// As the door takes it.
    pub fn options(self) -> rate_limit::Options {
        let Self {
            origins,
            trusted_proxies: proxies,
            hsts_seconds,
            keep_alive_seconds,
            connections_per_address,
            sockets_per_address,
            unauthenticated_sockets_per_address,
            socket_handshakes_per_account,
            requests_per_address,
            requests_per_account,
            sign_ins_per_address,
        } = self;
        rate_limit::Options {
            origins,
            proxies,
            hsts_seconds,
            keep_alive: Duration::from_secs(keep_alive_seconds.into()),
            connections_per_address,
            sockets_per_address,
            unauthenticated_sockets_per_address,
            socket_handshakes_per_account,
            requests_per_address,
            requests_per_account,
            sign_ins_per_address,
            ..rate_limit::Options::default()
        }
    }
}
