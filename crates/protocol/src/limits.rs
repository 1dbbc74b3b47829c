//! The bounds and times of the socket that clients have to know. asyncapi.yaml and docs/PROTOCOL.md
//! state them.

use core::time::Duration;

/// The prefix of an access token in a subprotocol.
pub const TOKEN_PREFIX: &str = "bahay.token.";
/// The prefix of a ticket in a subprotocol.
pub const TICKET_PREFIX: &str = "bahay.ticket.";

/// The id of the `authenticate` that a subprotocol stands for.
pub const AUTHENTICATE_ID: u32 = 0;
/// The id of the `join` that a query stands for.
pub const JOIN_ID: u32 = 1;

/// The time within which an unauthenticated client must authenticate.
pub const AUTHENTICATE_TIMEOUT: Duration = Duration::from_secs(5);
/// The life of a ticket.
pub const TICKET_LIFE: Duration = Duration::from_secs(30);

/// The burst of commands.
pub const BURST: u32 = 40;
/// The refill interval of one command: 20 a second.
pub const REFILL_MS: u64 = 50;
/// The number of consecutive rejections after which the connection is closed.
pub const REJECTIONS_MAX: u32 = 40;

/// The burst of phrases.
pub const PHRASES_BURST: u32 = 3;
/// The refill interval of one phrase.
pub const PHRASES_REFILL_MS: u64 = 2_000;

/// The bound of unread frames per client.
pub const QUEUED_FRAMES_MAX: usize = 64;
/// The bound of unread bytes per client.
pub const QUEUED_BYTES_MAX: usize = 256 * 1024;

/// The time over which a server that shuts down closes its connections, so that clients do not all
/// reconnect at once.
pub const SHUTDOWN_STAGGER: Duration = Duration::from_millis(1_500);

/// The limits of a connection's silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The silence after which the connection is pinged.
    pub ping_after: Duration,
    /// The silence after which the connection is lost.
    pub lost_after: Duration,
}

/// The times after which a silent connection is pinged, and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkTimes {
    /// The limits while the player has an open prompt, counted from the prompt.
    pub asked: Silence,
    /// The limits at all other times.
    pub other: Silence,
}

impl LinkTimes {
    /// The times of the service.
    pub const SERVICE: Self = Self {
        asked: Silence { ping_after: Duration::from_secs(2), lost_after: Duration::from_secs(4) },
        other: Silence { ping_after: Duration::from_secs(10), lost_after: Duration::from_secs(15) },
    };
}
