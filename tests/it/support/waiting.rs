//! Waiting for a condition, and ports to wait at.

use std::net::TcpListener;
use std::time::Duration;

use tokio::time::timeout;

/// A timeout that only a hang exceeds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.expect("loopback has a free port").port()
}

/// Polls until a condition holds.
pub(crate) async fn wait_until(what: &str, holds: impl AsyncFn() -> bool) {
    let awaited = timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    });
    assert!(awaited.await.is_ok(), "timed out waiting until {what}");
}
