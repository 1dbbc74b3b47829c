//! The sessions that there are, as far as this node knows: read once, and believed for a while.
//!
//! A signature says that the house made a token, and not that the session in it exists: a database
//! that was restored has forgotten sessions, and whoever has the secret names any. So the first token
//! of a session that comes to a node is looked up ([`SessionLookup`]); the next ones cost nothing.
//! Bounds: a session is believed for two lives of an access token at most, which is as long as
//! [`Revocations`](super::Revocations) remember that it ended; so many are known at once.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::{self, Timestamp};
use crate::ids::{PlayerId, SessionId};

use super::ACCESS_TOKEN_LIFE;

/// How many are known before the older half is forgotten.
const GENERATION_MAX: usize = 100_000;

/// Where it is written which sessions there are.
pub trait SessionLookup: fmt::Debug + Send + Sync {
    /// Whose session it is; `None` when there is none of this id, or it has ended.
    fn find_player(&self, session: SessionId) -> LookupFuture<'_>;
}

/// An answer of a [`SessionLookup`] that is still to come.
pub type LookupFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<PlayerId>, LookupError>> + Send + 'a>>;

/// The book cannot be read just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupError;

/// The sessions that were looked up lately. Clones are the same.
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
    /// The session was opened, refreshed or looked up just now.
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
    /// Forgets the older ones when their time is over or there are too many.
    fn rotate(&mut self, now: Timestamp) {
        let is_over = now >= clock::after(self.rotated_at, ACCESS_TOKEN_LIFE);
        if !is_over && self.young.len() < GENERATION_MAX {
            return;
        }
        self.old = std::mem::take(&mut self.young);
        if now >= clock::after(self.rotated_at, ACCESS_TOKEN_LIFE * 2) {
            self.old.clear();
        }
        self.rotated_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::{ACCESS_TOKEN_LIFE, GENERATION_MAX, SessionCache, PlayerId, SessionId, Timestamp};
    use crate::clock::after;
    use crate::entropy::uuid;
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

    #[test]
    fn a_session_is_believed_for_two_lives_of_a_token_at_most() {
        for wait_min in [0, 1, 7, 14, 16, 29] {
            let known = SessionCache::default();
            known.insert(SessionId(uuid()), PlayerId(uuid()), NOW);
            let (session, player) = (SessionId(uuid()), PlayerId(uuid()));
            let inserted_at = after(NOW, Duration::from_mins(wait_min));
            known.insert(session, player, inserted_at);
            assert_eq!(known.find_player(session, inserted_at), Some(player));
            // Whoever asks in between keeps nothing alive.
            for minutes in 1..30 {
                known.find_player(session, after(inserted_at, Duration::from_mins(minutes)));
            }
            let over = after(inserted_at, ACCESS_TOKEN_LIFE * 2);
            assert_eq!(known.find_player(session, over), None, "{wait_min}");
        }
    }

    #[test]
    fn the_older_half_is_forgotten_when_there_are_too_many() {
        let known = SessionCache::default();
        let first = SessionId(uuid());
        known.insert(first, PlayerId(uuid()), NOW);
        for _ in 0..2 * GENERATION_MAX {
            known.insert(SessionId(uuid()), PlayerId(uuid()), NOW);
        }
        assert_eq!(known.find_player(first, NOW), None);
        let generations = known.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION_MAX);
    }
}
