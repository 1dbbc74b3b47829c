//! Argon2id on blocking threads, with bounded concurrency.
//!
//! A hash is expensive on purpose: with the default parameters it takes 19 MiB and 10 to 30 ms of
//! one core (docs/PERFORMANCE.md). By default a node computes hashes on half of its cores at once
//! and queues up to [`WAITING_MAX`] more; beyond that requests are refused with
//! [`AccountError::Busy`]. This bounds memory and processor time, and thereby the rate of sign-ins
//! by password.
//!
//! A hash carries its parameters. A hash made with other parameters than the current ones is
//! replaced at the next sign-in, when the password is available.

use std::fmt;
use std::sync::Arc;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::accounts::AccountError;
use crate::entropy;

/// The number of queued hashes on a node: about a second's work of one or two cores, which a client
/// can wait for.
const WAITING_MAX: usize = 64;

/// The cost of a hash, and the bounds of concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashOptions {
    pub memory_kib: u32,
    /// The number of passes over the memory.
    pub passes: u32,
    pub at_once: usize,
    pub waiting_max: usize,
}

/// The parameters that OWASP recommends for Argon2id with one lane.
impl Default for HashOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = (cores / 2).max(1);
        Self { memory_kib: 19 * 1024, passes: 2, at_once, waiting_max: WAITING_MAX }
    }
}

/// The error of parameters with which Argon2 cannot hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("passwords cannot be hashed with these settings: {0}")]
pub struct HashOptionsError(String);

/// Hashes and verifies passwords. Clones share the bounds.
#[derive(Clone)]
pub struct Hasher(Arc<HasherState>);

struct HasherState {
    argon2: Argon2<'static>,
    params: Params,
    /// Admitted requests: those in work and those in the queue.
    admission: Arc<Semaphore>,
    /// Hashes in work.
    workers: Arc<Semaphore>,
    /// A hash with the current parameters that no password is known to have. It is verified if the
    /// name has no password, so that an unknown name takes as long as a wrong password.
    dummy_hash: String,
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("params", &self.0.params).finish_non_exhaustive()
    }
}

/// The permit to have hashes made or verified.
#[derive(Debug)]
pub struct HashPermit {
    hasher: Hasher,
    permit: OwnedSemaphorePermit,
}

impl Hasher {
    /// Creates a hasher and its dummy hash.
    ///
    /// # Errors
    /// Parameters that Argon2 rejects.
    pub(in crate::accounts) fn new(options: HashOptions) -> Result<Self, HashOptionsError> {
        let HashOptions { memory_kib, passes, at_once, waiting_max } = options;
        let wrong = |error: argon2::Error| HashOptionsError(error.to_string());
        let params = Params::new(memory_kib, passes, 1, None).map_err(wrong)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
        let dummy_hash =
            random_hash(&params).map_err(|error| HashOptionsError(error.to_string()))?;
        let at_once = at_once.max(1);
        Ok(Self(Arc::new(HasherState {
            argon2,
            params,
            admission: Arc::new(Semaphore::new(at_once.saturating_add(waiting_max))),
            workers: Arc::new(Semaphore::new(at_once)),
            dummy_hash,
        })))
    }

    /// Acquires a permit. Callers do so before any other work.
    ///
    /// # Errors
    /// [`AccountError::Busy`] if the queue is full.
    pub fn acquire(&self) -> Result<HashPermit, AccountError> {
        let permit = self.0.admission.clone().try_acquire_owned();
        let permit = permit.map_err(|_| AccountError::Busy)?;
        Ok(HashPermit { hasher: self.clone(), permit })
    }

    /// Returns whether a hash was made with other parameters than the current ones.
    pub fn is_outdated(&self, hash: &str) -> bool {
        let Ok(hash) = PasswordHash::new(hash) else {
            return true;
        };
        let ours = &self.0.params;
        let is_ours = |theirs: Params| {
            (theirs.m_cost(), theirs.t_cost(), theirs.p_cost())
                == (ours.m_cost(), ours.t_cost(), ours.p_cost())
        };
        hash.algorithm != Algorithm::Argon2id.ident()
            || hash.version != Some(Version::V0x13.into())
            || !Params::try_from(&hash).is_ok_and(is_ours)
    }
}

impl HashPermit {
    /// Hashes a password with a random salt.
    pub async fn hash(&self, password: &[u8]) -> Result<String, AccountError> {
        let password = password.to_vec();
        let hashed = self.run_blocking(move |inner| hash(&inner.argon2, &password)).await?;
        hashed.map_err(|error| AccountError::Broken { reason: error.0 })
    }

    /// Returns whether the password matches the hash. Without a hash the result is false, after the
    /// same work.
    pub async fn verify(&self, password: &[u8], hash: Option<&str>) -> Result<bool, AccountError> {
        let password = password.to_vec();
        let hash = hash.map(str::to_owned);
        self.run_blocking(move |inner| {
            let given = hash.as_deref().unwrap_or(&inner.dummy_hash);
            let is_right = inner.argon2.verify_password(&password, given).is_ok();
            is_right && hash.is_some()
        })
        .await
    }

    /// Waits for a worker and runs the work on a blocking thread. The worker stays taken until the
    /// work is done, even if the caller has gone away.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&HasherState) -> T + Send + 'static,
    ) -> Result<T, AccountError> {
        let inner = self.hasher.0.clone();
        let broken = |reason: String| AccountError::Broken { reason };
        let turn = inner.workers.clone().acquire_owned().await;
        let turn = turn.map_err(|error| broken(error.to_string()))?;
        // If the caller goes away, its admission is released at once, while the worker is released
        // by the work.
        debug_assert_eq!(self.permit.num_permits(), 1);
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&inner);
            drop(turn);
            done
        });
        done.await.map_err(|error| broken(error.to_string()))
    }
}

/// Returns a hash with these parameters and a random output. Computing a hash would take its memory
/// at the start of every process.
fn random_hash(params: &Params) -> Result<String, argon2::password_hash::Error> {
    let hash = PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params)?,
        salt: Some(Salt::new(&entropy::seed()[..16])?),
        hash: Some(Output::new(&entropy::seed())?),
    };
    Ok(hash.to_string())
}

fn hash(argon2: &Argon2<'_>, password: &[u8]) -> Result<String, HashOptionsError> {
    // 128 bits, as recommended.
    let salt = &entropy::seed()[..16];
    let hash = argon2.hash_password_with_salt(password, salt);
    hash.map(|hash| hash.to_string()).map_err(|error| HashOptionsError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{AccountError, HashOptions, Hasher};

    const CHEAP: HashOptions =
        HashOptions { memory_kib: 64, passes: 1, at_once: 1, waiting_max: 1 };

    #[tokio::test]
    async fn a_hash_verifies_its_password_only() {
        let hasher = Hasher::new(CHEAP).unwrap();
        let permit = hasher.acquire().unwrap();
        let hash = permit.hash(b"correct horse").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{hash}");
        assert!(permit.verify(b"correct horse", Some(&hash)).await.unwrap());
        assert!(!permit.verify(b"wrong horse", Some(&hash)).await.unwrap());
        assert!(!permit.verify(b"correct horse", None).await.unwrap());
        assert!(!permit.verify(b"correct horse", Some("nonsense")).await.unwrap());
        assert_ne!(permit.hash(b"correct horse").await.unwrap(), hash, "salts differ");
    }

    #[tokio::test]
    async fn a_hash_of_other_parameters_is_outdated() {
        let before = Hasher::new(CHEAP).unwrap();
        let hash = before.acquire().unwrap().hash(b"correct horse").await.unwrap();
        let now = Hasher::new(HashOptions { passes: 2, ..CHEAP }).unwrap();
        assert!(!before.is_outdated(&hash));
        assert!(!before.is_outdated(&before.0.dummy_hash), "an unknown name takes as long");
        assert!(now.is_outdated(&hash) && now.is_outdated("nonsense"));
        assert!(now.acquire().unwrap().verify(b"correct horse", Some(&hash)).await.unwrap());
    }

    #[test]
    fn requests_beyond_the_queue_are_refused() {
        let hasher = Hasher::new(CHEAP).unwrap();
        let one = hasher.acquire().unwrap();
        let _other = hasher.acquire().unwrap();
        assert_eq!(hasher.acquire().unwrap_err(), AccountError::Busy);
        drop(one);
        assert!(hasher.acquire().is_ok());
    }

    #[test]
    fn invalid_parameters_are_refused() {
        assert!(Hasher::new(HashOptions { memory_kib: 1, ..CHEAP }).is_err());
        assert!(Hasher::new(HashOptions { passes: 0, ..CHEAP }).is_err());
        assert_eq!(HashOptions::default().memory_kib, 19_456);
    }
}
