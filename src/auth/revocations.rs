//! The sessions that ended while access tokens of theirs may still be alive.
//!
//! The truth is in PostgreSQL; this is every node's copy, asked without I/O at each request. It
//! is filled by `accounts::revocations`: at the start of the process, and then twice a second
//! with what any node has added since, each once. Bounds: a session is forgotten once its last access token
//! has expired, so the set holds the sign-outs of some minutes. Open sockets are told when it
//! grows, so that they need not ask.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::clock::{self, Timestamp};
use crate::ids::SessionId;

use super::ACCESS_TOKEN_LIFE;

/// A shared set of ended sessions. Clones are the same set.
#[derive(Clone, Debug, Default)]
pub struct Revocations {
    ended: Arc<RwLock<HashMap<SessionId, Timestamp>>>,
    /// How many sessions have been added; open sockets wait for it to change.
    grown: watch::Sender<u64>,
}

impl Revocations {
    /// No access token of this session counts any more.
    pub fn insert(&self, session: SessionId, revoked_at: Timestamp) {
        self.insert_all(std::iter::once((session, revoked_at)));
    }

    /// The same for many; who waits for growth is told once.
    pub fn insert_all(&self, sessions: impl Iterator<Item = (SessionId, Timestamp)>) {
        let mut added = 0;
        {
            // A poisoned lock guards a map that is whole: no code panics half-way through a change.
            let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
            for (session, revoked_at) in sessions {
                added += u64::from(ended.insert(session, revoked_at).is_none());
            }
        }
        if added > 0 {
            self.grown.send_modify(|grown| *grown += added);
        }
    }

    /// Changes whenever a session is added: who holds something open for a session looks again.
    pub fn growth(&self) -> watch::Receiver<u64> {
        self.grown.subscribe()
    }

    pub fn contains(&self, session: SessionId) -> bool {
        self.ended.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session)
    }

    /// Forgets the sessions whose access tokens have all expired by now.
    pub fn forget_expired(&self, now: Timestamp) {
        // Twice the life, because the nodes' clocks may differ a little.
        let horizon = clock::before(now, ACCESS_TOKEN_LIFE * 2);
        self.ended
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, revoked_at| *revoked_at > horizon);
    }
}
