//! The minimum rate at which a client has to read its responses.
//!
//! Time counts only while bytes wait for the client, and every byte that the client reads makes up
//! for some of that time. A client that reads a byte now and then is therefore ended as surely as
//! one that reads nothing, while pauses of the server itself do not count.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The average number of bytes per second that a client has to read.
const BYTES_PER_SECOND: u64 = 1_024;

/// The time for which response bytes of a connection have waited for its client, in excess of the
/// minimum rate.
#[derive(Debug)]
pub(crate) struct WriteStall {
    /// The time after which the connection is ended.
    limit: Duration,
    /// The accumulated waiting time up to the last read, less the time that the bytes read since
    /// were worth.
    stalled: Duration,
    /// The time since which bytes have been waiting, if any are.
    waiting_since: Option<Instant>,
    /// The timer of the limit. It exists only while waiting time has accumulated, so that a
    /// connection whose client keeps up has none.
    timer: Option<Pin<Box<Sleep>>>,
}

impl WriteStall {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, stalled: Duration::ZERO, waiting_since: None, timer: None }
    }

    /// Records bytes that the client has read.
    pub(crate) fn record_taken(&mut self, bytes: usize, now: Instant) {
        if let Some(since) = self.waiting_since.take() {
            self.stalled += now.duration_since(since);
        }
        if self.stalled.is_zero() {
            return;
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let worth = Duration::from_micros(bytes.saturating_mul(1_000_000) / BYTES_PER_SECOND);
        self.stalled = self.stalled.saturating_sub(worth);
        if self.stalled.is_zero() {
            self.timer = None;
        }
    }

    /// Records that bytes are waiting. Becomes ready once the client has exhausted the limit.
    pub(crate) fn poll_exhausted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let deadline = since + self.limit.saturating_sub(self.stalled);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_PER_SECOND, WriteStall};
    use futures_util::FutureExt as _;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::time::{Instant, advance};

    const LIMIT: Duration = Duration::from_secs(10);

    fn is_exhausted(stall: &mut WriteStall) -> bool {
        poll_fn(|context| stall.poll_exhausted(context)).now_or_never().is_some()
    }

    /// Lets bytes wait for `wait`, then reads some. Returns whether the limit was kept.
    async fn wait_and_take(stall: &mut WriteStall, wait: Duration, bytes: u64) -> bool {
        assert!(!is_exhausted(stall));
        advance(wait).await;
        let lasts = !is_exhausted(stall);
        stall.record_taken(usize::try_from(bytes).unwrap(), Instant::now());
        lasts
    }

    #[tokio::test(start_paused = true)]
    async fn occasional_bytes_do_not_keep_a_connection() {
        let mut stall = WriteStall::new(LIMIT);
        let second = Duration::from_secs(1);
        for _ in 0..9 {
            assert!(wait_and_take(&mut stall, second, 1).await);
        }
        assert!(!wait_and_take(&mut stall, second * 2, 1).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_at_the_minimum_rate_is_never_ended() {
        let mut stall = WriteStall::new(LIMIT);
        for _ in 0..100 {
            assert!(wait_and_take(&mut stall, Duration::from_secs(5), 5 * BYTES_PER_SECOND).await);
        }
        assert!(stall.timer.is_none(), "no timer is left");
    }

    #[tokio::test(start_paused = true)]
    async fn time_without_waiting_bytes_is_not_counted() {
        let mut stall = WriteStall::new(LIMIT);
        for _ in 0..10 {
            assert!(wait_and_take(&mut stall, Duration::from_millis(900), 1).await);
            advance(Duration::from_hours(1)).await;
        }
    }
}
