//! Rate limits of a connection's commands and of a player's phrases, as token buckets.

use std::time::{Duration, Instant};

/// The burst of commands.
pub(in crate::ws) const BURST: u32 = 40;
/// The refill interval of one command: 20 a second.
pub(in crate::ws) const REFILL: Duration = Duration::from_millis(50);
/// The number of consecutive rejections after which the connection is closed.
pub(in crate::ws) const REJECTIONS_MAX: u32 = 40;

/// The burst of phrases.
pub(in crate::ws) const PHRASES_BURST: u32 = 3;
/// The refill interval of one phrase.
pub(in crate::ws) const PHRASES_REFILL: Duration = Duration::from_secs(2);

/// The rate limit of phrases.
#[derive(Debug)]
pub(super) struct PhraseRate {
    tokens: u32,
    filled_at: Instant,
}

impl PhraseRate {
    pub(super) fn new(now: Instant) -> Self {
        Self { tokens: PHRASES_BURST, filled_at: now }
    }

    /// Takes a token. Returns false if there is none.
    pub(super) fn try_acquire(&mut self, now: Instant) -> bool {
        let periods = now.duration_since(self.filled_at).as_nanos() / PHRASES_REFILL.as_nanos();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        if periods >= PHRASES_BURST - self.tokens {
            self.tokens = PHRASES_BURST;
            self.filled_at = now;
        } else {
            self.tokens += periods;
            self.filled_at += PHRASES_REFILL * periods;
        }
        if self.tokens == 0 {
            return false;
        }
        self.tokens -= 1;
        true
    }
}

/// The decision about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateDecision {
    Allow,
    /// Refuse the command and keep the connection.
    Reject,
    /// Close the connection.
    Close,
}

/// The rate limit of one connection's commands.
#[derive(Debug)]
pub(super) struct CommandRate {
    tokens: u32,
    filled_at: Instant,
    rejections: u32,
}

impl CommandRate {
    pub(super) fn new(now: Instant) -> Self {
        Self { tokens: BURST, filled_at: now, rejections: 0 }
    }

    pub(super) fn try_acquire(&mut self, now: Instant) -> RateDecision {
        let periods = now.duration_since(self.filled_at).as_nanos() / REFILL.as_nanos();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        if periods >= BURST - self.tokens {
            self.tokens = BURST;
            self.filled_at = now;
        } else {
            self.tokens += periods;
            self.filled_at += REFILL * periods;
        }
        if self.tokens > 0 {
            self.tokens -= 1;
            self.rejections = 0;
            return RateDecision::Allow;
        }
        self.rejections += 1;
        if self.rejections > REJECTIONS_MAX { RateDecision::Close } else { RateDecision::Reject }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BURST, CommandRate, PHRASES_BURST, PHRASES_REFILL, PhraseRate, REFILL, REJECTIONS_MAX,
        RateDecision,
    };
    use std::time::Instant;

    #[test]
    fn a_burst_is_allowed_then_rejected_then_closed() {
        let now = Instant::now();
        let mut rate = CommandRate::new(now);
        assert!((0..BURST).all(|_| rate.try_acquire(now) == RateDecision::Allow));
        assert!((0..REJECTIONS_MAX).all(|_| rate.try_acquire(now) == RateDecision::Reject));
        assert_eq!(rate.try_acquire(now), RateDecision::Close);
    }

    #[test]
    fn the_bucket_refills_with_time() {
        let now = Instant::now();
        let mut rate = CommandRate::new(now);
        while rate.try_acquire(now) == RateDecision::Allow {}
        assert_eq!(rate.try_acquire(now + REFILL), RateDecision::Allow);
        assert_eq!(rate.try_acquire(now + REFILL), RateDecision::Reject);
        let later = now + REFILL * (BURST * 3);
        assert!((0..BURST).all(|_| rate.try_acquire(later) == RateDecision::Allow));
        assert_eq!(rate.try_acquire(later), RateDecision::Reject);
    }

    #[test]
    fn phrases_are_limited_to_a_burst_and_a_refill_rate() {
        let now = Instant::now();
        let mut rate = PhraseRate::new(now);
        assert!((0..PHRASES_BURST).all(|_| rate.try_acquire(now)));
        assert!(!rate.try_acquire(now));
        assert!(rate.try_acquire(now + PHRASES_REFILL));
        assert!(!rate.try_acquire(now + PHRASES_REFILL));
        assert!((0..PHRASES_BURST).all(|_| rate.try_acquire(now + PHRASES_REFILL * 9)));
    }
}
