//! The session: tokens and their expiry.
//!
//! A refresh token can be used once, but for a minute the server gives the same device the same
//! successor again. A request whose answer got lost is therefore repeated, and clients that share a
//! session renew it concurrently and share the tokens.
//!
//! Two clocks judge expiry. The monotonic one is right as long as the process lives, unless it
//! stands still in sleep; the wall clock continues through sleep and restarts, but may be set to
//! anything. A token counts as expired if either clock says so, unless it has just arrived: a wrong
//! clock then costs at most one renewal.

use serde::{Deserialize, Serialize};

use crate::input::Time;
use crate::limits::{LIFETIME_MIN_MS, NEW_TOKEN_MS, RENEW_BEFORE_MS, clamp_time};
use crate::rest::{CallProblem, HttpAnswer, PendingCall, Player, ServerAnswer, SessionTokens};

/// A session as it is stored over a restart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredSession {
    pub(crate) player: Player,
    /// The access token; empty once the server has refused it.
    access: String,
    access_expires_ms: i64,
    /// `None` once the server has refused it.
    pub(crate) refresh: Option<String>,
    session: String,
    /// True if the device alone can sign this player in again.
    pub(crate) by_device: bool,
    /// The server's clock minus the wall clock; `None` until the server's time is known.
    offset_ms: Option<i64>,
}

/// Returns the value of [`StoreKey::Session`] for a player whom the app has signed in by itself.
/// `tokens` is the body of the server's answer. `by_device` is true if the player was signed in as
/// a guest, so that the device alone can sign the player in again. Returns `None` if the body lacks
/// a token.
///
/// [`StoreKey::Session`]: crate::StoreKey::Session
pub fn stored_session(player: Player, tokens: &str, by_device: bool) -> Option<String> {
    let answer = ServerAnswer::read(&HttpAnswer {
        status: 200,
        content_type: Some("application/json".into()),
        body: tokens.into(),
        retry_after_ms: None,
    });
    let stored = StoredSession::new(player, answer?.tokens()?, by_device);
    Some(stored.to_text())
}

impl StoredSession {
    fn new(player: Player, tokens: SessionTokens, by_device: bool) -> Self {
        let SessionTokens { access, expires_ms, refresh, session } = tokens;
        Self {
            player,
            access,
            access_expires_ms: expires_ms,
            refresh: Some(refresh),
            session,
            by_device,
            offset_ms: None,
        }
    }

    /// Reads a stored session; `None` for any other text.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let stored: Self = serde_json::from_str(text).ok()?;
        let access_expires_ms = clamp_time(stored.access_expires_ms);
        let offset_ms = stored.offset_ms.map(clamp_time);
        Some(Self { access_expires_ms, offset_ms, ..stored })
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A receiver of the result of a renewal.
#[derive(Debug)]
pub(crate) enum RenewalWaiter {
    Connection,
    /// The timer that renews tokens ahead of their expiry.
    Ahead,
    Call(Box<PendingCall>),
}

/// The result of a renewal.
#[derive(Clone, Debug)]
pub(crate) enum Renewal {
    Renewed,
    SignedOut(CallProblem),
    /// A temporary failure.
    Failed(CallProblem),
}

/// The start of the renewal in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RenewingSince {
    Ms(i64),
    /// Before a sleep that the monotonic clock did not measure.
    LongAgo,
}

#[derive(Debug)]
pub(crate) struct ClientSession {
    /// The device's secret; `None` until it is drawn.
    pub(crate) device: Option<String>,
    pub(crate) stored: Option<StoredSession>,
    /// The server's clock minus the monotonic one; `None` until this process knows the server's
    /// time.
    ahead_ms: Option<i64>,
    /// The time at which the tokens arrived; `None` for stored ones.
    received_at_ms: Option<i64>,
    pub(crate) waiters: Vec<RenewalWaiter>,
    pub(crate) renewing_since: Option<RenewingSince>,
    /// The number of attempts to renew; answers to requests of an earlier one are late.
    pub(crate) attempts: u32,
}

impl ClientSession {
    pub(crate) fn new(device: Option<String>, stored: Option<&str>) -> Self {
        Self {
            device,
            stored: stored.and_then(StoredSession::read),
            ahead_ms: None,
            received_at_ms: None,
            waiters: Vec::new(),
            renewing_since: None,
            attempts: 0,
        }
    }

    pub(crate) fn player(&self) -> Option<&Player> {
        Some(&self.stored.as_ref()?.player)
    }

    /// Returns the id of the tokens' session.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(&self.stored.as_ref()?.session)
    }

    /// Returns the server's clock minus the monotonic one, as far as it is known.
    pub(crate) fn offset_ms(&self, time: Time) -> i64 {
        let stored = self.stored.as_ref().and_then(|stored| stored.offset_ms);
        self.ahead_ms.unwrap_or_else(|| stored.unwrap_or(0) + time.wall_ms - time.now_ms)
    }

    /// Returns the access token, if it is valid as far as this client knows.
    pub(crate) fn token(&self, time: Time) -> Option<&str> {
        let stored = self.stored.as_ref().filter(|stored| !stored.access.is_empty())?;
        let is_new = self.age_ms(time).is_some_and(|age_ms| age_ms < NEW_TOKEN_MS);
        let is_valid = || self.left_ms(stored, time).is_none_or(|left| left > LIFETIME_MIN_MS);
        (is_new || is_valid()).then_some(&stored.access)
    }

    /// Returns the delay until the renewal ahead of the expiry; `None` if it is unknown or no
    /// renewal is possible.
    pub(crate) fn renew_in_ms(&self, time: Time) -> Option<i64> {
        let stored = self.stored.as_ref().filter(|stored| !stored.access.is_empty())?;
        let ahead_ms = self.ahead_ms?;
        if stored.refresh.is_none() && !stored.by_device {
            return None;
        }
        let left_ms = stored.access_expires_ms - time.now_ms - ahead_ms;
        let until_old_ms = self.age_ms(time).map_or(0, |age_ms| NEW_TOKEN_MS - age_ms);
        Some((left_ms - RENEW_BEFORE_MS).max(until_old_ms).max(0))
    }

    /// Records the server's time.
    pub(crate) fn set_server_time(&mut self, server_ms: i64, time: Time) {
        self.ahead_ms = Some(server_ms - time.now_ms);
        if let Some(stored) = &mut self.stored {
            stored.offset_ms = Some(server_ms - time.wall_ms);
        }
    }

    /// Returns whether these are newer tokens of the same session.
    pub(crate) fn is_older_than(&self, other: &StoredSession) -> bool {
        self.stored.as_ref().is_some_and(|stored| {
            stored.session == other.session && stored.access_expires_ms < other.access_expires_ms
        })
    }

    /// Marks a token as rejected by the server, and returns whether it is the present one.
    pub(crate) fn reject_token(&mut self, token: &str) -> bool {
        match &mut self.stored {
            Some(stored) if stored.access == token => {
                stored.access.clear();
                true
            }
            Some(_) | None => false,
        }
    }

    /// Sets tokens that have just arrived.
    pub(crate) fn set_tokens(
        &mut self,
        tokens: SessionTokens,
        player: Player,
        by_device: bool,
        time: Time,
    ) {
        let stored = StoredSession::new(player, tokens, by_device);
        self.set_received(stored, time);
    }

    /// Sets a session that has just arrived.
    pub(crate) fn set_received(&mut self, stored: StoredSession, time: Time) {
        self.received_at_ms = Some(time.now_ms);
        // A clock by which the new tokens have already expired is wrong.
        let left_ms = |ahead_ms: i64| stored.access_expires_ms - time.now_ms - ahead_ms;
        self.ahead_ms = self.ahead_ms.filter(|ahead_ms| left_ms(*ahead_ms) >= NEW_TOKEN_MS);
        let offset_ms = self.ahead_ms.map(|ahead_ms| ahead_ms + time.now_ms - time.wall_ms);
        self.stored = Some(StoredSession { offset_ms, ..stored });
    }

    /// Returns the age of the tokens; `None` for stored ones, which count as old.
    fn age_ms(&self, time: Time) -> Option<i64> {
        Some(time.now_ms - self.received_at_ms?)
    }

    pub(crate) fn is_restored(&self) -> bool {
        self.received_at_ms.is_none()
    }

    /// Returns the remaining lifetime of the access token by the clock that leaves less; `None` if
    /// the server's time is unknown.
    fn left_ms(&self, stored: &StoredSession, time: Time) -> Option<i64> {
        let by_monotonic = self.ahead_ms.map(|ahead_ms| time.now_ms + ahead_ms);
        let by_wall = stored.offset_ms.map(|offset_ms| time.wall_ms + offset_ms);
        Some(stored.access_expires_ms - by_monotonic.max(by_wall)?)
    }
}
