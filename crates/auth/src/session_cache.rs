//! A node's cache of existing sessions.
//!
//! A signature proves that the server issued a token, but not that the token's session exists: a
//! restored database has lost sessions, and anybody with the secret can name any session. The first
//! token of a session that reaches a node is therefore looked up ([`SessionLookup`]); later ones
//! are answered by the cache. Bounds: an entry lives for at most two lives of an access token,
//! which is as long as [`Revocations`](super::Revocations) keep the session's end, and the cache
//! holds at most two generations of [`GENERATION_MAX`] entries.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bahay_base::clock::{self, Timestamp};
use bahay_base::ids::{PlayerId, SessionId};

use super::ACCESS_TOKEN_LIFE;

/// The number of entries at which the older generation is dropped.
const GENERATION_MAX: usize = 100_000;

/// The store of all sessions.
pub trait SessionLookup: fmt::Debug + Send + Sync {
    /// Returns the player of a session, or `None` if the session does not exist or has ended.
    fn find_player(&self, session: SessionId) -> LookupFuture<'_>;
}

/// The pending result of a [`SessionLookup`].
pub type LookupFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<PlayerId>, LookupError>> + Send + 'a>>;

/// The error of a store that is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupError;

/// The recently used sessions. Clones share the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionCache {
    generations: Arc<Mutex<Generations>>,
}

#[derive(Debug)]
struct Generations {
    young: HashMap<SessionId, PlayerId>,
    old: HashMap<SessionId, PlayerId>,
    rotated_at: Timestamp,
}

impl Default for Generations {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), rotated_at: Timestamp::from_ms(0) }
    }
}

impl SessionCache {
    /// Inserts a session that was just opened, refreshed or looked up.
    pub(super) fn insert(&self, session: SessionId, player: PlayerId, now: Timestamp) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.rotate(now);
        generations.young.insert(session, player);
    }

    pub(super) fn find_player(&self, session: SessionId, now: Timestamp) -> Option<PlayerId> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.rotate(now);
        let Generations { young, old, .. } = &*generations;
        young.get(&session).or_else(|| old.get(&session)).copied()
    }
}

impl Generations {
    /// Drops the older generation when its time is over or the younger one is full.
    fn rotate(&mut self, now: Timestamp) {
        let is_over = now >= clock::add(self.rotated_at, ACCESS_TOKEN_LIFE);
        if !is_over && self.young.len() < GENERATION_MAX {
            return;
        }
        self.old = std::mem::take(&mut self.young);
        if now >= clock::add(self.rotated_at, ACCESS_TOKEN_LIFE * 2) {
            self.old.clear();
        }
        self.rotated_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::{ACCESS_TOKEN_LIFE, GENERATION_MAX, PlayerId, SessionCache, SessionId, Timestamp};
    use bahay_base::clock::add;
    use bahay_base::entropy::uuid;
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

    #[test]
    fn an_entry_lives_for_two_lives_of_a_token_at_most() {
        for wait_min in [0, 1, 7, 14, 16, 29] {
            let cache = SessionCache::default();
            cache.insert(SessionId(uuid()), PlayerId(uuid()), NOW);
            let session = SessionId(uuid());
            let player = PlayerId(uuid());
            let inserted_at = add(NOW, Duration::from_mins(wait_min));
            cache.insert(session, player, inserted_at);
            assert_eq!(cache.find_player(session, inserted_at), Some(player));
            // Lookups do not extend the life of an entry.
            for minutes in 1..30 {
                cache.find_player(session, add(inserted_at, Duration::from_mins(minutes)));
            }
            let over = add(inserted_at, ACCESS_TOKEN_LIFE * 2);
            assert_eq!(cache.find_player(session, over), None, "{wait_min}");
        }
    }

    #[test]
    fn the_older_generation_is_dropped_beyond_the_bound() {
        let cache = SessionCache::default();
        let first = SessionId(uuid());
        cache.insert(first, PlayerId(uuid()), NOW);
        for _ in 0..2 * GENERATION_MAX {
            cache.insert(SessionId(uuid()), PlayerId(uuid()), NOW);
        }
        assert_eq!(cache.find_player(first, NOW), None);
        let generations = cache.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION_MAX);
    }
}
