//! The number of suspected pairs for the alerts, which are requested every second by every page.
//!
//! Counting ranks all pairs, which takes as long as the database needs for it. It is done in the
//! background, by one task at a time; a request waits for it a moment and is then answered with the
//! last number.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::clock::Moment;
use crate::reports::ReportError;

/// The age from which the number is counted again.
const AGE_MAX: Duration = Duration::from_mins(1);

/// The time for which a request waits for a new number. Alerts are displayed within three seconds.
const WAIT: Duration = Duration::from_secs(1);

/// The last number of suspected pairs. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SuspectedPairs {
    /// Held by the task that counts.
    turn: Arc<Mutex<()>>,
    latest: watch::Sender<LatestCount>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LatestCount {
    /// `None` if no number is known, because counting failed or has not ended yet.
    count: Option<i64>,
    /// The beginning of the count; `None` if it has to be counted again at the next request.
    begun_at: Option<Moment>,
    /// The number of reviews that this process has recorded. A count that began before the last one is
    /// outdated.
    reviews: u64,
}

impl LatestCount {
    fn is_current(&self) -> bool {
        self.begun_at.is_some_and(|at| at.elapsed() < AGE_MAX)
    }
}

impl SuspectedPairs {
    /// Returns the number of suspected pairs, at most a minute old if `count` returns within a second;
    /// otherwise the last one. Returns `None` if there is none, or the last count failed.
    pub(super) async fn read<F>(&self, count: impl Fn() -> F) -> Option<i64>
    where
        F: Future<Output = Result<i64, ReportError>> + Send + 'static,
    {
        // Subscribed before the check, so that no number is missed.
        let mut counted = self.latest.subscribe();
        let refreshed = async {
            while !self.latest.borrow().is_current() {
                self.start_count(&count);
                let is_known = counted.changed().await.is_ok() && counted.borrow().count.is_some();
                if !is_known {
                    break;
                }
            }
        };
        // After the timeout the task goes on, and its number is that of a later request.
        let _ = timeout(WAIT, refreshed).await;
        self.latest.borrow().count
    }

    /// Lets the next request count again.
    pub(super) fn forget(&self) {
        self.latest.send_modify(|latest| {
            latest.reviews += 1;
            latest.begun_at = None;
        });
    }

    /// Starts a count unless one is running.
    fn start_count<F>(&self, count: impl Fn() -> F)
    where
        F: Future<Output = Result<i64, ReportError>> + Send + 'static,
    {
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else {
            return;
        };
        let counting = count();
        let reviews = self.latest.borrow().reviews;
        let begun_at = Moment::now();
        let latest = self.latest.clone();
        tokio::spawn(async move {
            let counted = counting.await;
            let counted =
                counted.inspect_err(|error| tracing::warn!(%error, "pairs could not be ranked"));
            // The turn ends first, so that whoever sees the number may count again.
            drop(turn);
            latest.send_modify(|latest| {
                latest.count = counted.ok();
                let is_valid = latest.count.is_some() && latest.reviews == reviews;
                latest.begun_at = is_valid.then_some(begun_at);
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::SuspectedPairs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use tokio::sync::Semaphore;

    #[tokio::test(start_paused = true)]
    async fn a_slow_count_is_answered_by_the_last_number_and_runs_once() {
        let suspected = SuspectedPairs::default();
        let begun = Arc::new(AtomicI64::new(0));
        let permits = Arc::new(Semaphore::new(1));
        let count = || {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await.unwrap().forget();
                Ok(10 + number)
            }
        };
        assert_eq!(suspected.read(count).await, Some(10));
        assert_eq!(suspected.read(count).await, Some(10), "it is current");
        suspected.forget();
        for _ in 0..3 {
            assert_eq!(suspected.read(count).await, Some(10), "the count does not end");
        }
        assert_eq!(begun.load(Ordering::Relaxed), 2, "one count at a time");
        // It began before this review, so it is followed by another one.
        suspected.forget();
        permits.add_permits(2);
        assert_eq!(suspected.read(count).await, Some(12));
        assert_eq!(suspected.read(count).await, Some(12));
    }

    #[tokio::test]
    async fn a_failed_count_is_known_as_such_and_repeated() {
        let suspected = SuspectedPairs::default();
        assert_eq!(suspected.read(async || Ok(7)).await, Some(7));
        suspected.forget();
        assert_eq!(suspected.read(async || Err(sqlx::Error::PoolClosed)).await, None);
        assert_eq!(suspected.read(async || Ok(8)).await, Some(8));
    }
}
