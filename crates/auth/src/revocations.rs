//! The sessions that have ended while their access tokens may still be valid.
//!
//! PostgreSQL holds the revocations; this is a node's copy, which requests check without I/O.
//! `accounts::revocations` fills it at the start of the process and then twice a second with the
//! revocations of other nodes. Bounds: a session is removed once its last access token has expired,
//! so the set holds the sign-outs of about half an hour. Open sockets are notified when the set
//! grows, so that they need not poll.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use bahay_base::clock::{self, Timestamp};
use bahay_base::ids::SessionId;

use super::ACCESS_TOKEN_LIFE;

/// A shared set of ended sessions. Clones share the set.
#[derive(Clone, Debug, Default)]
pub struct Revocations {
    ended: Arc<RwLock<HashMap<SessionId, Timestamp>>>,
    /// The number of sessions added so far. Open sockets wait for its change.
    grown: watch::Sender<u64>,
}

impl Revocations {
    /// Revokes the access tokens of a session.
    pub fn insert(&self, session: SessionId, revoked_at: Timestamp) {
        self.insert_all(std::iter::once((session, revoked_at)));
    }

    /// Revokes the access tokens of several sessions and notifies subscribers once.
    pub fn insert_all(&self, sessions: impl Iterator<Item = (SessionId, Timestamp)>) {
        let mut added = 0;
        {
            // The map is consistent even if the lock is poisoned, since no code panics within a
            // change.
            let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
            for (session, revoked_at) in sessions {
                added += u64::from(ended.insert(session, revoked_at).is_none());
            }
        }
        if added > 0 {
            self.grown.send_modify(|grown| *grown += added);
        }
    }

    /// Returns a receiver that changes whenever a session is added, so that the holders of open
    /// connections check theirs.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.grown.subscribe()
    }

    pub fn contains(&self, session: SessionId) -> bool {
        self.ended.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session)
    }

    /// Removes the sessions whose access tokens have all expired.
    pub fn forget_expired(&self, now: Timestamp) {
        // Twice the life allows for clock differences between nodes.
        let horizon = clock::subtract(now, ACCESS_TOKEN_LIFE * 2);
        self.ended
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, revoked_at| *revoked_at > horizon);
    }
}
