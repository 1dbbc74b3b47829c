//! The classes of database errors: which are transient, and which of these are retried at once.
//!
//! Every caller that distinguishes transient errors from bugs uses [`Failure`], so that the ledger,
//! tables, sign-ins and HTTP problems agree.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use bahay_base::clock::Moment;

/// The maximum number of attempts after conflicts and broken connections. With the pauses below
/// they take about five seconds, and they exceed the number of connections of a pool, all of which
/// may be dead at once.
const ATTEMPTS_MAX: u32 = 24;

/// The maximum pause between two attempts, in milliseconds; pauses start at two milliseconds and
/// double.
const PAUSE_MS_MAX: u64 = 250;

/// The minimum time between two replacements of connections while the server stays read-only.
const REPLACE_EVERY: Duration = Duration::from_secs(1);

/// The time at which a connection last found its server read-only. All pools of the process share
/// it, because an error does not name its connection.
static READ_ONLY_AT: Mutex<Option<Moment>> = Mutex::new(None);

/// The class of a failed statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A conflict with another transaction: a retry may succeed at once.
    Contended,
    /// The connection broke. A commit may have succeeded or not, so it must be read.
    Lost,
    /// The server is read-only: a replica, or a demoted primary. Nothing was written. The
    /// connection is closed.
    ReadOnly,
    /// A connection, a lock, disk space or an answer was not available in time.
    Exhausted,
    /// The statement, the schema or the data is at fault; a retry does not help.
    Broken,
}

impl Failure {
    /// Classifies an error. After an error of a read-only server, all connections that existed at
    /// that time are replaced.
    pub fn classify(error: &sqlx::Error) -> Self {
        let failure = match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Exhausted,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Lost,
            sqlx::Error::Database(error) => Self::classify_sqlstate(error.code()),
            // sqlx adds variants; its present ones besides these are bugs of this program.
            _ => Self::Broken,
        };
        if failure == Self::ReadOnly {
            note_read_only();
        }
        failure
    }

    /// Returns whether a retry of the same call may succeed.
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Contended | Self::Lost | Self::ReadOnly | Self::Exhausted => true,
            Self::Broken => false,
        }
    }

    fn classify_sqlstate(code: Option<Cow<'_, str>>) -> Self {
        let code = code.as_deref().unwrap_or_default();
        match code {
            // A serialization failure or a deadlock; and a duplicate key, whose answer can now be
            // read.
            "40001" | "40P01" | "23505" => Self::Contended,
            // A replica, a demoted primary, or a primary that became read-only before its disk is
            // full.
            "25006" => Self::ReadOnly,
            // The server has closed the connection: the transaction was idle or open for too long.
            "25P03" | "25P04" => Self::Lost,
            // Connection exceptions; and a server that shuts down, crashes, starts or ends idle
            // sessions.
            _ if code.starts_with("08") || code.starts_with("57P") => Self::Lost,
            // A timeout of a lock or a statement; or an object in use.
            "55P03" | "55006" | "57014" => Self::Exhausted,
            // The login is refused, or the database does not exist: passwords are being rotated, or
            // a backup is being restored.
            "28000" | "28P01" | "3D000" => Self::Exhausted,
            // Insufficient resources, such as disk, memory or connections; and system errors.
            _ if code.starts_with("53") || code.starts_with("58") => Self::Exhausted,
            _ => Self::Broken,
        }
    }
}

/// Records that a server is read-only.
pub(super) fn note_read_only() {
    let mut noted = READ_ONLY_AT.lock().unwrap_or_else(PoisonError::into_inner);
    if noted.is_none_or(|at| at.elapsed() > REPLACE_EVERY) {
        tracing::warn!("PostgreSQL is read-only: its connections are replaced");
        *noted = Some(Moment::now());
    }
}

/// Returns whether a connection of this age existed when its server was found read-only.
pub(super) fn is_outdated(age: Duration) -> bool {
    let noted = READ_ONLY_AT.lock().unwrap_or_else(PoisonError::into_inner);
    noted.is_some_and(|at| at.elapsed() <= age)
}

/// Calls `once` until it succeeds or a retry does not help, with exponential back-off. Only for
/// idempotent work: reads, and transactions that detect an earlier commit by a key.
pub async fn retry<T, F>(once: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut attempt = 1;
    loop {
        let error = match once().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let attempts_max = match Failure::classify(&error) {
            Failure::Contended | Failure::Lost => ATTEMPTS_MAX,
            // The next connection may lead to another server; if not, more retries do not help.
            Failure::ReadOnly => 2,
            Failure::Exhausted | Failure::Broken => return Err(error),
        };
        if attempt >= attempts_max {
            return Err(error);
        }
        tracing::debug!(%error, attempt, "the database call is retried");
        let pause_ms = 1_u64.checked_shl(attempt).unwrap_or(PAUSE_MS_MAX).min(PAUSE_MS_MAX);
        sleep(Duration::from_millis(pause_ms)).await;
        attempt += 1;
    }
}

/// Implements `From` for an error with the variants `Unavailable { reason }` and
/// `Broken { reason }`, for a database error or for an error with a method `is_transient`.
#[macro_export]
macro_rules! unavailable_or_broken {
    ($error:ty) => {
        $crate::unavailable_or_broken!($error, $crate::Error, |error| {
            $crate::Failure::classify(error).is_transient()
        });
    };
    ($error:ty, $source:ty) => {
        $crate::unavailable_or_broken!($error, $source, <$source>::is_transient);
    };
    ($error:ty, $source:ty, $is_transient:expr) => {
        impl From<$source> for $error {
            fn from(error: $source) -> Self {
                let is_transient: fn(&$source) -> bool = $is_transient;
                let reason = error.to_string();
                if is_transient(&error) {
                    Self::Unavailable { reason }
                } else {
                    Self::Broken { reason }
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Failure;

    fn class(code: &'static str) -> Failure {
        Failure::classify_sqlstate(Some(code.into()))
    }

    #[test]
    fn transient_errors_are_distinguished_from_bugs() {
        for code in [
            "08000", "08001", "08003", "08004", "08006", "08P01", "25006", "25P03", "25P04",
            "28000", "28P01", "3D000", "40001", "40P01", "53000", "53100", "53200", "53300",
            "53400", "55006", "55P03", "57014", "57P01", "57P02", "57P03", "57P04", "57P05",
            "58000", "58030",
        ] {
            assert!(class(code).is_transient(), "{code}");
        }
        for code in ["", "22P02", "23514", "42501", "42P01", "42703", "XX000", "XX001", "BH001"] {
            assert_eq!(class(code), Failure::Broken, "{code}");
        }
        assert_eq!(class("25006"), Failure::ReadOnly);
    }
}
