//! The settings of rate limits by address and account, of origins and of proxies.

use std::time::Duration;

use clap::Args;

use crate::rate_limit;

/// The highest rate of commands, and the largest burst.
const COMMANDS_MAX: u32 = 1_000_000;

/// The limits of one node by address and account, its origins and its proxies.
#[derive(Args, Clone, Debug)]
pub struct RateLimitSettings {
    /// Origins whose pages may call the server from a browser, as in
    /// `https://play.example,https://m.example`; none by default. Apps send no origin and need
    /// none.
    #[arg(long, env = "BAHAY_ORIGINS", default_value = "", value_name = "ORIGINS")]
    pub origins: rate_limit::Origins,

    /// Proxies whose X-Forwarded-For is trusted, as in 127.0.0.1,10.0.7.0/28.
    #[arg(long, env = "BAHAY_TRUSTED_PROXIES", default_value = "", value_name = "NETWORKS")]
    pub trusted_proxies: rate_limit::Proxies,

    /// Seconds for which browsers use HTTPS only (Strict-Transport-Security), sent if a trusted
    /// proxy reports that the browser came by HTTPS; 0 omits the header.
    #[arg(long, env = "BAHAY_HSTS_SECONDS", default_value_t = rate_limit::HSTS_SECONDS,
          value_name = "SECONDS")]
    pub hsts_seconds: u32,

    /// Seconds after which an idle connection is closed: longer than the proxy in front keeps one
    /// open.
    #[arg(long, env = "BAHAY_KEEP_ALIVE_SECONDS", default_value_t = rate_limit::KEEP_ALIVE_SECONDS,
          value_parser = clap::value_parser!(u16).range(15..=3600), value_name = "SECONDS")]
    pub keep_alive_seconds: u16,

    /// Concurrent connections of one address. Those of trusted proxies are not limited.
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

    /// Sockets of one address that have not authenticated yet; each has 5 seconds to do so.
    #[arg(
        long,
        env = "BAHAY_UNAUTHENTICATED_SOCKETS_PER_ADDRESS",
        default_value_t = 8,
        value_name = "NUMBER"
    )]
    pub unauthenticated_sockets_per_address: u32,

    /// Socket handshakes of one account: a rate a second and a burst.
    #[arg(
        long,
        env = "BAHAY_SOCKET_HANDSHAKES_PER_ACCOUNT",
        default_value = "3:12",
        value_name = "RATE"
    )]
    pub socket_handshakes_per_account: rate_limit::Rate,

    /// Commands of one socket: a rate a second and a burst. Clients pace themselves by the default,
    /// so it can only be raised.
    #[arg(long, env = "BAHAY_COMMANDS_PER_SOCKET", default_value_t = rate_limit::COMMANDS_PER_SOCKET,
          value_parser = parse_command_rate, value_name = "RATE")]
    pub commands_per_socket: rate_limit::Rate,

    /// Requests of one address: a rate a second and a burst.
    #[arg(
        long,
        env = "BAHAY_REQUESTS_PER_ADDRESS",
        default_value = "100:400",
        value_name = "RATE"
    )]
    pub requests_per_address: rate_limit::Rate,

    /// Requests of one account: a rate a second and a burst.
    #[arg(long, env = "BAHAY_REQUESTS_PER_ACCOUNT", default_value = "20:80", value_name = "RATE")]
    pub requests_per_account: rate_limit::Rate,

    /// Sign-ins and refreshes of one address: a rate a second and a burst.
    #[arg(long, env = "BAHAY_SIGN_INS_PER_ADDRESS", default_value = "2:60", value_name = "RATE")]
    pub sign_ins_per_address: rate_limit::Rate,
}

impl RateLimitSettings {
    /// Returns the options for `rate_limit`.
    pub fn options(self) -> rate_limit::Options {
        rate_limit::Options {
            origins: self.origins,
            proxies: self.trusted_proxies,
            hsts_seconds: self.hsts_seconds,
            keep_alive: Duration::from_secs(self.keep_alive_seconds.into()),
            connections_per_address: self.connections_per_address,
            sockets_per_address: self.sockets_per_address,
            unauthenticated_sockets_per_address: self.unauthenticated_sockets_per_address,
            socket_handshakes_per_account: self.socket_handshakes_per_account,
            commands_per_socket: self.commands_per_socket,
            requests_per_address: self.requests_per_address,
            requests_per_account: self.requests_per_account,
            sign_ins_per_address: self.sign_ins_per_address,
            ..rate_limit::Options::default()
        }
    }
}

/// Reads the rate of a socket's commands, which is at least the default.
fn parse_command_rate(text: &str) -> Result<rate_limit::Rate, String> {
    let rate: rate_limit::Rate =
        text.parse().map_err(|error: rate_limit::ParseRateError| error.to_string())?;
    let least = rate_limit::COMMANDS_PER_SOCKET;
    let is_allowed = (least.per_second..=COMMANDS_MAX).contains(&rate.per_second)
        && (least.burst..=COMMANDS_MAX).contains(&rate.burst);
    let error = || format!("give a rate from {least} to {COMMANDS_MAX}:{COMMANDS_MAX}");
    is_allowed.then_some(rate).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::{RateLimitSettings, rate_limit};
    use crate::rate_limit::Rate;
    use clap::{Args as _, Command, FromArgMatches as _};

    fn read(arguments: &[&str]) -> Result<rate_limit::Options, clap::Error> {
        let command = RateLimitSettings::augment_args(Command::new("x"));
        let words = std::iter::once(&"x").chain(arguments);
        let settings = command.try_get_matches_from(words)?;
        Ok(RateLimitSettings::from_arg_matches(&settings)?.options())
    }

    #[test]
    fn the_default_rate_of_commands_is_that_of_the_options() {
        let rate = read(&[]).unwrap().commands_per_socket;
        assert_eq!(rate, rate_limit::Options::default().commands_per_socket);
    }

    #[test]
    fn the_rate_of_commands_can_only_be_raised() {
        let read = |rate: &str| read(&["--commands-per-socket", rate]);
        for (text, per_second, burst) in
            [("20:40", 20, 40), ("100:40", 100, 40), ("1000000:1000000", 1_000_000, 1_000_000)]
        {
            let rate = read(text).unwrap().commands_per_socket;
            assert_eq!(rate, Rate { per_second, burst }, "{text}");
        }
        for text in ["19:40", "20:39", "1000001:40", "20:1000001", "20", "0:0", ""] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
