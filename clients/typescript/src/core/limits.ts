// The times and bounds of the client.

// Of the connection.

/** The timeout from the first attempt to the arrival of the table, after which the attempt is repeated. */
export const ATTEMPT_TIMEOUT_MS = 10_000;
/** The back-off after the first failure; doubled after each further one. */
export const BACKOFF_MIN_MS = 200;
export const BACKOFF_MAX_MS = 8_000;
/** The back-off after a connection that worked, long enough to spread the clients that lost it together. */
export const BACKOFF_LOST_MS = 100;
/** The back-off after the server has closed the connection for too many commands. */
export const BACKOFF_TOO_FAST_MS = 6_000;
/** The longest pause that a server can ask for. */
export const PAUSE_MAX_MS = 24 * 60 * 60 * 1_000;
/** A second wake-up while an answer has been missing for this long abandons the pending sockets. */
export const WAKE_MS = 2_500;
/** The time after which a socket that is still opening is hedged by another one. */
export const HEDGE_MS = 2_500;
export const FRESH_MS = 1_000;
/** The longest delay of a command that was sent on an abandoned connection. */
export const LATE_COMMAND_MS = 60_000;
/** The number of sockets opened at once if the network may have changed. */
export const RACERS = 3;
/** The delay of the `ping` that follows `join`. */
export const PING_DELAY_MS = 10;
/** The delay before a retryable refusal is retried. */
export const RETRY_MS = 600;
/** The number of consecutive protocol errors after which the client gives up. */
export const PROTOCOL_ERRORS_MAX = 3;
/**
 * The bound of the buffer of messages received while a game's model is loaded, of which a fuller one restarts
 * the connection, and of those received before the table has arrived.
 */
export const BUFFERED_MAX = 2_000;
/** The first id of pings, beyond all others, so that the other ids count from 0 on each connection. */
export const FIRST_PING_ID = 1_000_000;

// Of the commands and of the table.

/** The delay before a command that was refused for a time is retried. */
export const COMMAND_RETRY_MS = 300;
/** The delay before the client joins a halted table again. */
export const HALTED_RETRY_MS = 10_000;
/** The least lead of the wall clock over the monotonic one that counts as a sleep of the machine. */
export const SLEPT_MS = 1_000;
/** The number of table versions whose tags are kept. */
export const TAGS_MAX = 256;
/** The largest number of rooms of a request for a seat. */
export const ROOMS_MAX = 8;
/** The number of consecutive gaps after which the table is not requested again. */
export const GAPS_MAX = 3;
