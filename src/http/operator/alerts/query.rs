//! The part of the alerts that the API and the desk share.

use std::time::Duration;

use bahay_api::operator::alerts::HouseAlerts;

use crate::clock::Timestamp;
use crate::http::{Problem, Services};
use crate::operators::Alerts;

/// The time within which the live store has to accept a write. It is short, because the desk shows
/// a failure within three seconds.
const LIVE_STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the conditions of the house.
pub(super) async fn read_alerts(services: &Services) -> Result<HouseAlerts, Problem> {
    let at = services.clock.now();
    let live = async {
        services.live.check_writable().await?;
        services.live.count_dead_nodes(at).await
    };
    let dead_nodes = tokio::time::timeout(LIVE_STORE_TIMEOUT, live).await;
    let dead_nodes = dead_nodes.ok().and_then(Result::ok);
    let suspected = count_suspected(services, at).await;
    let alerts = Alerts::new(services.pool.clone());
    Ok(alerts.read(at, dead_nodes, suspected).await?)
}

/// Returns the number of pairs with signs of collusion that reach the alert score. The other alerts
/// do not depend on it, so a failure is logged and gives `None`.
pub(in crate::http::operator) async fn count_suspected(
    services: &Services,
    now: Timestamp,
) -> Option<i64> {
    let counted = services.pairs.count_suspected(now).await;
    counted.inspect_err(|error| tracing::warn!(%error, "pairs could not be ranked")).ok()
}
