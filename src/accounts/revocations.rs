//! Keeps a node's [`Revocations`](crate::auth::Revocations) true to the database.
//!
//! The node that ends a session knows at once; the others ask twice a second what is new. So an
//! ended session's access tokens are refused everywhere within a second, and a node that has
//! just started knows all that were ended before. While the database does not answer, nobody can
//! end a session either.

use std::time::Duration;

use jiff_sqlx::Timestamp as SqlTimestamp;

use crate::auth::ACCESS_TOKEN_LIFE;
use crate::clock::{self, Timestamp};
use crate::db;
use crate::ids::SessionId;

use super::{AccountError, Accounts, from_sql, to_sql};

/// How often it is asked what is new.
const INTERVAL: Duration = Duration::from_millis(500);

/// How far back is asked each time: more than clocks differ and transactions last.
const OVERLAP: Duration = Duration::from_mins(1);

impl Accounts {
    /// Learns all that still matters. To be done before the first request is served.
    pub async fn load_revocations(&self) -> Result<(), AccountError> {
        let now = self.clock.now();
        self.learn_since(clock::before(now, ACCESS_TOKEN_LIFE * 2)).await
    }

    /// Learns what is new, for as long as it is polled. One such task a process.
    pub async fn follow_revocations(&self) {
        let mut interval = tokio::time::interval(INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut learned_at = clock::before(self.clock.now(), ACCESS_TOKEN_LIFE * 2);
        let mut is_deaf = false;
        loop {
            interval.tick().await;
            let now = self.clock.now();
            match self.learn_since(clock::before(learned_at, OVERLAP)).await {
                Ok(()) => {
                    if is_deaf {
                        tracing::info!("sessions ended elsewhere are heard of again");
                    }
                    (learned_at, is_deaf) = (now, false);
                }
                Err(error) => {
                    // Said once, not twice a second.
                    if !is_deaf {
                        tracing::error!(%error, "sessions ended elsewhere are not heard of");
                    }
                    is_deaf = true;
                }
            }
            self.auth.revocations().forget_expired(now);
        }
    }

    async fn learn_since(&self, since: Timestamp) -> Result<(), AccountError> {
        let once = || {
            let rows = sqlx::query!(
                r#"
                select id, revoked_at as "revoked_at!: SqlTimestamp"
                from sessions
                where revoked_at > $1
                "#,
                to_sql(since) as _
            );
            rows.fetch_all(&self.pool)
        };
        for row in db::retry(once).await? {
            self.auth.revocations().insert(SessionId(row.id), from_sql(row.revoked_at));
        }
        Ok(())
    }
}
