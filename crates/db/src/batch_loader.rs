//! Batching of lookups: concurrent lookups of one kind share a query. Thousands of clients that
//! reconnect at once look up the same few things, and with a query for each of them every client
//! would wait for a connection of the pool behind all others.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::Error;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The maximum number of keys of a query.
const KEYS_MAX: usize = 256;

/// The maximum number of queries of a loader that run at once. With more than one, a connection
/// that does not respond does not delay the lookups after it.
const QUERIES_MAX: usize = 4;

/// The timeout of a query. Its connection is closed then, so that lookups do not wait for a server
/// that is gone, and the next query is sent on another one.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The values of some keys.
type Loading<K, V> = Pin<Box<dyn Future<Output = Result<HashMap<K, V>, Error>> + Send>>;

/// A function that loads the values of some keys by one query.
type Load<K, V> = dyn Fn(Vec<K>) -> Loading<K, V> + Send + Sync;

/// The result of a lookup.
type Found<V> = Result<Option<V>, Arc<Error>>;

/// A lookup that waits for a query.
struct Lookup<K, V> {
    key: K,
    answer: oneshot::Sender<Found<V>>,
}

/// A loader of values by key. A lookup starts a query at once while fewer than four run; otherwise
/// it shares the next with the lookups that wait as well. Nothing is cached: the query of a lookup
/// begins after the lookup, so it sees all that was committed before. Clones share the queries.
pub struct BatchLoader<K, V> {
    load: Arc<Load<K, V>>,
    queue: Arc<Mutex<Queue<K, V>>>,
}

struct Queue<K, V> {
    waiting: Vec<Lookup<K, V>>,
    /// The number of tasks that answer lookups, each by one query at a time.
    running: usize,
}

impl<K, V> Clone for BatchLoader<K, V> {
    fn clone(&self) -> Self {
        Self { load: self.load.clone(), queue: self.queue.clone() }
    }
}

impl<K, V> fmt::Debug for BatchLoader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchLoader").finish_non_exhaustive()
    }
}

impl<K, V> BatchLoader<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Creates a loader. `load` returns the values of distinct keys, at most 256 at a time; a key
    /// may have none.
    pub fn new<F>(load: impl Fn(Vec<K>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HashMap<K, V>, Error>> + Send + 'static,
    {
        let queue = Queue { waiting: Vec::new(), running: 0 };
        Self {
            load: Arc::new(move |keys| Box::pin(load(keys))),
            queue: Arc::new(Mutex::new(queue)),
        }
    }

    /// Looks up the value of a key. A lookup that is dropped before its query begins is not part of
    /// it.
    ///
    /// # Errors
    ///
    /// The error of the query, which all its lookups share; [`Error::Io`] if it is not answered
    /// within two seconds, and [`Error::WorkerCrashed`] if it panics.
    pub async fn find(&self, key: K) -> Found<V> {
        let (answer, answered) = oneshot::channel();
        if self.queue().push(Lookup { key, answer }) {
            tokio::spawn(self.clone().answer_lookups());
        }
        answered.await.unwrap_or_else(|_| Err(Arc::new(Error::WorkerCrashed)))
    }

    fn take_next(&self) -> Option<Vec<Lookup<K, V>>> {
        self.queue().take_next()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<K, V>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers lookups until none waits.
    async fn answer_lookups(self) {
        while let Some(lookups) = self.take_next() {
            let mut keys: HashMap<K, Vec<_>> = HashMap::with_capacity(lookups.len());
            for Lookup { key, answer } in lookups {
                keys.entry(key).or_default().push(answer);
            }
            // A task of its own, because a panic must not keep later lookups from being answered.
            let loading = timeout(QUERY_TIMEOUT, (self.load)(keys.keys().copied().collect()));
            let loaded = match tokio::spawn(loading).await {
                Ok(Ok(loaded)) => loaded,
                Ok(Err(_)) => Err(Error::Io(ErrorKind::TimedOut.into())),
                Err(_) => Err(Error::WorkerCrashed),
            };
            let loaded = loaded.map_err(Arc::new);
            for (key, answers) in keys {
                for answer in answers {
                    let value = loaded.as_ref().map(|values| values.get(&key).cloned());
                    // The caller may have stopped waiting.
                    let _ = answer.send(value.map_err(Arc::clone));
                }
            }
        }
    }
}

impl<K, V> Queue<K, V> {
    /// Adds a lookup. Returns true if a new task must answer it.
    fn push(&mut self, lookup: Lookup<K, V>) -> bool {
        self.waiting.push(lookup);
        let starts = self.running < QUERIES_MAX;
        self.running += usize::from(starts);
        starts
    }

    /// Takes the lookups of the next query. `None` ends a task.
    fn take_next(&mut self) -> Option<Vec<Lookup<K, V>>> {
        self.waiting.retain(|lookup| !lookup.answer.is_closed());
        if self.waiting.is_empty() {
            self.running -= 1;
            return None;
        }
        let next = self.waiting.len().min(KEYS_MAX);
        Some(self.waiting.drain(..next).collect())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::task::JoinHandle;

    use super::*;

    /// The batches of a loader whose queries wait for a permit. Odd keys have no value.
    #[derive(Clone)]
    struct Source {
        permits: Arc<Semaphore>,
        batches: Arc<Mutex<Vec<Vec<u32>>>>,
    }

    impl Source {
        fn new() -> (Self, BatchLoader<u32, String>) {
            let source = Self { permits: Arc::new(Semaphore::new(0)), batches: Arc::default() };
            let loaded = source.clone();
            (source, BatchLoader::new(move |keys| loaded.clone().load(keys)))
        }

        async fn load(self, mut keys: Vec<u32>) -> Result<HashMap<u32, String>, Error> {
            self.permits.acquire().await.expect("the semaphore stays open").forget();
            keys.sort_unstable();
            let even = keys.iter().filter(|key| *key % 2 == 0);
            let values = even.map(|key| (*key, key.to_string())).collect();
            self.batches.lock().expect("no test panics meanwhile").push(keys.clone());
            assert!(!keys.contains(&13), "a query that panics");
            if keys.contains(&7) { Err(Error::PoolTimedOut) } else { Ok(values) }
        }

        fn batches(&self) -> Vec<Vec<u32>> {
            self.batches.lock().expect("no test panics meanwhile").clone()
        }
    }

    #[tokio::test]
    async fn lookups_that_wait_share_a_query() {
        let (source, loader) = Source::new();
        let running = spawn_finds(&loader, [0; QUERIES_MAX]).await;
        let waiting = spawn_finds(&loader, [2, 4, 4, 5]).await;
        source.permits.add_permits(QUERIES_MAX + 1);
        for find in running {
            assert_eq!(find.await.expect("no panic").expect("found").as_deref(), Some("0"));
        }
        let mut found = Vec::new();
        for find in waiting {
            found.push(find.await.expect("no panic").expect("found"));
        }
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(found, [text("2"), text("4"), text("4"), None]);
        assert_eq!(source.batches(), [vec![0], vec![0], vec![0], vec![0], vec![2, 4, 5]]);
    }

    #[tokio::test]
    async fn a_query_has_a_maximum_of_keys() {
        let (source, loader) = Source::new();
        source.permits.add_permits(600);
        let found = join_all((0..600).map(|key| loader.find(2 * key))).await;
        assert!(found.into_iter().all(|found| found.is_ok_and(|value| value.is_some())));
        let batches = source.batches();
        assert!(batches.iter().all(|keys| keys.len() <= KEYS_MAX), "{batches:?}");
        assert!(batches.len() < 10, "{batches:?}");
    }

    #[tokio::test]
    async fn a_failed_query_fails_its_lookups_only() {
        let (source, loader) = Source::new();
        source.permits.add_permits(100);
        for _ in 0..QUERIES_MAX {
            let failed = loader.find(7).await.expect_err("the query fails");
            assert!(matches!(*failed, Error::PoolTimedOut));
            assert!(loader.find(8).await.is_ok());
            let crashed = loader.find(13).await.expect_err("the query panics");
            assert!(matches!(*crashed, Error::WorkerCrashed));
            assert!(loader.find(8).await.is_ok());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lookup_that_is_dropped_is_not_queried() {
        let (source, loader) = Source::new();
        let running = spawn_finds(&loader, [0; QUERIES_MAX]).await;
        let dropped = timeout(Duration::from_secs(1), loader.find(4)).await;
        assert!(dropped.is_err());
        source.permits.add_permits(QUERIES_MAX + 1);
        for find in running {
            assert!(find.await.expect("no panic").is_ok());
        }
        assert!(loader.find(6).await.is_ok());
        assert_eq!(source.batches().concat(), [0, 0, 0, 0, 6]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_query_that_is_not_answered_delays_no_later_one_for_long() {
        let (source, loader) = Source::new();
        let stalled = spawn_finds(&loader, [0; QUERIES_MAX]).await;
        for find in stalled {
            let error = find.await.expect("no panic").expect_err("no answer");
            assert!(matches!(&*error, Error::Io(error) if error.kind() == ErrorKind::TimedOut));
        }
        source.permits.add_permits(1);
        assert!(loader.find(2).await.is_ok());
        assert_eq!(source.batches(), [[2]]);
    }

    /// Starts lookups in tasks of their own, each after the last has begun.
    async fn spawn_finds<const N: usize>(
        loader: &BatchLoader<u32, String>,
        keys: [u32; N],
    ) -> Vec<JoinHandle<Found<String>>> {
        let mut finds = Vec::new();
        for key in keys {
            let loader = loader.clone();
            finds.push(tokio::spawn(async move { loader.find(key).await }));
            // The lookup, its task and its query each run once.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
        finds
    }
}
