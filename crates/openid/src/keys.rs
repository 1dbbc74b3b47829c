//! The public keys of an issuer that can sign ID tokens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use tokio::sync::Mutex;

use bahay_base::clock::{self, Timestamp};

use super::fetch::Fetcher;
use super::{Issuer, OpenIdError};

/// The age at which keys are fetched again, so that a withdrawn key is no longer trusted.
pub(super) const KEYS_FRESH: Duration = Duration::from_hours(1);

/// The age up to which keys are trusted while the issuer does not answer.
const KEYS_STALE: Duration = Duration::from_hours(24);

/// The least time between two fetches, whatever keys are requested.
pub(super) const FETCH_INTERVAL: Duration = Duration::from_mins(1);

/// The most keys kept of an issuer; large issuers have two or three.
const KEYS_MAX: usize = 64;

/// The keys of one issuer. Clones share them.
#[derive(Clone)]
pub(super) struct IssuerKeys(Arc<KeyStore>);

struct KeyStore {
    fetcher: Fetcher,
    issuer: String,
    url: Option<String>,
    /// Locked while keys are fetched, so that concurrent requests share the answer.
    cache: Mutex<KeyCache>,
}

#[derive(Default)]
struct KeyCache {
    keys: Vec<Key>,
    /// The time at which `keys` were fetched.
    fetched_at: Option<Timestamp>,
    /// The time of the last fetch, successful or not.
    attempted_at: Option<Timestamp>,
    /// The reason for which the last fetch failed.
    failure: Option<String>,
}

struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    decoding: DecodingKey,
}

impl fmt::Debug for IssuerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuerKeys").field("issuer", &self.0.issuer).finish_non_exhaustive()
    }
}

impl IssuerKeys {
    pub(super) fn new(fetcher: Fetcher, issuer: &Issuer) -> Self {
        let url = issuer.keys_url.clone();
        let issuer = issuer.issuer.clone();
        Self(Arc::new(KeyStore { fetcher, issuer, url, cache: Mutex::default() }))
    }

    /// Returns the key with an id. A token without a key id is verified with the only key there is.
    ///
    /// The search runs in its own task, so that a caller who disconnects does not cancel a fetch
    /// for which others wait.
    pub(super) async fn find(
        &self,
        id: Option<String>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<DecodingKey, OpenIdError> {
        let inner = self.0.clone();
        let found = tokio::spawn(async move { inner.find(id.as_deref(), algorithm, now).await });
        found.await.unwrap_or_else(|error| {
            Err(OpenIdError::Unavailable {
                reason: format!("the keys could not be fetched: {error}"),
            })
        })
    }
}

impl KeyStore {
    async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<DecodingKey, OpenIdError> {
        let mut cache = self.cache.lock().await;
        if cache.is_younger_than(KEYS_FRESH, now)
            && let Some(key) = cache.find(id, algorithm)
        {
            return Ok(key);
        }
        let may_fetch = cache.attempted_at.is_none_or(|at| now >= clock::add(at, FETCH_INTERVAL));
        if may_fetch {
            cache.attempted_at = Some(now);
            match self.fetch().await {
                Ok(keys) => {
                    *cache = KeyCache {
                        keys,
                        fetched_at: Some(now),
                        attempted_at: Some(now),
                        failure: None,
                    };
                }
                Err(failure) => {
                    tracing::warn!(
                        issuer = self.issuer,
                        failure,
                        "the keys of an issuer could not be fetched"
                    );
                    cache.failure = Some(failure);
                }
            }
        }
        if cache.is_younger_than(KEYS_STALE, now)
            && let Some(key) = cache.find(id, algorithm)
        {
            return Ok(key);
        }
        match &cache.failure {
            Some(reason) => Err(OpenIdError::Unavailable { reason: reason.clone() }),
            None => Err(OpenIdError::KeyUnknown),
        }
    }

    async fn fetch(&self) -> Result<Vec<Key>, String> {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let document = self.fetcher.fetch_json(&url).await?;
        let list = document.get("keys").and_then(Value::as_array);
        let list = list.ok_or_else(|| format!("{url} lists no keys"))?;
        // Keys of unknown kinds serve other purposes and are skipped.
        Ok(list.iter().filter_map(Key::from_jwk).take(KEYS_MAX).collect())
    }

    async fn discover(&self) -> Result<String, String> {
        let issuer = self.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let document = self.fetcher.fetch_json(&url).await?;
        if document.get("issuer").and_then(Value::as_str) != Some(&self.issuer) {
            return Err(format!("{url} is the document of another issuer"));
        }
        let keys = document.get("jwks_uri").and_then(Value::as_str);
        keys.map(str::to_owned)
            .ok_or_else(|| format!("{url} does not name the address of the keys"))
    }
}

impl KeyCache {
    fn is_younger_than(&self, age: Duration, now: Timestamp) -> bool {
        self.fetched_at.is_some_and(|at| now < clock::add(at, age))
    }

    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let mut fitting = self.keys.iter().filter(|key| key.algorithm == algorithm);
        let key = match id {
            Some(id) => fitting.find(|key| key.id.as_deref() == Some(id))?,
            None => {
                let only = fitting.next()?;
                if fitting.next().is_some() {
                    return None;
                }
                only
            }
        };
        Some(key.decoding.clone())
    }
}

impl Key {
    /// Reads a key that signs with RS256 or ES256; `None` for any other key.
    fn from_jwk(document: &Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(document.clone()).ok()?;
        let algorithm = match &key.algorithm {
            AlgorithmParameters::RSA(_) => Algorithm::RS256,
            AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
                Algorithm::ES256
            }
            // The library's enum is non-exhaustive, so a wildcard covers all other kinds.
            _ => return None,
        };
        let is_for_signing = match &key.common.public_key_use {
            None | Some(PublicKeyUse::Signature) => true,
            Some(PublicKeyUse::Encryption | PublicKeyUse::Other(_)) => false,
        };
        let named = document.get("alg").and_then(Value::as_str);
        let is_fitting = named.is_none_or(|name| name.parse() == Ok(algorithm));
        if !is_for_signing || !is_fitting {
            return None;
        }
        let decoding = DecodingKey::from_jwk(&key).ok()?;
        Some(Self { id: key.common.key_id, algorithm, decoding })
    }
}
