//! The part of the alerts that the API and the desk share.

use std::time::Duration;

use bahay_api::operator::alerts::HouseAlerts;

use crate::http::{Problem, Services};
use crate::live_store::Unavailable;
use crate::operators::{Alerts, FailedNodes};

/// The time within which the live store has to accept a write. It is short, because the desk shows
/// a failure within three seconds.
const LIVE_STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the conditions of the house.
pub(super) async fn read_alerts(services: &Services) -> Result<HouseAlerts, Problem> {
    let at = services.clock.now();
    let live = async {
        services.live.check_writable().await?;
        let (silent, dead) = tokio::try_join!(
            services.live.count_silent_nodes(),
            services.live.count_dead_nodes(at)
        )?;
        Ok::<_, Unavailable>(FailedNodes { silent, dead })
    };
    // Neither waits for the other: together they leave time within the three seconds.
    let (failed_nodes, suspected) = tokio::join!(
        tokio::time::timeout(LIVE_STORE_TIMEOUT, live),
        services.pairs.count_suspected(at)
    );
    let failed_nodes = failed_nodes.ok().and_then(Result::ok);
    let alerts = Alerts::new(services.pool.clone());
    Ok(alerts.read(at, failed_nodes, suspected).await?)
}
