//! Batching of lookups: concurrent lookups of one kind share a call of PostgreSQL or Redis.
//! Thousands of clients that reconnect at once look up the same few things, and with a call for
//! each of them every client would wait behind all others.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// The maximum number of keys of a call.
const KEYS_MAX: usize = 256;

/// The maximum number of calls of a loader that run at once. With more than one, a connection that
/// does not respond does not delay the lookups after it.
const CALLS_MAX: usize = 4;

/// The timeout of a call, which is dropped then, so that lookups do not wait for a server that is
/// gone. A pool closes its connection, and sends the next call on another one.
const CALL_TIMEOUT: Duration = Duration::from_secs(2);

/// The values of some keys.
type Loading<K, V, E> = Pin<Box<dyn Future<Output = Result<HashMap<K, V>, E>> + Send>>;

/// A function that loads the values of some keys by one call.
type Load<K, V, E> = dyn Fn(Vec<K>) -> Loading<K, V, E> + Send + Sync;

/// The result of a lookup.
type Found<V, E> = Result<Option<V>, Arc<E>>;

/// A lookup that waits for a call.
struct Lookup<K, V, E> {
    key: K,
    answer: oneshot::Sender<Found<V, E>>,
}

/// A loader of values by key. A lookup starts a call at once while fewer than four run; otherwise
/// it shares the next with the lookups that wait as well. Nothing is cached: the call of a lookup
/// begins after the lookup, so it sees all that was written before. Clones share the calls.
pub struct BatchLoader<K, V, E> {
    load: Arc<Load<K, V, E>>,
    queue: Arc<Mutex<Queue<K, V, E>>>,
}

struct Queue<K, V, E> {
    waiting: Vec<Lookup<K, V, E>>,
    /// The number of tasks that answer lookups, each by one call at a time.
    running: usize,
}

impl<K, V, E> Clone for BatchLoader<K, V, E> {
    fn clone(&self) -> Self {
        Self { load: self.load.clone(), queue: self.queue.clone() }
    }
}

impl<K, V, E> fmt::Debug for BatchLoader<K, V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchLoader").finish_non_exhaustive()
    }
}

impl<K, V, E> BatchLoader<K, V, E>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    E: From<io::Error> + Send + Sync + 'static,
{
    /// Creates a loader. `load` returns the values of distinct keys, at most 256 at a time; a key
    /// may have none.
    pub fn new<F>(load: impl Fn(Vec<K>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HashMap<K, V>, E>> + Send + 'static,
    {
        let queue = Queue { waiting: Vec::new(), running: 0 };
        Self {
            load: Arc::new(move |keys| Box::pin(load(keys))),
            queue: Arc::new(Mutex::new(queue)),
        }
    }

    /// Looks up the value of a key. A lookup that is dropped before its call begins is not part of
    /// it.
    ///
    /// # Errors
    ///
    /// The error of the call, which all its lookups share; [`ErrorKind::TimedOut`] if it is not
    /// answered within two seconds, and [`ErrorKind::Other`] if it panics.
    pub async fn find(&self, key: K) -> Result<Option<V>, Arc<E>> {
        let (answer, answered) = oneshot::channel();
        if self.queue().push(Lookup { key, answer }) {
            tokio::spawn(self.clone().answer_lookups());
        }
        answered.await.unwrap_or_else(|_| Err(Arc::new(panicked())))
    }

    fn take_next(&self) -> Option<Vec<Lookup<K, V, E>>> {
        self.queue().take_next()
    }

    fn queue(&self) -> MutexGuard<'_, Queue<K, V, E>> {
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
            let loading = timeout(CALL_TIMEOUT, (self.load)(keys.keys().copied().collect()));
            let loaded = match tokio::spawn(loading).await {
                Ok(Ok(loaded)) => loaded,
                Ok(Err(_)) => Err(io::Error::from(ErrorKind::TimedOut).into()),
                Err(_) => Err(panicked()),
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

impl<K, V, E> Queue<K, V, E> {
    /// Adds a lookup. Returns true if a new task must answer it.
    fn push(&mut self, lookup: Lookup<K, V, E>) -> bool {
        self.waiting.push(lookup);
        let starts = self.running < CALLS_MAX;
        self.running += usize::from(starts);
        starts
    }

    /// Takes the lookups of the next call. `None` ends a task.
    fn take_next(&mut self) -> Option<Vec<Lookup<K, V, E>>> {
        self.waiting.retain(|lookup| !lookup.answer.is_closed());
        if self.waiting.is_empty() {
            self.running -= 1;
            return None;
        }
        let next = self.waiting.len().min(KEYS_MAX);
        Some(self.waiting.drain(..next).collect())
    }
}

/// Returns the error of a call that has panicked.
fn panicked<E: From<io::Error>>() -> E {
    io::Error::other("the call panicked").into()
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::task::JoinHandle;

    use super::*;

    /// The batches of a loader whose calls wait for a permit. Odd keys have no value.
    #[derive(Clone)]
    struct Source {
        permits: Arc<Semaphore>,
        batches: Arc<Mutex<Vec<Vec<u32>>>>,
    }

    impl Source {
        fn new() -> (Self, BatchLoader<u32, String, io::Error>) {
            let source = Self { permits: Arc::new(Semaphore::new(0)), batches: Arc::default() };
            let loaded = source.clone();
            (source, BatchLoader::new(move |keys| loaded.clone().load(keys)))
        }

        async fn load(self, mut keys: Vec<u32>) -> io::Result<HashMap<u32, String>> {
            self.permits.acquire().await.expect("the semaphore stays open").forget();
            keys.sort_unstable();
            let even = keys.iter().filter(|key| *key % 2 == 0);
            let values = even.map(|key| (*key, key.to_string())).collect();
            self.batches.lock().expect("no test panics meanwhile").push(keys.clone());
            assert!(!keys.contains(&13), "a call that panics");
            if keys.contains(&7) { Err(ErrorKind::NotConnected.into()) } else { Ok(values) }
        }

        fn batches(&self) -> Vec<Vec<u32>> {
            self.batches.lock().expect("no test panics meanwhile").clone()
        }
    }

    #[tokio::test]
    async fn lookups_that_wait_share_a_call() {
        let (source, loader) = Source::new();
        let running = spawn_finds(&loader, [0; CALLS_MAX]).await;
        let waiting = spawn_finds(&loader, [2, 4, 4, 5]).await;
        source.permits.add_permits(CALLS_MAX + 1);
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
    async fn a_call_has_a_maximum_of_keys() {
        let (source, loader) = Source::new();
        source.permits.add_permits(600);
        let found = join_all((0..600).map(|key| loader.find(2 * key))).await;
        assert!(found.into_iter().all(|found| found.is_ok_and(|value| value.is_some())));
        let batches = source.batches();
        assert!(batches.iter().all(|keys| keys.len() <= KEYS_MAX), "{batches:?}");
        assert!(batches.len() < 10, "{batches:?}");
    }

    #[tokio::test]
    async fn a_failed_call_fails_its_lookups_only() {
        let (source, loader) = Source::new();
        source.permits.add_permits(100);
        for _ in 0..CALLS_MAX {
            let failed = loader.find(7).await.expect_err("the call fails");
            assert!(failed.kind() == ErrorKind::NotConnected);
            assert!(loader.find(8).await.is_ok());
            let crashed = loader.find(13).await.expect_err("the call panics");
            assert!(crashed.kind() == ErrorKind::Other);
            assert!(loader.find(8).await.is_ok());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lookup_that_is_dropped_is_not_called_for() {
        let (source, loader) = Source::new();
        let running = spawn_finds(&loader, [0; CALLS_MAX]).await;
        let dropped = timeout(Duration::from_secs(1), loader.find(4)).await;
        assert!(dropped.is_err());
        source.permits.add_permits(CALLS_MAX + 1);
        for find in running {
            assert!(find.await.expect("no panic").is_ok());
        }
        assert!(loader.find(6).await.is_ok());
        assert_eq!(source.batches().concat(), [0, 0, 0, 0, 6]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_delays_no_later_one_for_long() {
        let (source, loader) = Source::new();
        let stalled = spawn_finds(&loader, [0; CALLS_MAX]).await;
        for find in stalled {
            let error = find.await.expect("no panic").expect_err("no answer");
            assert!(error.kind() == ErrorKind::TimedOut);
        }
        source.permits.add_permits(1);
        assert!(loader.find(2).await.is_ok());
        assert_eq!(source.batches(), [[2]]);
    }

    /// Starts lookups in tasks of their own, each after the last has begun.
    async fn spawn_finds<const N: usize>(
        loader: &BatchLoader<u32, String, io::Error>,
        keys: [u32; N],
    ) -> Vec<JoinHandle<Found<String, io::Error>>> {
        let mut finds = Vec::new();
        for key in keys {
            let loader = loader.clone();
            finds.push(tokio::spawn(async move { loader.find(key).await }));
            // The lookup, its task and its call each run once.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
        finds
    }
}
