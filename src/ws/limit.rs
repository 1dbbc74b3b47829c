//! How fast a client may send, and how often its player may speak: buckets of tokens that fill
//! with time.

use std::time::{Duration, Instant};

/// Messages at once.
pub(super) const BURST: u32 = 40;
/// One more after each of these: 20 a second.
pub(super) const REFILL: Duration = Duration::from_millis(50);
/// Refusals for being too fast before the connection is closed.
pub(super) const PATIENCE: u32 = 40;

/// Phrases at once.
pub(super) const PHRASES_BURST: u32 = 3;
/// One more after each of these.
pub(super) const PHRASES_REFILL: Duration = Duration::from_secs(2);

/// How often a player may speak: a bucket as well.
#[derive(Debug)]
pub(super) struct Speech {
    tokens: u32,
    filled_at: Instant,
}

impl Speech {
    pub(super) fn new(now: Instant) -> Self {
        Self { tokens: PHRASES_BURST, filled_at: now }
    }

    /// Whether another phrase may be said now.
    pub(super) fn take(&mut self, now: Instant) -> bool {
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

/// What a message meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    /// Refuse the message, keep the connection.
    Refuse,
    /// Close the connection.
    Close,
}

/// The bucket of one connection.
#[derive(Debug)]
pub(super) struct Limit {
    tokens: u32,
    filled_at: Instant,
    refusals: u32,
}

impl Limit {
    pub(super) fn new(now: Instant) -> Self {
        Self { tokens: BURST, filled_at: now, refusals: 0 }
    }

    pub(super) fn take(&mut self, now: Instant) -> Verdict {
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
            self.refusals = 0;
            return Verdict::Pass;
        }
        self.refusals += 1;
        if self.refusals > PATIENCE { Verdict::Close } else { Verdict::Refuse }
    }
}

#[cfg(test)]
mod tests {
    use super::{BURST, Limit, PATIENCE, PHRASES_BURST, PHRASES_REFILL, REFILL, Speech, Verdict};
    use std::time::Instant;

    #[test]
    fn a_burst_passes_then_refusals_then_the_end() {
        let now = Instant::now();
        let mut limit = Limit::new(now);
        assert!((0..BURST).all(|_| limit.take(now) == Verdict::Pass));
        assert!((0..PATIENCE).all(|_| limit.take(now) == Verdict::Refuse));
        assert_eq!(limit.take(now), Verdict::Close);
    }

    #[test]
    fn the_bucket_fills_with_time() {
        let now = Instant::now();
        let mut limit = Limit::new(now);
        while limit.take(now) == Verdict::Pass {}
        assert_eq!(limit.take(now + REFILL), Verdict::Pass);
        assert_eq!(limit.take(now + REFILL), Verdict::Refuse);
        let later = now + REFILL * (BURST * 3);
        assert!((0..BURST).all(|_| limit.take(later) == Verdict::Pass));
        assert_eq!(limit.take(later), Verdict::Refuse);
    }

    #[test]
    fn some_phrases_at_once_and_then_one_now_and_then() {
        let now = Instant::now();
        let mut speech = Speech::new(now);
        assert!((0..PHRASES_BURST).all(|_| speech.take(now)));
        assert!(!speech.take(now));
        assert!(speech.take(now + PHRASES_REFILL));
        assert!(!speech.take(now + PHRASES_REFILL));
        assert!((0..PHRASES_BURST).all(|_| speech.take(now + PHRASES_REFILL * 9)));
    }
}
