//! Rate limits of a connection's commands and of a player's phrases, as token buckets.

use std::time::{Duration, Instant};

use crate::ws::protocol::limits::{
    BURST, PHRASES_BURST, PHRASES_REFILL_MS, REFILL_MS, REJECTIONS_MAX,
};

/// A token bucket, which begins full and gets one token in each interval.
#[derive(Debug)]
pub(super) struct TokenBucket<const BURST: u32, const REFILL_MS: u64> {
    tokens: u32,
    filled_at: Instant,
}

/// The rate limit of phrases.
pub(super) type PhraseRate = TokenBucket<PHRASES_BURST, PHRASES_REFILL_MS>;

impl<const BURST: u32, const REFILL_MS: u64> TokenBucket<BURST, REFILL_MS> {
    pub(super) fn new(now: Instant) -> Self {
        Self { tokens: BURST, filled_at: now }
    }

    /// Takes a token. Returns false if there is none.
    pub(super) fn try_acquire(&mut self, now: Instant) -> bool {
        let refill = Duration::from_millis(REFILL_MS);
        let periods = now.duration_since(self.filled_at).as_nanos() / refill.as_nanos();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        if periods >= BURST - self.tokens {
            self.tokens = BURST;
            self.filled_at = now;
        } else {
            self.tokens += periods;
            self.filled_at += refill * periods;
        }
        let left = self.tokens.checked_sub(1);
        self.tokens = left.unwrap_or_default();
        left.is_some()
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
    bucket: TokenBucket<BURST, REFILL_MS>,
    rejections: u32,
}

impl CommandRate {
    pub(super) fn new(now: Instant) -> Self {
        Self { bucket: TokenBucket::new(now), rejections: 0 }
    }

    pub(super) fn try_acquire(&mut self, now: Instant) -> RateDecision {
        if self.bucket.try_acquire(now) {
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
        BURST, CommandRate, PHRASES_BURST, PHRASES_REFILL_MS, PhraseRate, REFILL_MS,
        REJECTIONS_MAX, RateDecision,
    };
    use std::time::{Duration, Instant};

    const REFILL: Duration = Duration::from_millis(REFILL_MS);
    const PHRASES_REFILL: Duration = Duration::from_millis(PHRASES_REFILL_MS);

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
