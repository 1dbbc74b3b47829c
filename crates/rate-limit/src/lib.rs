//! Rate limits and concurrency limits by address and account, the origins of browsers, and the
//! addresses of clients behind proxies.
//!
//! All state is in the memory of one process. A cluster of several nodes therefore admits that many
//! times as much, on purpose: the limits protect a node and are not quotas of users. Bounds: a set
//! of token buckets holds at most [`BUCKETS_MAX`] keys, and a concurrency limit as many as there
//! are connections. IPv6 addresses are limited by their first 64 bits, since one household has that
//! many, and by their first 48 bits for a customer as a whole.
//!
//! The crate has no HTTP. The service consults it for every request and every socket, and answers
//! each in its own format.

mod address;
mod concurrency;
mod network_limits;
mod origins;
mod token_buckets;
mod write_half;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bahay_base::ids::PlayerId;

use network_limits::{NetworkConcurrencyLimit, NetworkRateLimit};

pub use address::{Address, Network, ParseNetworkError, Proxies};
pub use network_limits::{ConnectionPermit, NETWORK_SHARE};
pub use origins::{Origins, ParseOriginError, is_same_host};
pub use token_buckets::{BUCKETS_MAX, ParseRateError, Rate, TokenBuckets};
pub use write_half::{WriteBacklog, WriteHalf};

/// The options of the limits. The defaults suit a server on the open internet whose players connect
/// one by one.
#[derive(Clone, Debug)]
pub struct Options {
    /// The origins whose pages may call the server from a browser.
    pub origins: Origins,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Proxies,
    /// The `max-age` of `Strict-Transport-Security`, in seconds, for browsers that came by HTTPS; 0
    /// omits the header.
    pub hsts_seconds: u32,
    /// The time after which an idle connection is closed.
    pub keep_alive: Duration,
    /// The time that a response may wait for its client, in addition to the time credited for the
    /// bytes that the client takes.
    pub slow_reader: Duration,
    /// The concurrent connections of one address, whatever they are used for.
    pub connections_per_address: u32,
    /// The open sockets of one address: enough for a school behind one router.
    pub sockets_per_address: u32,
    /// The sockets of one address that have not authenticated yet.
    pub unauthenticated_sockets_per_address: u32,
    /// The rate of socket handshakes of one account.
    pub socket_handshakes_per_account: Rate,
    /// The rate of commands of one socket, at least [`COMMANDS_PER_SOCKET`].
    pub commands_per_socket: Rate,
    pub requests_per_address: Rate,
    pub requests_per_account: Rate,
    /// The rate of sign-ins and refreshes of one address, which bounds guessing. Sign-ins of
    /// operators have a separate limit of the same rate.
    pub sign_ins_per_address: Rate,
}

/// The default rate of commands of one socket. Clients pace themselves by it, so it is never
/// lowered.
pub const COMMANDS_PER_SOCKET: Rate = Rate { per_second: 20, burst: 40 };

/// A year, the minimum for the preload list of browsers.
pub const HSTS_SECONDS: u32 = 31_536_000;

/// The default keep-alive, longer than proxies keep an idle connection, so that the proxy closes
/// it.
pub const KEEP_ALIVE_SECONDS: u16 = 75;

/// The most characters of a header in the log.
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
            commands_per_socket: COMMANDS_PER_SOCKET,
            requests_per_address: Rate { per_second: 100, burst: 400 },
            requests_per_account: Rate { per_second: 20, burst: 80 },
            sign_ins_per_address: Rate { per_second: 2, burst: 60 },
        }
    }
}

/// The reasons for which a request or connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    #[error("pages of this origin may not call this server")]
    Origin,
    #[error("this address is for WebSockets: request an upgrade as in RFC 6455")]
    NotASocket,
    #[error("`Sec-WebSocket-Key` is required once: 16 bytes in base64, as in RFC 6455")]
    WebSocketKey,
    /// A limit is exhausted. There is capacity again after this time at the latest, if no other
    /// client takes it.
    #[error("too many requests: wait as long as Retry-After says")]
    TooMany { retry_after: Duration },
}

/// The peer of a connection, and its write half while the connection exists.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    pub write_half: Weak<WriteHalf>,
}

/// The limits of one node. Clones share the state.
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
    rejections: Rejections,
}

/// The number of rejections by each limit.
#[derive(Debug, Default)]
struct Rejections {
    connections: AtomicU64,
    sockets: AtomicU64,
    unauthenticated_sockets: AtomicU64,
    socket_handshakes: AtomicU64,
    requests: AtomicU64,
    account_requests: AtomicU64,
    sign_ins: AtomicU64,
    operator_sign_ins: AtomicU64,
}

/// Counts a rejection.
fn count_rejection<T>(
    rejections: &AtomicU64,
    admission: Result<T, AdmissionError>,
) -> Result<T, AdmissionError> {
    admission.inspect_err(|_| {
        rejections.fetch_add(1, Ordering::Relaxed);
    })
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
            unauthenticated_sockets: NetworkConcurrencyLimit::new(
                options.unauthenticated_sockets_per_address,
            ),
            socket_handshakes: TokenBuckets::new(options.socket_handshakes_per_account),
            requests: NetworkRateLimit::new(options.requests_per_address),
            account_requests: TokenBuckets::new(options.requests_per_account),
            sign_ins: NetworkRateLimit::new(options.sign_ins_per_address),
            operator_sign_ins: NetworkRateLimit::new(options.sign_ins_per_address),
            rejections: Rejections::default(),
            options,
        }))
    }

    /// Returns the number of rejections by each limit since the start, by its name in metrics.
    pub fn rejections(&self) -> Vec<(&'static str, u64)> {
        let Rejections {
            connections,
            sockets,
            unauthenticated_sockets,
            socket_handshakes,
            requests,
            account_requests,
            sign_ins,
            operator_sign_ins,
        } = &self.0.rejections;
        let counts = [
            ("connections", connections),
            ("sockets", sockets),
            ("unauthenticated_sockets", unauthenticated_sockets),
            ("socket_handshakes", socket_handshakes),
            ("requests", requests),
            ("account_requests", account_requests),
            ("sign_ins", sign_ins),
            ("operator_sign_ins", operator_sign_ins),
        ];
        counts.map(|(limit, count)| (limit, count.load(Ordering::Relaxed))).into()
    }

    pub fn origins(&self) -> &Origins {
        &self.0.options.origins
    }

    pub fn proxies(&self) -> &Proxies {
        &self.0.options.proxies
    }

    /// Returns the rate of commands of one socket.
    pub fn commands_per_socket(&self) -> Rate {
        self.0.options.commands_per_socket
    }

    /// Returns the time after which an idle connection is closed.
    pub fn keep_alive(&self) -> Duration {
        self.0.options.keep_alive
    }

    /// Returns the time that a response may wait for its client.
    pub fn slow_reader(&self) -> Duration {
        self.0.options.slow_reader
    }

    /// Returns the `max-age` of `Strict-Transport-Security` if the browser came by HTTPS. TLS ends
    /// at a proxy, so only the word of a trusted proxy counts.
    pub fn hsts_seconds(&self, peer: IpAddr, forwarded_proto: Option<&str>) -> Option<u32> {
        let seconds = Some(self.0.options.hsts_seconds).filter(|seconds| *seconds > 0)?;
        // With several proxies the first value is that of the browser's connection.
        let scheme = forwarded_proto.and_then(|value| value.split(',').next()).map(str::trim);
        let is_https = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        (is_https && self.proxies().contains(peer)).then_some(seconds)
    }

    /// Acquires a permit for a connection of a peer. Returns `None` for a trusted proxy, whose
    /// connections are not limited.
    pub fn acquire_connection(
        &self,
        peer: IpAddr,
    ) -> Result<Option<ConnectionPermit>, AdmissionError> {
        if self.proxies().contains(peer) {
            return Ok(None);
        }
        let admission = self.0.connections.acquire(peer.into());
        count_rejection(&self.0.rejections.connections, admission).map(Some)
    }

    /// Counts a request of an address.
    pub fn check_request(&self, from: Address) -> Result<(), AdmissionError> {
        count_rejection(&self.0.rejections.requests, self.0.requests.acquire(from))
    }

    /// Counts a request of an account, whatever its address.
    pub fn check_account_request(&self, player: PlayerId) -> Result<(), AdmissionError> {
        let admission = self.0.account_requests.acquire(player);
        count_rejection(&self.0.rejections.account_requests, admission)
    }

    /// Counts a request that signs in, in addition to [`Self::check_request`].
    pub fn check_sign_in(&self, from: Address) -> Result<(), AdmissionError> {
        count_rejection(&self.0.rejections.sign_ins, self.0.sign_ins.acquire(from))
    }

    /// Counts a request that signs an operator in, in addition to [`Self::check_request`].
    pub fn check_operator_sign_in(&self, from: Address) -> Result<(), AdmissionError> {
        let admission = self.0.operator_sign_ins.acquire(from);
        count_rejection(&self.0.rejections.operator_sign_ins, admission)
    }

    /// Checks the origin of a socket. Programs that are not browsers send none. Pages of the
    /// requested host, as the browser names it, are always allowed.
    pub fn check_origin(
        &self,
        origin: Option<&str>,
        host: Option<&str>,
    ) -> Result<(), AdmissionError> {
        match origin {
            Some(origin) if !is_same_host(origin, host) && !self.origins().contains(origin) => {
                log_foreign_origin(Some(origin), host);
                Err(AdmissionError::Origin)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Acquires a permit for a socket, to be held as long as the socket is open.
    pub fn acquire_socket(&self, from: Address) -> Result<ConnectionPermit, AdmissionError> {
        count_rejection(&self.0.rejections.sockets, self.0.sockets.acquire(from))
    }

    /// Acquires a permit for a socket that has not authenticated yet, in addition to that of the
    /// socket.
    pub fn acquire_unauthenticated_socket(
        &self,
        from: Address,
    ) -> Result<ConnectionPermit, AdmissionError> {
        let admission = self.0.unauthenticated_sockets.acquire(from);
        count_rejection(&self.0.rejections.unauthenticated_sockets, admission)
    }

    /// Counts a socket handshake of an account.
    pub fn check_socket_handshake(&self, player: PlayerId) -> Result<(), AdmissionError> {
        let admission = self.0.socket_handshakes.acquire(player);
        count_rejection(&self.0.rejections.socket_handshakes, admission)
    }
}

/// Logs both sides of a failed comparison, which reveals a proxy that rewrites `Host`.
pub fn log_foreign_origin(origin: Option<&str>, host: Option<&str>) {
    let shortened = |text: &str| text.chars().take(LOGGED_CHARS_MAX).collect::<String>();
    let origin = origin.map(shortened);
    let host = host.map(shortened);
    tracing::info!(?origin, ?host, "a page of another origin was rejected");
}
