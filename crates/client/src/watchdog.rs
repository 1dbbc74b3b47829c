//! Detects dead connections: decides when to ping the server after a silence, and measures how long
//! an answer has been missing.
//!
//! While a prompt is open or a command waits for its answer, the server is pinged after 2 s of
//! silence, and a dead connection is detected within 4 s. Otherwise pings are rare enough to cost
//! next to nothing, and detection takes up to 15 s.

use crate::limits::{ANSWER_MS, DEAD_MS, FRESH_MS, IDLE_PING_MS, PING_MS};
use crate::timers::Check;

#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdog {
    /// The time of the next check.
    check_at_ms: i64,
    /// The time of the last message; `None` if it is stale after a sleep.
    received_at_ms: Option<i64>,
    /// The time since which an answer has been missing.
    missing_since_ms: Option<i64>,
    /// True if the next check is for an answer that is due.
    is_due: bool,
}

/// The actions of a check, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DoubtActions {
    pub(crate) pings: bool,
    pub(crate) marks_weak: bool,
    pub(crate) opens_others: bool,
    /// The delay until the next check.
    pub(crate) next_ms: i64,
    pub(crate) gives_up: bool,
}

impl Watchdog {
    /// Returns whether an answer is missing.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.missing_since_ms.is_some()
    }

    /// Returns the time for which an answer has been missing.
    pub(crate) fn missing_ms(&self, now_ms: i64) -> i64 {
        self.missing_since_ms.map_or(0, |since_ms| now_ms - since_ms)
    }

    /// Stops watching, as there is no connection.
    pub(crate) fn stop_watching(&mut self) {
        self.missing_since_ms = None;
    }

    /// Records a received message or the start of a connection, and returns the next check.
    /// `is_due` states that another answer is expected.
    pub(crate) fn record_received(
        &mut self,
        now_ms: i64,
        is_due: bool,
        is_urgent: bool,
    ) -> (i64, Check) {
        self.received_at_ms = Some(now_ms);
        self.missing_since_ms = None;
        self.is_due = is_due;
        if is_due {
            (ANSWER_MS, Check::Missing)
        } else {
            (if is_urgent { PING_MS } else { IDLE_PING_MS }, Check::Silence)
        }
    }

    pub(crate) fn record_check(&mut self, at_ms: i64) {
        self.check_at_ms = at_ms;
    }

    /// Marks the last received message as stale.
    pub(crate) fn mark_stale(&mut self) {
        self.received_at_ms = None;
    }

    /// Expects an answer from now on, which replaces a ping. Returns the next check, unless an
    /// earlier one is due, which is not postponed.
    pub(crate) fn expect_answer(&mut self) -> Option<(i64, Check)> {
        if self.is_due || self.is_in_doubt() {
            return None;
        }
        self.is_due = true;
        Some((ANSWER_MS, Check::Missing))
    }

    /// Begins a doubt after a silence, in which the server is pinged.
    pub(crate) fn begin_doubt(&mut self, now_ms: i64) -> (i64, Check) {
        self.missing_since_ms = Some(now_ms);
        (ANSWER_MS, Check::Doubt)
    }

    /// Records that an expected answer is missing.
    pub(crate) fn begin_missing(&mut self, now_ms: i64) {
        self.missing_since_ms = Some(now_ms - ANSWER_MS);
    }

    /// Checks the connection now: it is pinged, and other sockets are opened unless a message was
    /// received a moment ago.
    pub(crate) fn check(&mut self, now_ms: i64) -> DoubtActions {
        let pings = self.missing_since_ms.is_none();
        if pings {
            self.missing_since_ms = Some(now_ms);
        }
        // The machine has slept since, and could receive nothing.
        if now_ms - self.check_at_ms > FRESH_MS && self.missing_ms(now_ms) >= DEAD_MS {
            self.missing_since_ms = Some(now_ms);
        }
        let missing_ms = self.missing_ms(now_ms);
        let is_fresh =
            self.received_at_ms.is_some_and(|received_ms| now_ms - received_ms < FRESH_MS);
        let next_ms = if is_fresh {
            FRESH_MS
        } else if missing_ms < ANSWER_MS {
            ANSWER_MS - missing_ms
        } else {
            ANSWER_MS
        };
        DoubtActions {
            pings,
            marks_weak: missing_ms >= ANSWER_MS,
            opens_others: !is_fresh,
            next_ms,
            gives_up: missing_ms >= DEAD_MS,
        }
    }
}
