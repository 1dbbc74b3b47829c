//! The times and bounds of the client. Times are in milliseconds.

// Of the connection.

/// The timeout from the first attempt to the arrival of the table, after which the attempt is
/// repeated.
pub(crate) const ATTEMPT_TIMEOUT_MS: i64 = 10_000;
/// The back-off after the first failure; doubled after each further one.
pub(crate) const BACKOFF_MIN_MS: i64 = 200;
pub(crate) const BACKOFF_MAX_MS: i64 = 8_000;
/// The back-off after a connection that worked, long enough to spread the clients that lost it
/// together.
pub(crate) const BACKOFF_LOST_MS: i64 = 100;
/// The back-off after the server has closed the connection for too many commands.
pub(crate) const BACKOFF_TOO_FAST_MS: i64 = 6_000;
/// The longest pause that a server can ask for.
pub(crate) const PAUSE_MAX_MS: i64 = 24 * 60 * 60 * 1_000;
/// A second wake-up while an answer has been missing for this long abandons the pending sockets.
pub(crate) const WAKE_MS: i64 = 2_500;
/// The time after which a socket that is still opening is hedged by another one.
pub(crate) const HEDGE_MS: i64 = 2_500;
/// The time for which a connection that has received something, or a socket that was just
/// requested, counts as alive.
pub(crate) const FRESH_MS: i64 = 1_000;
/// The longest delay of a command that was sent on an abandoned connection.
pub(crate) const LATE_COMMAND_MS: i64 = 60_000;
/// The number of sockets opened at once if the network may have changed.
pub(crate) const RACERS: usize = 3;
/// The delay of the `ping` that follows `join`, which keeps it out of the packet of the preceding
/// commands.
pub(crate) const PING_DELAY_MS: i64 = 10;
/// The delay before a retryable refusal is retried.
pub(crate) const RETRY_MS: i64 = 600;
/// The number of consecutive protocol errors after which the client gives up.
pub(crate) const PROTOCOL_ERRORS_MAX: u32 = 3;
/// The largest number of messages of an unused socket that are kept until the table has arrived;
/// later ones are dropped, and the attempt times out.
pub(crate) const BUFFERED_MAX: usize = 2_000;
/// The first id of pings, beyond all others, so that the other ids count from 0 on each connection.
pub(crate) const FIRST_PING_ID: u32 = 1_000_000;
/// The initial value of the moving average of the time that opening a socket takes, and its least
/// value.
pub(crate) const USUAL_OPEN_MS: i64 = 600;
pub(crate) const USUAL_OPEN_MIN_MS: i64 = 10;

// Of the watchdog.

/// The silence after which the server is pinged while a prompt is open or a command waits.
pub(crate) const PING_MS: i64 = 2_000;
/// The silence after which the server is pinged otherwise.
pub(crate) const IDLE_PING_MS: i64 = 12_000;
/// The time after which a missing answer makes the connection weak and other sockets are opened.
pub(crate) const ANSWER_MS: i64 = 2_000;
/// The time after which a live connection without an answer is abandoned.
pub(crate) const DEAD_MS: i64 = 4_000;

// Of the commands and of the table.

/// The delay before a command that was refused for a time is retried.
pub(crate) const COMMAND_RETRY_MS: i64 = 300;
/// The delay before the client joins a halted table again.
pub(crate) const HALTED_RETRY_MS: i64 = 10_000;
/// The least lead of the wall clock over the monotonic one that counts as a sleep of the machine.
pub(crate) const SLEPT_MS: i64 = 1_000;
/// The number of table versions whose tags are kept.
pub(crate) const TAGS_MAX: usize = 256;
/// The number of consecutive gaps after which the table is not requested again.
pub(crate) const GAPS_MAX: u32 = 3;
/// The largest number of rooms of a request for a seat.
pub(crate) const ROOMS_MAX: usize = 8;
/// The largest number of commands without an outcome; further ones are dropped.
pub(crate) const OPEN_COMMANDS_MAX: usize = 64;

// Of the session and of requests.

/// The timeout of a request.
pub(crate) const REQUEST_MS: i64 = 12_000;
/// The time before its expiry at which an access token is renewed.
pub(crate) const RENEW_BEFORE_MS: i64 = 120_000;
/// The longest pause between two attempts to renew: the server repeats a successor for one minute.
pub(crate) const RENEW_PAUSE_MS: i64 = 10_000;
/// The least remaining lifetime with which an access token is used.
pub(crate) const LIFETIME_MIN_MS: i64 = 5_000;
/// The time for which a new token is valid whatever a clock says.
pub(crate) const NEW_TOKEN_MS: i64 = 60_000;
/// The time that a restarted client leaves others of the same session to share newer tokens.
pub(crate) const SHARE_DELAY_MS: i64 = 100;
/// The age up to which a request may still be in flight after a wake-up.
pub(crate) const WAKE_AFTER_MS: i64 = 1_000;
pub(crate) const READ_ATTEMPTS_MAX: u32 = 4;
pub(crate) const READ_PAUSE_MS: i64 = 300;
/// The longest credential that the server accepts, in bytes.
pub(crate) const CREDENTIAL_BYTES_MAX: usize = 8_000;

/// The bound of times from outside, in both directions, so that their sums do not overflow.
pub(crate) const TIME_MAX_MS: i64 = 1 << 53;

/// Returns a time from outside within the bounds in which sums do not overflow.
pub(crate) fn clamp_time(ms: i64) -> i64 {
    ms.clamp(-TIME_MAX_MS, TIME_MAX_MS)
}
