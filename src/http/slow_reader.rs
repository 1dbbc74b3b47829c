//! The least rate at which a client has to take its answers.
//!
//! Time counts only while bytes wait for the client, and every byte that it takes makes up for
//! some of it. So a client that takes a byte now and then is ended as surely as one that takes
//! nothing, and a pause of the server's own is held against nobody.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes a second that a client takes at least, on average.
const BYTES_PER_SECOND: u64 = 1_024;

/// The time that a connection's answers have waited for its client.
#[derive(Debug)]
pub(super) struct WriteDebt {
    /// How much of it is let pass.
    patience: Duration,
    /// Up to the last byte that was taken, less what that was worth.
    owed: Duration,
    /// Set while bytes wait.
    waiting_since: Option<Instant>,
    /// Set while there is a debt, so that a connection whose client keeps up has no timer for it.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl WriteDebt {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, owed: Duration::ZERO, waiting_since: None, alarm: None }
    }

    /// Notes bytes that the client took.
    pub(super) fn note_taken(&mut self, bytes: usize, now: Instant) {
        if let Some(since) = self.waiting_since.take() {
            self.owed += now.duration_since(since);
        }
        if self.owed.is_zero() {
            return;
        }
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let worth = Duration::from_micros(bytes.saturating_mul(1_000_000) / BYTES_PER_SECOND);
        self.owed = self.owed.saturating_sub(worth);
        if self.owed.is_zero() {
            self.alarm = None;
        }
    }

    /// Notes that bytes wait, and is ready once the client has let them wait for too long.
    pub(super) fn poll_exhausted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let over = since + self.patience.saturating_sub(self.owed);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(over)));
        if alarm.deadline() != over {
            alarm.as_mut().reset(over);
        }
        alarm.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_PER_SECOND, WriteDebt};
    use futures_util::FutureExt as _;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::time::{Instant, advance};

    const PATIENCE: Duration = Duration::from_secs(10);

    fn is_exhausted(debt: &mut WriteDebt) -> bool {
        poll_fn(|context| debt.poll_exhausted(context)).now_or_never().is_some()
    }

    /// Lets bytes wait for so long, and then takes some; whether patience lasted.
    async fn wait_and_take(debt: &mut WriteDebt, wait: Duration, bytes: u64) -> bool {
        assert!(!is_exhausted(debt));
        advance(wait).await;
        let lasts = !is_exhausted(debt);
        debt.note_taken(usize::try_from(bytes).unwrap(), Instant::now());
        lasts
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_now_and_then_does_not_keep_a_connection() {
        let mut debt = WriteDebt::new(PATIENCE);
        let second = Duration::from_secs(1);
        for _ in 0..9 {
            assert!(wait_and_take(&mut debt, second, 1).await);
        }
        assert!(!wait_and_take(&mut debt, second * 2, 1).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_at_the_least_rate_goes_on_for_ever() {
        let mut debt = WriteDebt::new(PATIENCE);
        for _ in 0..100 {
            assert!(wait_and_take(&mut debt, Duration::from_secs(5), 5 * BYTES_PER_SECOND).await);
        }
        assert!(debt.alarm.is_none(), "no timer is kept for it");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_waits_is_not_counted() {
        let mut debt = WriteDebt::new(PATIENCE);
        for _ in 0..10 {
            assert!(wait_and_take(&mut debt, Duration::from_millis(900), 1).await);
            advance(Duration::from_hours(1)).await;
        }
    }
}
