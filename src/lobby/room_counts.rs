//! The players and tables of each room, as sampled for metrics. A scrape reads the last sample, so it
//! waits for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::Lobby;
use crate::live_store::PlayingCount;

/// The interval of samples. A sample costs a call to the live store for each room.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(10);

/// The last sample, empty while the live store does not respond. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RoomCounts(Arc<Mutex<BTreeMap<String, PlayingCount>>>);

impl RoomCounts {
    /// Returns the number of players at the tables of each room.
    pub fn players(&self) -> Vec<(String, u64)> {
        self.lock().iter().map(|(room, count)| (room.clone(), count.players)).collect()
    }

    /// Returns the number of tables with players in each room.
    pub fn tables(&self) -> Vec<(String, u64)> {
        self.lock().iter().map(|(room, count)| (room.clone(), count.tables)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, PlayingCount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lobby {
    /// Samples the players and tables of the rooms. Runs for as long as it is polled.
    pub async fn sample_room_counts(self, counts: RoomCounts) {
        let mut ticks = tokio::time::interval(SAMPLE_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let sample = self.playing_counts().await.unwrap_or_else(|error| {
                tracing::debug!(%error, "the players of the rooms could not be counted");
                BTreeMap::new()
            });
            *counts.lock() = sample;
        }
    }
}
