//! The analyses of finished games by the house's strongest bot, as a service of this node.
//!
//! An analysis takes up to two seconds of processor time. A node therefore runs one analysis at a
//! time, on a thread of the lowest priority, with a bounded queue in front of it and a rate limit
//! per player. Results are cached, because the analysis of a game is deterministic.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bahay_engine::seat::Seat;
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

use crate::http::{Code, CodeExt as _, Problem};
use crate::ids::PlayerId;
use crate::rate_limit::{Rate, TokenBuckets};
use crate::replay::{GameReplay, JudgedStep, ReplayError};

/// The maximum number of analyses that wait on a node while another one runs.
const QUEUED_MAX: usize = 4;

/// The maximum number of analyses in a node's cache.
const CACHED_MAX: usize = 512;

/// The rate limit of a player's requests for analyses that are not in the node's cache.
const REQUESTS_PER_PLAYER: Rate = Rate { per_second: 1, burst: 6 };

/// The options of a node's analyses.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisOptions {
    /// The time for which a request waits for its analysis. An analysis goes on afterwards, so a
    /// retry finds its result.
    pub wait_max: Duration,
    /// The increment of the niceness of the thread that analyses, from 0 to 19. At 19 the thread
    /// has the lowest priority on Linux that still shares a processor.
    pub nice: i32,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self { wait_max: Duration::from_secs(5), nice: 19 }
    }
}

/// The decisions of one player in a game, as judged by the bot.
pub(crate) type JudgedSteps = Arc<[JudgedStep]>;

/// The analyses of this node. Clones share one cache and one queue.
#[derive(Clone, Debug)]
pub struct Analyses(Arc<AnalysesInner>);

#[derive(Debug)]
struct AnalysesInner {
    options: AnalysisOptions,
    /// One permit per admitted request: the running one and the queued ones.
    queue_slots: Arc<Semaphore>,
    /// The permit of the running analysis.
    worker: Arc<Semaphore>,
    per_player: TokenBuckets<PlayerId>,
    cache: Mutex<AnalysisCache>,
}

#[derive(Debug, Default)]
struct AnalysisCache {
    /// The results by game and seat; `None` for a game that no bot can analyse.
    by_seat: HashMap<(Uuid, Seat), Option<JudgedSteps>>,
    /// The keys of `by_seat`, the oldest first.
    order: VecDeque<(Uuid, Seat)>,
}

impl Default for Analyses {
    fn default() -> Self {
        Self::new(AnalysisOptions::default())
    }
}

impl Analyses {
    /// Creates the service with an empty cache.
    #[must_use]
    pub fn new(options: AnalysisOptions) -> Self {
        Self(Arc::new(AnalysesInner {
            options,
            queue_slots: Arc::new(Semaphore::new(1 + QUEUED_MAX)),
            worker: Arc::new(Semaphore::new(1)),
            per_player: TokenBuckets::new(REQUESTS_PER_PLAYER),
            cache: Mutex::default(),
        }))
    }

    /// Returns the bot's judgement of a player's decisions, from the cache or by a new analysis.
    ///
    /// # Errors
    /// `too_many_requests` by the player's rate limit, and `analysis_busy` if the queue is full or the
    /// result is not there within [`AnalysisOptions::wait_max`].
    pub(crate) async fn analyze(
        &self,
        player: PlayerId,
        game: Uuid,
        seat: Seat,
        record: Value,
    ) -> Result<Option<JudgedSteps>, Problem> {
        if let Some(cached) = self.lock_cache().by_seat.get(&(game, seat)) {
            return Ok(cached.clone());
        }
        self.0.per_player.acquire(player)?;
        let analyzed = timeout(self.0.options.wait_max, self.run(game, seat, record)).await;
        analyzed.unwrap_or_else(|_| Err(busy()))
    }

    /// Runs an analysis as soon as those before it have ended.
    async fn run(
        &self,
        game: Uuid,
        seat: Seat,
        record: Value,
    ) -> Result<Option<JudgedSteps>, Problem> {
        let queue_slot = self.0.queue_slots.clone().try_acquire_owned().map_err(|_| busy())?;
        let worker_permit = self.0.worker.clone().acquire_owned().await.map_err(|_| busy())?;
        if let Some(cached) = self.lock_cache().by_seat.get(&(game, seat)) {
            // Another request cached the result while this one waited in the queue.
            return Ok(cached.clone());
        }
        let (answer, answered) = oneshot::channel();
        let analyses = self.clone();
        let nice = self.0.options.nice;
        let work = move || {
            let judged =
                analyze_record(record, seat, nice).map(|judged| judged.map(JudgedSteps::from));
            if let Ok(judged) = &judged {
                analyses.lock_cache().insert((game, seat), judged.clone());
            }
            // The permits are released here, even if the client has gone away in the meantime.
            drop((queue_slot, worker_permit));
            let _ = answer.send(judged);
        };
        let began = thread::Builder::new().name("analyst".into()).spawn(work);
        began.map_err(|error| Problem::unavailable(&error))?;
        let judged = answered.await.map_err(|_| Problem::internal(&"an analysis panicked"))?;
        judged.map_err(|error| Problem::internal(&error))
    }

    fn lock_cache(&self) -> MutexGuard<'_, AnalysisCache> {
        self.0.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnalysisCache {
    fn insert(&mut self, key: (Uuid, Seat), judged: Option<JudgedSteps>) {
        if self.by_seat.insert(key, judged).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > CACHED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_seat.remove(&oldest);
        }
    }
}

fn busy() -> Problem {
    Code::AnalysisBusy.with_detail("retry in a moment")
}

/// Analyses a record on a thread whose niceness is increased by `nice`.
fn analyze_record(
    record: Value,
    seat: Seat,
    nice: i32,
) -> Result<Option<Vec<JudgedStep>>, ReplayError> {
    if let Err(error) = rustix::process::nice(nice) {
        tracing::warn!(%error, "an analysis runs without a lower priority");
    }
    GameReplay::from_value(record)?.analyze(seat)
}

#[cfg(test)]
mod tests {
    use super::{
        Analyses, AnalysisCache, CACHED_MAX, Code, PlayerId, QUEUED_MAX, REQUESTS_PER_PLAYER, Seat,
    };
    use serde_json::Value;
    use uuid::Uuid;

    #[tokio::test]
    async fn the_rate_limit_of_analyses_is_per_player() {
        let analyses = Analyses::default();
        let [player, other] = [1, 2].map(|id| PlayerId(Uuid::from_u128(id)));
        let request = async |player: PlayerId, game: u32| {
            let game = Uuid::from_u128(game.into());
            let seat = Seat::new(0).unwrap();
            analyses.analyze(player, game, seat, Value::Null).await.unwrap_err().code
        };
        let mut refused = 0;
        // A token may be refilled while the loop runs.
        for game in 0..10 * REQUESTS_PER_PLAYER.burst {
            refused += u32::from(request(player, game).await == Code::TooManyRequests);
        }
        assert!(refused > 0);
        assert_eq!(request(other, 0).await, Code::Internal, "no record");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_does_not_wait_for_ever() {
        let analyses = Analyses::default();
        let running = analyses.0.worker.clone().acquire_owned().await.unwrap();
        let player = PlayerId(Uuid::from_u128(1));
        let game = Uuid::from_u128(2);
        let refused = analyses.analyze(player, game, Seat::new(0).unwrap(), Value::Null).await;
        assert_eq!(refused.unwrap_err().code, Code::AnalysisBusy);
        assert_eq!(analyses.0.queue_slots.available_permits(), 1 + QUEUED_MAX);
        drop(running);
    }

    #[test]
    fn the_oldest_analyses_are_evicted() {
        let mut cache = AnalysisCache::default();
        let seat = Seat::new(0).unwrap();
        let key = |game: usize| (Uuid::from_u128(game as u128), seat);
        for game in 0..=CACHED_MAX {
            cache.insert(key(game), None);
            cache.insert(key(game), None);
        }
        assert_eq!((cache.by_seat.len(), cache.order.len()), (CACHED_MAX, CACHED_MAX));
        assert!(!cache.by_seat.contains_key(&key(0)));
        assert!(cache.by_seat.contains_key(&key(CACHED_MAX)));
    }
}
