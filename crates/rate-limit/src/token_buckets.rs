//! Token buckets by key: a rate per second and a burst.
//!
//! A bucket is stored as the time at which it will be full again. Acquiring a token moves that time
//! by the period of one token, and fails if the time would lie further ahead than a whole burst. A
//! full bucket carries no information and is dropped.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::AdmissionError;

/// The most keys of a set of buckets. If there are more and none of them is full, the quarter with
/// the fewest taken tokens is evicted, so that a client with many keys cannot reset one that is
/// exhausted.
pub const BUCKETS_MAX: usize = 1 << 16;

/// A rate, written as in `20:80`: 20 a second, 80 at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub per_second: u32,
    pub burst: u32,
}

/// The error of a text that is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a rate as in 20:80, for 20 a second and 80 at once; neither is zero")]
pub struct ParseRateError;

impl Rate {
    /// Returns the time after which one more token is available.
    pub fn period(self) -> Duration {
        Duration::from_secs(1) / self.per_second.max(1)
    }
}

impl FromStr for Rate {
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let (per_second, burst) = text.split_once(':').ok_or(ParseRateError)?;
        let number =
            |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or(ParseRateError);
        Ok(Self { per_second: number(per_second)?, burst: number(burst)? })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.per_second, self.burst)
    }
}

/// A token bucket for each key.
#[derive(Debug)]
pub struct TokenBuckets<K> {
    rate: Rate,
    /// The time at which each bucket is full again.
    full_at: Mutex<HashMap<K, Instant>>,
}

impl<K: Copy + Eq + Hash> TokenBuckets<K> {
    pub fn new(rate: Rate) -> Self {
        Self { rate, full_at: Mutex::default() }
    }

    /// Takes one token.
    ///
    /// # Errors
    /// [`AdmissionError::TooMany`] if there is none.
    pub fn acquire(&self, key: K) -> Result<(), AdmissionError> {
        self.acquire_at(key, Instant::now())
    }

    fn acquire_at(&self, key: K, now: Instant) -> Result<(), AdmissionError> {
        let period = self.rate.period();
        let most = period * self.rate.burst;
        // The map is consistent even if the lock is poisoned, since no code panics within a change.
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() >= BUCKETS_MAX && !full_at.contains_key(&key) {
            full_at.retain(|_, full_at| *full_at > now);
            if full_at.len() >= BUCKETS_MAX {
                tracing::warn!(keys = full_at.len(), "a quarter of the token buckets is evicted");
                evict_quarter(&mut full_at);
            }
        }
        let bucket = full_at.entry(key).or_insert(now);
        let after = (*bucket).max(now) + period;
        let wait = after.duration_since(now).saturating_sub(most);
        if wait.is_zero() {
            *bucket = after;
            Ok(())
        } else {
            Err(AdmissionError::TooMany { retry_after: wait })
        }
    }
}

/// Evicts the quarter of the buckets that would be full again first.
fn evict_quarter<K: Copy + Eq + Hash>(full_at: &mut HashMap<K, Instant>) {
    let mut by_moment: Vec<(Instant, K)> = full_at.iter().map(|(key, at)| (*at, *key)).collect();
    let quarter = by_moment.len() / 4;
    by_moment.select_nth_unstable_by_key(quarter, |(at, _)| *at);
    for (_, key) in by_moment.iter().take(quarter) {
        full_at.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::{AdmissionError, BUCKETS_MAX, Rate, TokenBuckets};
    use std::time::{Duration, Instant};

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let buckets = TokenBuckets::new(RATE);
        let now = Instant::now();
        for _ in 0..3 {
            assert_eq!(buckets.acquire_at('a', now), Ok(()));
        }
        let retry_after = Duration::from_millis(100);
        assert_eq!(buckets.acquire_at('a', now), Err(AdmissionError::TooMany { retry_after }));
        assert_eq!(buckets.acquire_at('b', now), Ok(()), "each key has its own");
        assert_eq!(buckets.acquire_at('a', now + retry_after), Ok(()));
        assert!(buckets.acquire_at('a', now + retry_after).is_err());
        let later = now + Duration::from_secs(60);
        let taken = (0..10).take_while(|_| buckets.acquire_at('a', later).is_ok()).count();
        assert_eq!(taken, 3, "a bucket holds no more than a burst");
    }

    #[test]
    fn keys_are_bounded() {
        let buckets = TokenBuckets::new(RATE);
        let now = Instant::now();
        for key in 0..BUCKETS_MAX * 2 + 1 {
            assert_eq!(buckets.acquire_at(key, now), Ok(()));
            assert!(buckets.full_at.lock().unwrap().len() <= BUCKETS_MAX);
        }
        let later = now + Duration::from_secs(1);
        for key in 0..BUCKETS_MAX {
            assert_eq!(buckets.acquire_at(key, later), Ok(()));
        }
        assert!(buckets.full_at.lock().unwrap().len() <= BUCKETS_MAX);
    }

    /// A client with many addresses cannot reset an exhausted one.
    #[test]
    fn an_exhausted_key_is_not_reset_by_others() {
        let buckets = TokenBuckets::new(RATE);
        let now = Instant::now();
        for _ in 0..3 {
            assert_eq!(buckets.acquire_at(usize::MAX, now), Ok(()));
        }
        for key in 0..BUCKETS_MAX * 2 {
            assert_eq!(buckets.acquire_at(key, now), Ok(()));
            assert!(buckets.acquire_at(usize::MAX, now).is_err(), "after {key} others");
        }
    }

    #[test]
    fn a_rate_is_parsed_as_it_is_displayed() {
        assert_eq!("10:3".parse(), Ok(RATE));
        assert_eq!(RATE.to_string(), "10:3");
        for text in ["", "10", "10:", "0:1", "1:0", "-1:1", "1:1:1"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
