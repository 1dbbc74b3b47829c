//! Looks for tables whose deadline has passed, and attends to them. Every process may; a claim
//! keeps two from doing the same work, and if both do, one append fails harmlessly.

use std::time::Duration;

use bahay_engine::game::Game;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::tables::Tables;

/// How often the deadlines are looked at: the most by which a clock is late.
const LOOK: Duration = Duration::from_millis(50);

/// A table that was taken and not attended to is due again after this.
const CLAIM_MS: u32 = 1_000;

/// How many looks between two rounds of sweeping.
const SWEEP_EVERY: u32 = 200;

impl<G: Game> Tables<G> {
    /// Attends to due tables until it is dropped.
    pub async fn tick(self) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut attended = JoinSet::new();
        let mut is_down = false;
        for look in 0_u32.. {
            looks.tick().await;
            match self.inner.live.take_due(self.inner.clock.now(), CLAIM_MS).await {
                Ok(tables) => {
                    is_down = false;
                    for table in tables {
                        let tables = self.clone();
                        attended.spawn(async move { tables.attend(table).await });
                    }
                }
                // Clocks stand still while live state is away. Said once.
                Err(error) => {
                    if !is_down {
                        tracing::error!(%error, "the clocks of all tables stand still");
                    }
                    is_down = true;
                }
            }
            while let Some(ended) = attended.try_join_next() {
                if let Err(error) = ended {
                    tracing::error!(%error, "attending to a table failed");
                }
            }
            if look % SWEEP_EVERY == SWEEP_EVERY - 1 {
                for slot in self.all() {
                    slot.catch_up(&self.inner).await;
                }
                self.sweep();
            }
        }
    }
}
