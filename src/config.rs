//! The settings of a server. A flag precedes the environment, which precedes the default; all
//! settings are parsed and checked before anything starts. The error of an invalid setting is one
//! line that names the remedy.

mod archive;
mod lobby;
mod rate_limits;
mod retention;
mod stores;

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use bahay_engine::coins::Coins;
use clap::Args;

use crate::accounts::{self, HashOptions};
use crate::auth::{SealingKeys, Signer, WeakSecretError};
use crate::grant_limits::GrantLimits;
use crate::ledger::allowance::Allowance;
use crate::openid::Issuers;
use crate::operators::AdjustmentBounds;
use crate::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use crate::rewards::{Calendar, ReliefTerms, STREAK_DAYS, Terms};
use crate::standings;
use crate::telemetry::Collector;
use crate::zone::Zone;

pub use archive::ArchiveSettings;
pub use lobby::LobbySettings;
pub use rate_limits::RateLimitSettings;
pub use retention::{OwnerSettings, RetentionSettings};
pub use stores::{Database, LiveState};

/// The errors of settings that were given but must not be used.
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
    WeakSecret(WeakSecretError),
    #[error("BAHAY_PREVIOUS_SIGNING_SECRETS {0}: remove a secret that has never signed")]
    WeakPreviousSecret(WeakSecretError),
    #[error(
        "BAHAY_DEVELOPMENT is for one machine: leave it out, or let BAHAY_LISTEN be on 127.0.0.1"
    )]
    OpenDevelopment,
    #[error("BAHAY_DESK_PLAIN_HTTP is for development: leave it out, or set BAHAY_DEVELOPMENT too")]
    PlainDesk,
    #[error(
        "BAHAY_SECOND_FACTOR_KEYS is not set, so second factors of operators would be stored as they \
         are: give at least 32 random bytes, as from `openssl rand -hex 32`, the same on every node"
    )]
    NoSecondFactorKeys,
    #[error("a key of BAHAY_SECOND_FACTOR_KEYS is weak: {0}")]
    WeakKey(WeakSecretError),
}

/// The settings of `bahay serve`.
#[derive(Args, Clone, Debug)]
pub struct Config {
    #[command(flatten)]
    pub database: Database,

    #[command(flatten)]
    pub live: LiveState,

    /// Address and port to listen on.
    #[arg(long, env = "BAHAY_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,

    /// Address and port of `/readyz` and `/metrics`, for supervisors and Prometheus only: do not
    /// expose them to others.
    #[arg(
        long,
        env = "BAHAY_PROBE_LISTEN",
        default_value = "127.0.0.1:9180",
        value_name = "ADDRESS"
    )]
    pub probe_listen: SocketAddr,

    /// The secret that signs the tokens of players: at least 32 random bytes, the same on every
    /// node.
    #[arg(long, env = "BAHAY_SIGNING_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub signing_secret: Option<Secret>,

    /// Further secrets whose tokens are accepted, separated by commas. For the rotation of the
    /// secret.
    #[arg(
        long,
        env = "BAHAY_PREVIOUS_SIGNING_SECRETS",
        hide_env_values = true,
        value_name = "SECRETS",
        value_delimiter = ','
    )]
    pub previous_signing_secrets: Vec<Secret>,

    /// Connections to PostgreSQL, apart from those of the ledger and of reports. More than 8 for
    /// each 2 cores have not been seen to help.
    #[arg(long, env = "BAHAY_DATABASE_CONNECTIONS", default_value_t = 16, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub database_connections: u32,

    /// Connections to PostgreSQL that are reserved for the ledger's bookings.
    #[arg(long, env = "BAHAY_LEDGER_CONNECTIONS", default_value_t = 6, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub ledger_connections: u32,

    /// The welcome grant of a new player, in whole coins.
    #[arg(long, env = "BAHAY_WELCOME_COINS", default_value = "1000", value_name = "COINS")]
    pub welcome_coins: WholeCoins,

    /// Minutes from one check of the ledger to the next, across all nodes.
    #[arg(long, env = "BAHAY_LEDGER_CHECK_MINUTES", default_value_t = 60, value_name = "MINUTES",
          value_parser = clap::value_parser!(u16).range(1..=1440))]
    pub ledger_check_minutes: u16,

    #[command(flatten)]
    pub rewards: RewardSettings,

    #[command(flatten)]
    pub grants: GrantSettings,

    #[command(flatten)]
    pub standings: StandingsSettings,

    #[command(flatten)]
    pub adjustments: AdjustmentSettings,

    /// The score of signs of collusion from which a pair of players is an alert at the desk: the
    /// sum of the points that OPERATIONS lists. At most 120.
    #[arg(long, env = "BAHAY_COLLUSION_ALERT_SCORE", default_value_t = ALERT_SCORE_DEFAULT,
          value_name = "POINTS", value_parser = clap::value_parser!(i64).range(1..=120))]
    pub collusion_alert_score: i64,

    #[command(flatten)]
    pub rate_limits: RateLimitSettings,

    #[command(flatten)]
    pub sign_in: SignInSettings,

    #[command(flatten)]
    pub lobby: LobbySettings,

    /// Threads that choose actions for absent players, at the lowest priority; 0: the quick AI
    /// plays for all of them.
    #[arg(long, env = "BAHAY_AI_WORKERS", default_value_t = 1, value_name = "NUMBER",
          value_parser = clap::value_parser!(u8).range(..=64))]
    pub ai_workers: u8,

    #[command(flatten)]
    pub retention: RetentionSettings,

    #[command(flatten)]
    pub archive: ArchiveSettings,

    /// Run a development server on your own machine: BAHAY_SECOND_FACTOR_KEYS is optional, and the
    /// desk may use plain HTTP. Rejected if the server listens on another address than a loopback
    /// one.
    #[arg(long, env = "BAHAY_DEVELOPMENT")]
    pub development: bool,

    /// Keys that seal the second factors of operators: each at least 32 random bytes, the same on
    /// every node, separated by commas. The first seals, all of them open. Required except in
    /// development.
    #[arg(
        long,
        env = "BAHAY_SECOND_FACTOR_KEYS",
        hide_env_values = true,
        value_name = "SECRETS",
        value_delimiter = ','
    )]
    pub second_factor_keys: Vec<Secret>,

    /// Send the cookies of operators over plain HTTP. Only in development, and without a proxy in
    /// front of the server.
    #[arg(long, env = "BAHAY_DESK_PLAIN_HTTP")]
    pub desk_plain_http: bool,

    /// The log filter: a level, or levels by module, as in info,bahay::ledger=debug
    #[arg(long, env = "RUST_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,

    /// Log JSON objects instead of lines for a terminal.
    #[arg(long, env = "BAHAY_LOG_JSON")]
    pub log_json: bool,

    #[command(flatten)]
    pub spans: SpanSettings,
}

/// The settings of the collector of spans.
#[derive(Args, Clone, Debug)]
pub struct SpanSettings {
    /// The URL of a collector of OpenTelemetry spans that accepts OTLP over HTTP, as in
    /// http://127.0.0.1:4318; without it no spans are exported.
    #[arg(long, env = "BAHAY_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,

    /// One trace in this many is exported; 1 for all.
    #[arg(long, env = "BAHAY_OTLP_ONE_IN", default_value_t = 100, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub otlp_one_in: u32,
}

impl SpanSettings {
    /// Returns the options for `telemetry`, if a collector is set.
    pub fn collector(&self) -> Option<Collector> {
        let endpoint = self.otlp_endpoint.clone().filter(|endpoint| !endpoint.is_empty())?;
        Some(Collector { endpoint, one_in: self.otlp_one_in })
    }
}

/// The calendar of the leaderboards.
#[derive(Args, Clone, Debug)]
pub struct StandingsSettings {
    /// The time zone of the leaderboards: an IANA name. A change recomputes all statistics.
    #[arg(long, env = "BAHAY_BOARD_TIME_ZONE", default_value = "Asia/Manila", value_name = "ZONE")]
    pub board_time_zone: Zone,

    /// Months of a season, starting in January: 1, 2, 3, 4, 6 or 12. A change recomputes all
    /// statistics.
    #[arg(long, env = "BAHAY_SEASON_MONTHS", default_value = "3", value_name = "MONTHS")]
    pub season_months: standings::Season,
}

impl StandingsSettings {
    /// Returns the calendar for `standings`.
    pub fn calendar(&self) -> standings::Calendar {
        standings::Calendar { zone: self.board_time_zone.clone(), season: self.season_months }
    }
}

/// The bounds on the coins that operators move: adjustments, and guarantees of tournaments.
#[derive(Args, Clone, Debug)]
pub struct AdjustmentSettings {
    /// The largest adjustment, given or taken, in whole coins.
    #[arg(
        long,
        env = "BAHAY_ADJUSTMENT_MAX_COINS",
        default_value = "1000000",
        value_name = "COINS"
    )]
    pub adjustment_max_coins: WholeCoins,

    /// The most that one operator may request in 24 hours, given and taken added up, in whole
    /// coins.
    #[arg(
        long,
        env = "BAHAY_ADJUSTMENT_REQUESTER_DAY_MAX_COINS",
        default_value = "2000000",
        value_name = "COINS"
    )]
    pub adjustment_requester_day_max_coins: WholeCoins,

    /// The most for one player in 24 hours, whoever requests it, given and taken added up, in whole
    /// coins.
    #[arg(
        long,
        env = "BAHAY_ADJUSTMENT_PLAYER_DAY_MAX_COINS",
        default_value = "2000000",
        value_name = "COINS"
    )]
    pub adjustment_player_day_max_coins: WholeCoins,

    /// The sum of the guarantees that one operator announces on a day of the house, above which
    /// another operator has to approve a tournament, in whole coins.
    #[arg(
        long,
        env = "BAHAY_TOURNAMENT_APPROVAL_COINS",
        default_value = "10000",
        value_name = "COINS"
    )]
    pub tournament_approval_coins: WholeCoins,
}

impl AdjustmentSettings {
    /// Returns the bounds for `operators`.
    pub fn bounds(&self) -> AdjustmentBounds {
        AdjustmentBounds {
            one_max: self.adjustment_max_coins.0,
            requester_day_max: self.adjustment_requester_day_max_coins.0,
            player_day_max: self.adjustment_player_day_max_coins.0,
        }
    }
}

/// The daily rewards and reliefs of players.
#[derive(Args, Clone, Debug)]
pub struct RewardSettings {
    /// The daily reward on each of seven consecutive days, in whole coins.
    #[arg(
        long,
        env = "BAHAY_DAILY_COINS",
        default_value = "100,150,200,250,300,400,1000",
        value_name = "COINS,…"
    )]
    pub daily_coins: DailyCoins,

    /// The balance below which a player may claim relief, in whole coins.
    #[arg(long, env = "BAHAY_RELIEF_FLOOR_COINS", default_value = "50", value_name = "COINS")]
    pub relief_floor_coins: WholeCoins,

    /// The amount of a relief, in whole coins.
    #[arg(long, env = "BAHAY_RELIEF_COINS", default_value = "100", value_name = "COINS",
          value_parser = parse_positive_coins)]
    pub relief_coins: WholeCoins,

    /// Reliefs that a player may claim in a day; 0 for none.
    #[arg(long, env = "BAHAY_RELIEF_PER_DAY", default_value_t = 3, value_name = "NUMBER")]
    pub relief_per_day: u8,

    /// The time zone of players who have not set one: an IANA name.
    #[arg(long, env = "BAHAY_TIME_ZONE", default_value = "UTC", value_name = "ZONE")]
    pub time_zone: Calendar,
}

impl RewardSettings {
    /// Returns the terms for `rewards`.
    pub fn terms(&self) -> Terms {
        Terms {
            daily: self.daily_coins.0,
            relief: ReliefTerms {
                floor: self.relief_floor_coins.0,
                amount: self.relief_coins.0,
                per_day: self.relief_per_day,
            },
            calendar: self.time_zone.clone(),
        }
    }
}

/// The limits of coins that many accounts can bring to one.
#[derive(Args, Clone, Copy, Debug)]
pub struct GrantSettings {
    /// The most that a player may win at private tables in a day, in whole coins, in addition to
    /// the fees that it has paid in rooms within seven days.
    #[arg(long, env = "BAHAY_PRIVATE_DAY_COINS", default_value = "300", value_name = "COINS")]
    pub private_day_coins: WholeCoins,

    /// Welcome grants for new guests of one network in a day; 0 for no limit. A network is an IPv4
    /// address, or the first 48 bits of an IPv6 address.
    #[arg(
        long,
        env = "BAHAY_WELCOMES_PER_NETWORK",
        default_value_t = GrantLimits::default().welcomes,
        value_name = "NUMBER"
    )]
    pub welcomes_per_network: u32,

    /// Reliefs for the players of one network in a day; 0 for no limit.
    #[arg(
        long,
        env = "BAHAY_RELIEFS_PER_NETWORK",
        default_value_t = GrantLimits::default().reliefs,
        value_name = "NUMBER"
    )]
    pub reliefs_per_network: u32,
}

impl GrantSettings {
    /// Returns the limits for accounts and rewards.
    pub fn limits(self) -> GrantLimits {
        GrantLimits { welcomes: self.welcomes_per_network, reliefs: self.reliefs_per_network }
    }

    /// Returns the allowance for the lobby and the ledger.
    pub fn allowance(self) -> Allowance {
        Allowance { floor: self.private_day_coins.0 }
    }
}

impl Config {
    /// Returns the signer of tokens.
    ///
    /// # Errors
    /// A missing or weak secret.
    pub fn signer(&self) -> Result<Signer, ConfigError> {
        let secret = self.signing_secret.as_ref().ok_or(ConfigError::NoSecret)?;
        let signer = Signer::new(secret.0.as_bytes()).map_err(ConfigError::WeakSecret)?;
        let previous = self.previous_signing_secrets.iter().map(|secret| secret.0.trim());
        previous.filter(|secret| !secret.is_empty()).try_fold(signer, |signer, secret| {
            signer.with_previous(secret.as_bytes()).map_err(ConfigError::WeakPreviousSecret)
        })
    }

    /// Returns the keys that seal second factors.
    ///
    /// # Errors
    /// A weak key, or no key outside of development.
    pub fn second_factor_keys(&self) -> Result<SealingKeys, ConfigError> {
        let texts = self.second_factor_keys.iter().map(|secret| secret.0.trim());
        let texts = texts.filter(|text| !text.is_empty());
        let keys = SealingKeys::new(texts).map_err(ConfigError::WeakKey)?;
        if keys.is_empty() && !self.development()? {
            return Err(ConfigError::NoSecondFactorKeys);
        }
        Ok(keys)
    }

    /// Returns whether cookies of operators may be sent over plain HTTP.
    ///
    /// # Errors
    /// [`ConfigError::PlainDesk`] outside of development.
    pub fn desk_plain_http(&self) -> Result<bool, ConfigError> {
        if self.desk_plain_http && !self.development()? {
            return Err(ConfigError::PlainDesk);
        }
        Ok(self.desk_plain_http)
    }

    /// Returns whether the server runs in development.
    ///
    /// # Errors
    /// [`ConfigError::OpenDevelopment`] if it listens on another address than a loopback one.
    fn development(&self) -> Result<bool, ConfigError> {
        if self.development && !self.listen.ip().is_loopback() {
            return Err(ConfigError::OpenDevelopment);
        }
        Ok(self.development)
    }
}

/// The settings of sign-in methods other than devices.
#[derive(Args, Clone, Debug)]
pub struct SignInSettings {
    /// Memory of one password hash (Argon2id), in KiB.
    #[arg(long, env = "BAHAY_PASSWORD_MEMORY_KIB", default_value_t = 19_456, value_name = "KIB",
          value_parser = clap::value_parser!(u32).range(8_192..=1_048_576))]
    pub password_memory_kib: u32,

    /// Passes of a hash over its memory.
    #[arg(long, env = "BAHAY_PASSWORD_PASSES", default_value_t = 2, value_name = "NUMBER",
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub password_passes: u32,

    /// Hashes that a node computes at once; by default half the number of its cores.
    #[arg(long, env = "BAHAY_PASSWORDS_AT_ONCE", value_name = "NUMBER",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub passwords_at_once: Option<u16>,

    /// OpenID Connect issuers whose users may sign in, as a JSON list, as in
    /// `[{"name":"google","issuer":"https://accounts.google.com","audiences":["CLIENT-ID"]}]`; with
    /// "keys_url" if the keys are not found by discovery.
    #[arg(long, env = "BAHAY_OPENID_ISSUERS", default_value = "", value_name = "JSON")]
    pub openid_issuers: Issuers,
}

impl SignInSettings {
    /// Returns the options for accounts.
    pub fn options(self) -> accounts::Options {
        let defaults = HashOptions::default();
        let hashes = HashOptions {
            memory_kib: self.password_memory_kib,
            passes: self.password_passes,
            at_once: self.passwords_at_once.map_or(defaults.at_once, usize::from),
            waiting_max: defaults.waiting_max,
        };
        accounts::Options { hashes, issuers: self.openid_issuers, ..accounts::Options::default() }
    }
}

/// A text that `Debug` omits.
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

/// An amount given in whole coins.
#[derive(Clone, Copy, Debug)]
pub struct WholeCoins(pub Coins);

impl FromStr for WholeCoins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let coins: u32 = text.parse().map_err(|_| "give a whole number of coins".to_owned())?;
        Coins::from_whole(i64::from(coins))
            .map(Self)
            .ok_or_else(|| "the amount is too large".to_owned())
    }
}

/// Parses an amount of at least one coin.
fn parse_positive_coins(text: &str) -> Result<WholeCoins, String> {
    let coins: WholeCoins = text.parse()?;
    if coins.0.is_zero() { Err("give at least 1 coin".to_owned()) } else { Ok(coins) }
}

/// The reward of each day of a streak, given in whole coins.
#[derive(Clone, Copy, Debug)]
pub struct DailyCoins(pub [Coins; STREAK_DAYS]);

impl FromStr for DailyCoins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let coins: Result<Vec<_>, _> =
            text.split(',').map(|day| parse_positive_coins(day.trim())).collect();
        let coins: Vec<Coins> = coins?.into_iter().map(|coins| coins.0).collect();
        let days = coins.try_into().map_err(|_| format!("give {STREAK_DAYS} amounts"))?;
        Ok(Self(days))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Allowance, Config, DailyCoins, GrantLimits, GrantSettings, RewardSettings, SignInSettings,
        WholeCoins,
    };
    use crate::accounts::HashOptions;
    use crate::rewards::{Terms, WELCOME};
    use clap::{Args, Command};

    /// Parses a command line without arguments.
    pub(super) fn default_settings<T: Args>() -> T {
        let command = T::augment_args(Command::new("x"));
        let settings = command.try_get_matches_from(["x"]).unwrap();
        T::from_arg_matches(&settings).unwrap()
    }

    #[test]
    fn the_default_reward_settings_match_the_terms() {
        let terms = default_settings::<RewardSettings>().terms();
        assert_eq!(format!("{terms:?}"), format!("{:?}", Terms::default()));
        let command = Config::augment_args(Command::new("x"));
        let welcome = command.get_arguments().find(|arg| arg.get_id() == "welcome_coins").unwrap();
        let welcome = welcome.get_default_values()[0].to_str().unwrap();
        assert_eq!(welcome.parse::<WholeCoins>().unwrap().0, WELCOME);
        command.debug_assert();
    }

    #[test]
    fn the_default_grant_settings_match_the_limits() {
        let settings = default_settings::<GrantSettings>();
        assert_eq!(settings.limits(), GrantLimits::default());
        assert_eq!(settings.allowance(), Allowance::default());
    }

    #[test]
    fn the_default_hash_settings_match_the_options() {
        let options = default_settings::<SignInSettings>().options();
        assert_eq!(options.hashes, HashOptions::default());
        assert_eq!(options.issuers.names().count(), 0);
    }

    #[test]
    fn a_week_of_rewards_has_seven_amounts() {
        assert!("1,2,3,4,5,6,7".parse::<DailyCoins>().is_ok());
        for text in ["", "1", "1,2,3,4,5,6", "1,2,3,4,5,6,7,8", "0,2,3,4,5,6,7", "1,2,3,4,5,6,x"] {
            assert!(text.parse::<DailyCoins>().is_err(), "{text}");
        }
    }
}
