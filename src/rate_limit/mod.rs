//! Who may come in, and how often: origins of browsers, addresses behind proxies, limits by address
//! and by account.
//!
//! Everything here is in memory and of one process. A house of several nodes lets in that many
//! times as much, which is meant: the limits keep a node standing, they do not bill anybody.
//! Bounds: a set of buckets holds at most [`BUCKETS_MAX`] keys, the places as many as there are
//! connections. Addresses of IPv6 count by their first 64 bits, since one house has so many, and by
//! their first 48 for all of a customer.
//!
//! Deliberately absent: the HTTP of it. `http` asks for every request and `ws` for every socket,
//! and each refuses in its own words.

mod address;
mod token_buckets;
mod network_limits;
mod origins;
mod concurrency;
mod write_half;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::ids::PlayerId;

use network_limits::{NetworkConcurrencyLimit, NetworkRateLimit};

pub use address::{Address, Network, ParseNetworkError, Proxies};
pub use token_buckets::{BUCKETS_MAX, TokenBuckets, ParseRateError, Rate};
pub use network_limits::{NETWORK_SHARE, ConnectionPermit};
pub use origins::{ParseOriginError, Origins, is_same_host};
pub use write_half::{WriteBacklog, WriteHalf};

/// What is let in. The defaults suit a house on the open internet whose players come one by one.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose pages may call us from a browser.
    pub origins: Origins,
    /// Whose word about the address of a client is believed.
    pub proxies: Proxies,
    /// For how many seconds browsers that came by HTTPS are to come by nothing else; 0 for no word
    /// about it.
    pub hsts_seconds: u32,
    /// Time after which a connection ends on which nothing moves.
    pub keep_alive: Duration,
    /// Time that an answer may wait for its client, beside what the bytes that it takes make up for.
    pub slow_reader: Duration,
    /// Connections of one address, whatever they ask for.
    pub connections_per_address: u32,
    /// Open sockets of one address: enough for a school behind one router.
    pub sockets_per_address: u32,
    /// Sockets of one address that have not said yet who they are.
    pub unauthenticated_sockets_per_address: u32,
    /// Sockets opened by one account.
    pub socket_handshakes_per_account: Rate,
    pub requests_per_address: Rate,
    pub requests_per_account: Rate,
    /// Signing in and refreshing, by address: what somebody who guesses needs most of. Operators
    /// have as much beside.
    pub sign_ins_per_address: Rate,
}

/// A year, as browsers ask for who want to know it beforehand.
pub const HSTS_SECONDS: u32 = 31_536_000;

/// Longer than proxies keep a connection on which nothing is asked, so that it is theirs to close.
pub const KEEP_ALIVE_SECONDS: u16 = 75;

/// Characters of a header that the log takes.
const LOGGED_CHARS_MAX: usize = 128;

impl Default for Options {
    fn default() -> Self {
        Self {
            origins: Origins::default(),
            proxies: Proxies::default(),
            hsts_seconds: HSTS_SECONDS,
            keep_alive: Duration::from_secs(KEEP_ALIVE_SECONDS.into()),
            slow_reader: Duration::from_secs(30),
            connections_per_address: 256,
            sockets_per_address: 64,
            unauthenticated_sockets_per_address: 8,
            socket_handshakes_per_account: Rate { per_second: 3, burst: 12 },
            requests_per_address: Rate { per_second: 100, burst: 400 },
            requests_per_account: Rate { per_second: 20, burst: 80 },
            sign_ins_per_address: Rate { per_second: 2, burst: 60 },
        }
    }
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    #[error("pages of this origin may not call this server")]
    Origin,
    #[error("this address is for WebSockets: ask for an upgrade, as RFC 6455 has it")]
    NotASocket,
    #[error("`Sec-WebSocket-Key` has to be there once: 16 bytes in base64, as RFC 6455 has it")]
    WebSocketKey,
    /// A limit was met; at the latest after this time there is room again, if nobody else takes it.
    #[error("too many at once: wait as long as Retry-After says")]
    TooMany { retry_after: Duration },
}

/// The other end of a connection, and the way to it as long as the connection is there.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    pub write_half: Weak<WriteHalf>,
}

/// The door of one node. Clones are the same door.
#[derive(Clone, Debug)]
pub struct RateLimits(Arc<LimitState>);

#[derive(Debug)]
struct LimitState {
    options: Options,
    connections: NetworkConcurrencyLimit,
    sockets: NetworkConcurrencyLimit,
    unauthenticated_sockets: NetworkConcurrencyLimit,
    socket_handshakes: TokenBuckets<PlayerId>,
    requests: NetworkRateLimit,
    account_requests: TokenBuckets<PlayerId>,
    sign_ins: NetworkRateLimit,
    operator_sign_ins: NetworkRateLimit,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl RateLimits {
    pub fn new(options: Options) -> Self {
        Self(Arc::new(LimitState {
            connections: NetworkConcurrencyLimit::new(options.connections_per_address),
            sockets: NetworkConcurrencyLimit::new(options.sockets_per_address),
            unauthenticated_sockets: NetworkConcurrencyLimit::new(options.unauthenticated_sockets_per_address),
            socket_handshakes: TokenBuckets::new(options.socket_handshakes_per_account),
            requests: NetworkRateLimit::new(options.requests_per_address),
            account_requests: TokenBuckets::new(options.requests_per_account),
            sign_ins: NetworkRateLimit::new(options.sign_ins_per_address),
            operator_sign_ins: NetworkRateLimit::new(options.sign_ins_per_address),
            options,
        }))
    }

    pub fn origins(&self) -> &Origins {
        &self.0.options.origins
    }

    pub fn proxies(&self) -> &Proxies {
        &self.0.options.proxies
    }

    /// Time after which a connection ends on which nothing moves.
    pub fn keep_alive(&self) -> Duration {
        self.0.options.keep_alive
    }

    /// Time that an answer may wait for its client.
    pub fn slow_reader(&self) -> Duration {
        self.0.options.slow_reader
    }

    /// For how many seconds a browser is to come by HTTPS alone, if it has come by it now: TLS ends at
    /// a proxy, so only one of ours can say so.
    pub fn hsts_seconds(&self, peer: IpAddr, said_scheme: Option<&str>) -> Option<u32> {
        let seconds = Some(self.0.options.hsts_seconds).filter(|seconds| *seconds > 0)?;
        // Of several proxies the first one tells how the browser came.
        let scheme = said_scheme.and_then(|said| said.split(',').next()).map(str::trim);
        let is_https = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        (is_https && self.proxies().contain(peer)).then_some(seconds)
    }

    /// A connection of this peer; `None` is the place of a proxy, which is not counted.
    pub fn acquire_connection(&self, peer: IpAddr) -> Result<Option<ConnectionPermit>, AdmissionError> {
        if self.proxies().contain(peer) {
            return Ok(None);
        }
        self.0.connections.acquire(peer.into()).map(Some)
    }

    /// A request of an address.
    pub fn check_request(&self, from: Address) -> Result<(), AdmissionError> {
        self.0.requests.acquire(from)
    }

    /// A request of an account, whatever the address.
    pub fn check_account_request(&self, player: PlayerId) -> Result<(), AdmissionError> {
        self.0.account_requests.acquire(player)
    }

    /// A request that signs in, beside being a request.
    pub fn check_sign_in(&self, from: Address) -> Result<(), AdmissionError> {
        self.0.sign_ins.acquire(from)
    }

    /// Counts a request that signs an operator in, beside being a request.
    pub fn check_operator_sign_in(&self, from: Address) -> Result<(), AdmissionError> {
        self.0.operator_sign_ins.acquire(from)
    }

    /// A socket from a page of this origin; programs that are no browsers name none. Pages of the
    /// host that was asked, as the browser named it, are our own.
    pub fn check_origin(&self, origin: Option<&str>, host: Option<&str>) -> Result<(), AdmissionError> {
        match origin {
            Some(origin) if !is_same_host(origin, host) && !self.origins().contains(origin) => {
                log_foreign_origin(Some(origin), host);
                Err(AdmissionError::Origin)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A place for a socket, for as long as it is kept.
    pub fn acquire_socket(&self, from: Address) -> Result<ConnectionPermit, AdmissionError> {
        self.0.sockets.acquire(from)
    }

    /// A place for a socket that has not said yet who it is, beside that of the socket.
    pub fn acquire_unauthenticated_socket(&self, from: Address) -> Result<ConnectionPermit, AdmissionError> {
        self.0.unauthenticated_sockets.acquire(from)
    }

    /// An account opens a socket.
    pub fn check_socket_handshake(&self, player: PlayerId) -> Result<(), AdmissionError> {
        self.0.socket_handshakes.acquire(player)
    }
}

/// Logs both sides of a comparison that failed, so that a proxy that rewrites `Host` is found.
pub fn log_foreign_origin(origin: Option<&str>, host: Option<&str>) {
    let shortened = |text: &str| text.chars().take(LOGGED_CHARS_MAX).collect::<String>();
    let origin = origin.map(shortened);
    let host = host.map(shortened);
    tracing::info!(?origin, ?host, "a page of another origin was refused");
}
