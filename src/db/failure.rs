//! The classes of database errors: which may pass, and which of these are tried again at once.
//!
//! Every caller that decides between "try later" and "a mistake of ours" asks [`Failure`], so that the
//! ledger, tables, sign-ins and HTTP problems agree.

use std::borrow::Cow;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use crate::clock::Moment;

/// How often something is tried in all when others are in the way or connections break. With
/// the pauses below that is about five seconds, and more often than a pool has connections, all
/// of which may be dead at once.
const ATTEMPTS_MAX: u32 = 24;

/// The longest pause between two attempts; they begin at two milliseconds and double.
const PAUSE_MS_MAX: u64 = 250;

/// Connections are replaced this often at most while the server stays read-only.
const REPLACE_EVERY: Duration = Duration::from_secs(1);

/// When a connection last answered that its server takes no writes. Shared by all pools of the
/// process, because an error does not name its connection.
static READ_ONLY_AT: Mutex<Option<Moment>> = Mutex::new(None);

/// The class of a failed statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Somebody else was in the way: the same transaction may pass at once.
    Contended,
    /// The connection broke. A commit may have gone through or not, so it must be read.
    Lost,
    /// The server takes no writes: a replica, or a primary that was made read-only. Nothing was
    /// written. The connection is closed and not used again.
    ReadOnly,
    /// A connection, a lock, space on a disk or an answer was not to be had in time.
    Exhausted,
    /// The statement itself is at fault, or the schema, or the data: trying again is no use.
    Broken,
}

impl Failure {
    /// Classifies an error, and has all connections replaced that are as old as one whose server
    /// takes no writes.
    pub fn classify(error: &sqlx::Error) -> Self {
        let failure = match error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Exhausted,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Lost,
            sqlx::Error::Database(error) => Self::classify_sqlstate(error.code()),
            // sqlx adds variants; those that it has now beside these are mistakes of ours.
            _ => Self::Broken,
        };
        if failure == Self::ReadOnly {
            note_read_only();
        }
        failure
    }

    /// Returns whether the same call may pass later.
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Contended | Self::Lost | Self::ReadOnly | Self::Exhausted => true,
            Self::Broken => false,
        }
    }

    fn classify_sqlstate(code: Option<Cow<'_, str>>) -> Self {
        let code = code.as_deref().unwrap_or_default();
        match code {
            // Serialization failure, deadlock; and a unique key that somebody else took first,
            // whose answer is there to be read.
            "40001" | "40P01" | "23505" => Self::Contended,
            // A replica, a primary that was demoted, or one that was made read-only before its disk
            // is full.
            "25006" => Self::ReadOnly,
            // The server has closed the connection: idle in a transaction, or in it for too long.
            "25P03" | "25P04" => Self::Lost,
            // Connection exceptions; the server shuts down, crashes, starts or ends idle sessions.
            _ if code.starts_with("08") || code.starts_with("57P") => Self::Lost,
            // A lock or a statement that took too long; an object that is in use.
            "55P03" | "55006" | "57014" => Self::Exhausted,
            // The login is refused, or the database is not there: passwords are being rotated, or a
            // backup is being restored.
            "28000" | "28P01" | "3D000" => Self::Exhausted,
            // Insufficient resources, as disk, memory or connections; and errors of the system.
            _ if code.starts_with("53") || code.starts_with("58") => Self::Exhausted,
            _ => Self::Broken,
        }
    }
}

/// Notes that a server takes no writes.
pub(super) fn note_read_only() {
    let mut noted = READ_ONLY_AT.lock().unwrap_or_else(PoisonError::into_inner);
    if noted.is_none_or(|at| at.elapsed() > REPLACE_EVERY) {
        tracing::warn!("PostgreSQL takes no writes: its connections are replaced");
        *noted = Some(Moment::now());
    }
}

/// Returns whether a connection of this age was there when its server was found to take no writes.
pub(super) fn is_outdated(age: Duration) -> bool {
    let noted = READ_ONLY_AT.lock().unwrap_or_else(PoisonError::into_inner);
    noted.is_some_and(|at| at.elapsed() <= age)
}

/// Does something until it passes or another attempt is no use. Only for what may be done twice:
/// reads, and transactions that find out by a key whether they have been committed before.
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
            // The next connection may lead to another server; if not, it is no use to insist.
            Failure::ReadOnly => 2,
            Failure::Exhausted | Failure::Broken => return Err(error),
        };
        if attempt >= attempts_max {
            return Err(error);
        }
        tracing::debug!(%error, attempt, "the database is asked again");
        let pause_ms = 1_u64.checked_shl(attempt).unwrap_or(PAUSE_MS_MAX).min(PAUSE_MS_MAX);
        sleep(Duration::from_millis(pause_ms)).await;
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    fn class(code: &'static str) -> Failure {
        Failure::classify_sqlstate(Some(code.into()))
    }

    #[test]
    fn faults_that_pass_are_transient_and_mistakes_are_not() {
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
