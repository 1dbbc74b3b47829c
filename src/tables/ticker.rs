//! Finds tables whose deadline has passed, and runs their effects. Every process does so; a claim
//! keeps two processes from the same work, and if both do it, one append fails harmlessly.
//!
//! Shards of one server are queried in one call, and again only after its response, so a stalled
//! server does not hold up the others.

use std::collections::BTreeSet;
use std::time::Duration;

use bahay_bots::Ai;
use bahay_engine::table::{Readable, TableId};
use bahay_shell::{Reply, Request, TableError};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::live_store::Unavailable;
use crate::tables::Tables;

/// The interval of the search for due tables: the most by which a countdown is late.
const TICK: Duration = Duration::from_millis(50);

/// A due table that was claimed and not handled is due again after this time.
const CLAIM_MS: u32 = 1_000;

/// The number of ticks between two sweeps.
const SWEEP_EVERY: u32 = 200;

impl<G: Ai + Readable> Tables<G> {
    /// Runs due tables until it is dropped.
    pub async fn run_ticker(self) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut idle: BTreeSet<Vec<u16>> = self.inner.live.shard_batches().into_iter().collect();
        let mut requests = FuturesUnordered::new();
        let mut down = BTreeSet::new();
        let mut running = JoinSet::new();
        let mut tick = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    let shards = std::mem::take(&mut idle);
                    requests.extend(shards.into_iter().map(|shards| self.take_due(shards)));
                    tick = tick.wrapping_add(1);
                    self.read_stale();
                    if tick.is_multiple_of(SWEEP_EVERY) {
                        let tables = self.clone();
                        running.spawn(async move {
                            tables.catch_up_all().await;
                            tables.drop_unused_drivers();
                        });
                    }
                }
                Some((shards, due)) = requests.next() => {
                    match due {
                        Ok(due) => {
                            down.remove(&shards);
                            for table in due {
                                let tables = self.clone();
                                running.spawn(async move { tables.run_due_effects(table).await });
                            }
                        }
                        // The clocks of tables stop while live state is unavailable. Logged once.
                        Err(error) => {
                            if down.is_empty() {
                                tracing::error!(?shards, %error,
                                    "table clocks have stopped: live state is unavailable");
                            }
                            down.insert(shards.clone());
                        }
                    }
                    idle.insert(shards);
                }
                Some(ended) = running.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a due table's task panicked");
                    }
                }
            }
        }
    }

    /// Runs the effects of a due table.
    async fn run_due_effects(&self, id: TableId) {
        match self.driver(id).request(self, Request::RunEffects).await {
            Reply::Table(Err(TableError::Unavailable(error))) => {
                tracing::warn!(table = %id, %error, "a due table could not be read");
            }
            // The cause is logged where it occurs.
            Reply::Table(_) | Reply::Submitted(_) | Reply::Watched(_) | Reply::Done(_) => {}
        }
    }

    async fn take_due(&self, shards: Vec<u16>) -> (Vec<u16>, Result<Vec<TableId>, Unavailable>) {
        let times = shards.iter().map(|shard| (*shard, self.inner.clock_in(*shard).now()));
        let times: Vec<_> = times.collect();
        let due = self.inner.live.claim_due(&times, CLAIM_MS).await;
        (shards, due)
    }
}
