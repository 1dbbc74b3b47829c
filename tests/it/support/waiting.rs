//! Waiting for a condition.

use std::time::Duration;

use tokio::time::timeout;

/// A timeout that only a hang exceeds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls until a condition holds.
pub(crate) async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    wait_for(what, async || holds().await.then_some(())).await;
}

/// Polls until there is a value, and returns it.
pub(crate) async fn wait_for<T>(what: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let awaited = timeout(2 * PATIENCE, async {
        loop {
            if let Some(found) = find().await {
                return found;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    });
    awaited.await.unwrap_or_else(|_| panic!("timed out waiting until {what}"))
}
