//! Rate limits of a connection's commands and of a player's phrases, as token buckets.

use std::time::{Duration, Instant};

use crate::rate_limit::Rate;
use crate::ws::protocol::limits::{PHRASES_BURST, PHRASES_REFILL_MS, REJECTIONS_MAX};

/// A token bucket, which begins full and gets one token in each interval. It is stored as the time
/// at which it is full again.
#[derive(Debug)]
struct TokenBucket {
    full_at: Instant,
}

impl TokenBucket {
    fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes a token. Returns false if there is none.
    fn try_acquire(&mut self, burst: u32, refill: Duration, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + refill;
        let is_filled = full_at - now <= refill * burst;
        if is_filled {
            self.full_at = full_at;
        }
        is_filled
    }
}

/// The rate limit of phrases.
#[derive(Debug)]
pub(super) struct PhraseRate(TokenBucket);

impl PhraseRate {
    pub(super) fn new(now: Instant) -> Self {
        Self(TokenBucket::new(now))
    }

    /// Takes a token. Returns false if there is none.
    pub(super) fn try_acquire(&mut self, now: Instant) -> bool {
        self.0.try_acquire(PHRASES_BURST, Duration::from_millis(PHRASES_REFILL_MS), now)
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
    rate: Rate,
    bucket: TokenBucket,
    rejections: u32,
}

impl CommandRate {
    pub(super) fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, bucket: TokenBucket::new(now), rejections: 0 }
    }

    pub(super) fn try_acquire(&mut self, now: Instant) -> RateDecision {
        if self.bucket.try_acquire(self.rate.burst, self.rate.period(), now) {
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
        CommandRate, PHRASES_BURST, PHRASES_REFILL_MS, PhraseRate, REJECTIONS_MAX, Rate,
        RateDecision,
    };
    use crate::rate_limit::COMMANDS_PER_SOCKET;
    use crate::ws::protocol::limits::{BURST, REFILL_MS};
    use std::time::{Duration, Instant};

    const REFILL: Duration = Duration::from_millis(REFILL_MS);
    const PHRASES_REFILL: Duration = Duration::from_millis(PHRASES_REFILL_MS);

    #[test]
    fn the_default_rate_is_that_of_the_protocol() {
        let Rate { per_second, burst } = COMMANDS_PER_SOCKET;
        assert_eq!((u64::from(per_second) * REFILL_MS, burst), (1_000, BURST));
    }

    #[test]
    fn a_burst_is_allowed_then_rejected_then_closed() {
        let now = Instant::now();
        let mut rate = CommandRate::new(COMMANDS_PER_SOCKET, now);
        assert!((0..BURST).all(|_| rate.try_acquire(now) == RateDecision::Allow));
        assert!((0..REJECTIONS_MAX).all(|_| rate.try_acquire(now) == RateDecision::Reject));
        assert_eq!(rate.try_acquire(now), RateDecision::Close);
    }

    #[test]
    fn the_bucket_refills_with_time() {
        let now = Instant::now();
        let mut rate = CommandRate::new(COMMANDS_PER_SOCKET, now);
        while rate.try_acquire(now) == RateDecision::Allow {}
        assert_eq!(rate.try_acquire(now + REFILL), RateDecision::Allow);
        assert_eq!(rate.try_acquire(now + REFILL), RateDecision::Reject);
        let later = now + REFILL * (BURST * 3);
        assert!((0..BURST).all(|_| rate.try_acquire(later) == RateDecision::Allow));
        assert_eq!(rate.try_acquire(later), RateDecision::Reject);
    }

    #[test]
    fn a_raised_rate_allows_more() {
        let now = Instant::now();
        let mut rate = CommandRate::new(Rate { per_second: 1_000, burst: 100 }, now);
        assert!((0..100).all(|_| rate.try_acquire(now) == RateDecision::Allow));
        assert_eq!(rate.try_acquire(now), RateDecision::Reject);
        let later = now + Duration::from_millis(7);
        assert!((0..7).all(|_| rate.try_acquire(later) == RateDecision::Allow));
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
