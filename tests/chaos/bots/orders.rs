//! The orders by which clients misbehave, and the behaviour that follows.

use std::time::{Duration, Instant};

/// An order to a client, beside playing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Disconnect abruptly and stay away for this time.
    Drop(Duration),
    /// Stay away for this time after the next lost connection.
    Linger(Duration),
    Leave,
    /// Stop reading for this time.
    Slow(Duration),
    /// Become neither ready nor act for this time.
    Idle(Duration),
    /// Send every command twice for this time.
    Repeat(Duration),
    /// Behave normally again.
    Behave,
}

/// The current behaviour of a client. A time is `None` without an order, which is before every
/// time.
#[derive(Debug, Default)]
pub(super) struct Manners {
    pub(super) idle_until: Option<Instant>,
    pub(super) slow_until: Option<Instant>,
    pub(super) repeat_until: Option<Instant>,
    pub(super) linger: Duration,
    pub(super) leave: bool,
}
