//! The audit log of operators: one row for every sign-in, change, view of hidden cards, and export,
//! over every channel. The service may only insert rows and read them.
//!
//! A change in PostgreSQL is recorded in the same transaction, so that neither exists without the
//! other. An act with effects elsewhere, such as an order about a table, is recorded before it is
//! performed.

use std::fmt;
use std::str::FromStr;

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use thiserror::Error;
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::db::{self, Page};
use crate::entropy;
use crate::ids::{AuditEntryId, OperatorId};

/// The largest page; a larger limit is reduced to it.
const PAGE_MAX: u32 = 1_000;

/// The channel and credential of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A session in a browser.
    Desk,
    /// A session over the API.
    Api,
    /// An API token, held by a program.
    Token,
    Command,
}

impl Channel {
    /// Returns the value of the column `channel`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Desk => "desk",
            Self::Api => "api",
            Self::Token => "token",
            Self::Command => "command",
        }
    }
}

/// The author of an act, with its channel and client address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// `None` for the command line.
    pub operator: Option<OperatorId>,
    pub channel: Channel,
    pub address: Option<String>,
}

impl Actor {
    /// The command line, whose user is known to the operating system but not to the service.
    pub const COMMAND_LINE: Self =
        Self { operator: None, channel: Channel::Command, address: None };
}

macro_rules! actions {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)*) => {
        /// The kind of an audited act.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action {
            $($(#[$meta])* $name,)*
        }

        impl Action {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the value of the column `action`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

actions! {
    SignedIn = "sign_in";
    SignInRefused = "sign_in_refused";
    SignedOut = "sign_out";
    /// The second factor of an enrolment was displayed.
    EnrolmentOpened = "enrolment_look";
    Enrolled = "enrolment";
    OperatorAdded = "operator_add";
    OperatorDisabled = "operator_disable";
    TokenCreated = "token_create";
    TokenRevoked = "token_revoke";
    SignInReset = "operator_reset_sign_in";
    CorrectionRequested = "correction_request";
    CorrectionApproved = "correction_approve";
    CorrectionRejected = "correction_reject";
    RoomCreated = "room_create";
    RoomChanged = "room_change";
    HouseClosed = "house_close";
    HouseOpened = "house_open";
    PlayerBanned = "player_ban";
    BanLifted = "player_lift_ban";
    PlayerMuted = "player_mute";
    MuteLifted = "player_lift_mute";
    SessionsEnded = "player_end_sessions";
    NoteWritten = "player_note";
    ReportDecided = "player_report_decide";
    TableVoided = "table_void";
    TableReleased = "table_release";
    PotRefunded = "pot_refund";
    JobRetried = "job_retry";
    JobDiscarded = "job_discard";
    /// An order about a table was recorded and then failed.
    TableOrderFailed = "table_order_failed";
    /// Hidden cards of a running game were displayed.
    HandsSeen = "hands_look";
    /// All hands of a finished game were displayed.
    ReplaySeen = "replay_look";
    /// The client addresses of a player were displayed.
    AddressesSeen = "addresses_look";
    Exported = "export";
}

/// The error of parsing an [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown action")]
pub struct ParseActionError;

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, ParseActionError> {
        Self::ALL.iter().copied().find(|action| action.as_str() == text).ok_or(ParseActionError)
    }
}

/// An audit entry, that is a row of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: AuditEntryId,
    pub at: Timestamp,
    /// The operator's name; `None` for the command line and for names that no operator has.
    pub operator: Option<String>,
    pub action: String,
    /// The kind and id of the affected object, such as `room:newbie`.
    pub subject: Option<String>,
    pub detail: Value,
    pub channel: String,
    pub address: Option<String>,
}

/// A filter on audit entries. An entry matches if it satisfies every condition that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// An operator's name.
    pub operator: Option<String>,
    pub action: Option<Action>,
    pub subject: Option<String>,
    pub from: Option<Timestamp>,
    /// The exclusive upper bound of the time.
    pub to: Option<Timestamp>,
}

/// The position of a page of audit entries. Opaque to clients, which send it back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCursor {
    below: Uuid,
}

/// The error of parsing an [`AuditCursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a cursor that this service issued")]
pub struct ParseAuditCursorError;

impl fmt::Display for AuditCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.below.simple(), f)
    }
}

impl FromStr for AuditCursor {
    type Err = ParseAuditCursorError;

    fn from_str(text: &str) -> Result<Self, ParseAuditCursorError> {
        let below = Uuid::try_parse(text).map_err(|_| ParseAuditCursorError)?;
        Ok(Self { below })
    }
}

/// The audit log. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Audit {
    pool: PgPool,
}

impl Audit {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Records an act that changes nothing in PostgreSQL: a view, an export, an order about a
    /// table.
    pub async fn record(
        &self,
        actor: &Actor,
        action: Action,
        subject: &str,
        detail: Value,
    ) -> Result<(), sqlx::Error> {
        let id = entropy::uuid();
        let row = AuditEntryRow { id, actor, action, subject: Some(subject), detail };
        let once = || async {
            let mut connection = self.pool.acquire().await?;
            insert(&mut connection, &row).await
        };
        db::retry(once).await
    }

    /// Returns the entries that match the filter, newest first.
    pub async fn list(
        &self,
        filter: &AuditFilter,
        cursor: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Page<AuditEntry, AuditCursor>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        // Ids are UUIDs of version 7, which begin with their time, so that a time bounds a range of
        // ids.
        let first = filter.from.map_or(Uuid::nil(), first_id_at);
        let below = filter.to.map_or(Uuid::max(), first_id_at);
        let below = cursor.map_or(below, |cursor| cursor.below.min(below));
        let once = || {
            sqlx::query!(
                r#"
                select a.id, a.at as "at: SqlTimestamp", o.name as "operator?", a.action,
                    a.subject, a.detail, a.channel, a.address
                from audit_entries a
                left join operators o on o.id = a.operator
                where a.id >= $1 and a.id < $2
                    and ($3::text is null
                        or a.operator = (select n.id from operators n where n.name = $3))
                    and ($4::text is null or a.action = $4)
                    and ($5::text is null or a.subject = $5)
                order by a.id desc
                limit $6
                "#,
                first,
                below,
                filter.operator,
                filter.action.map(Action::as_str),
                filter.subject,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter().map(|row| AuditEntry {
            id: AuditEntryId(row.id),
            at: clock::from_jiff(row.at.to_jiff()),
            operator: row.operator,
            action: row.action,
            subject: row.subject,
            detail: row.detail,
            channel: row.channel,
            address: row.address,
        });
        Ok(Page::from_rows(rows.collect(), limit, |last| AuditCursor { below: last.id.0 }))
    }
}

/// Records an act within the caller's transaction.
pub async fn record_in_tx(
    connection: &mut PgConnection,
    actor: &Actor,
    action: Action,
    subject: Option<&str>,
    detail: Value,
) -> Result<(), sqlx::Error> {
    let row = AuditEntryRow { id: entropy::uuid(), actor, action, subject, detail };
    insert(connection, &row).await
}

struct AuditEntryRow<'a> {
    id: Uuid,
    actor: &'a Actor,
    action: Action,
    subject: Option<&'a str>,
    detail: Value,
}

/// Inserts a row, unless a row with its id exists.
async fn insert(connection: &mut PgConnection, row: &AuditEntryRow<'_>) -> Result<(), sqlx::Error> {
    let operator = row.actor.operator.map(|operator| tracing::field::display(operator.0));
    let action = row.action.as_str();
    let channel = row.actor.channel.as_str();
    let subject = row.subject;
    let address = row.actor.address.as_deref();
    // Logged before the insert, so that acts that are rolled back are logged as well.
    tracing::info!(
        target: "bahay::security",
        event = "operator", action, operator, subject, channel, address,
        "security"
    );
    sqlx::query!(
        r#"
        insert into audit_entries (id, operator, action, subject, detail, channel, address)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (id) do nothing
        "#,
        row.id,
        row.actor.operator.map(|operator| operator.0),
        row.action.as_str(),
        row.subject,
        row.detail,
        row.actor.channel.as_str(),
        row.actor.address
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// Returns the lowest id that can be generated at a time.
fn first_id_at(time: Timestamp) -> Uuid {
    let ms = u64::try_from(time.ms()).unwrap_or(0);
    Uuid::from_u128(u128::from(ms) << 80)
}

#[cfg(test)]
mod tests {
    use super::{Action, first_id_at};
    use crate::clock::Clock;
    use crate::entropy;
    use std::time::Duration;

    #[test]
    fn actions_round_trip_through_text() {
        for action in Action::ALL {
            assert_eq!(action.as_str().parse(), Ok(*action));
        }
        assert!("".parse::<Action>().is_err());
    }

    #[test]
    fn ids_of_a_time_lie_between_its_bounds() {
        let id = entropy::uuid();
        let now = Clock::system().now();
        let minute = Duration::from_mins(1);
        assert!(first_id_at(crate::clock::subtract(now, minute)) < id);
        assert!(id < first_id_at(crate::clock::add(now, minute)));
    }
}
