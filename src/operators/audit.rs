//! What operators did: a row for every sign-in, change, look at hidden cards and export, whichever
//! way it came. The service may only add rows and read them.
//!
//! Who changes something in PostgreSQL notes it in the same transaction, so that neither is without
//! the other. What happens elsewhere, as with tables, is noted before it is done.

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

/// The most that one page holds; a larger wish gets this.
const PAGE_MAX: u32 = 1_000;

/// The channel and credential of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A session in a browser.
    OperatorAuth,
    /// A session over the API.
    Api,
    /// An API token, which a program holds.
    Token,
    Command,
}

impl Channel {
    /// As in the column `channel`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OperatorAuth => "desk",
            Self::Api => "api",
            Self::Token => "token",
            Self::Command => "command",
        }
    }
}

/// Who orders something, how, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// `None` for the command line.
    pub operator: Option<OperatorId>,
    pub channel: Channel,
    pub address: Option<String>,
}

impl Actor {
    /// Of the command line, whose user is known to the system and not to us.
    pub const COMMAND_LINE: Self = Self { operator: None, channel: Channel::Command, address: None };
}

macro_rules! actions {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)*) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action {
            $($(#[$meta])* $name,)*
        }

        impl Action {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// As in the column `action`.
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
    /// A look at the second factor that an enrolment is going to set.
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
    /// An order about a table that was noted, and then could not be carried out.
    TableOrderFailed = "table_order_failed";
    /// A look at cards that players do not see: of a running game.
    HandsSeen = "hands_look";
    /// The same of a finished game.
    ReplaySeen = "replay_look";
    /// A look at the addresses that a player came from.
    AddressesSeen = "addresses_look";
    Exported = "export";
}

/// The text is no action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is no such action")]
pub struct ParseActionError;

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, ParseActionError> {
        Self::ALL.iter().copied().find(|action| action.as_str() == text).ok_or(ParseActionError)
    }
}

/// Something that was done, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: AuditEntryId,
    pub at: Timestamp,
    /// The name; none for the command line and for names that no operator has.
    pub operator: Option<String>,
    pub action: String,
    /// Its kind and its id, as in `room:newbie`.
    pub subject: Option<String>,
    pub detail: Value,
    pub channel: String,
    pub address: Option<String>,
}

/// Which actions are asked for: those that are all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The name of an operator.
    pub operator: Option<String>,
    pub action: Option<Action>,
    pub subject: Option<String>,
    pub from: Option<Timestamp>,
    /// Not included.
    pub to: Option<Timestamp>,
}

/// Where a page of actions begins. Opaque to clients: they give back what they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCursor {
    below: Uuid,
}

/// What was given is not a cursor of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a cursor that was given out")]
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

/// What operators did. Clones share the pool.
#[derive(Clone, Debug)]
pub struct Audit {
    pool: PgPool,
}

impl Audit {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Notes what changes nothing in PostgreSQL: a look, an export, an order about a table.
    pub async fn record(
        &self,
        actor: &Actor,
        action: Action,
        subject: &str,
        detail: Value,
    ) -> Result<(), sqlx::Error> {
        let id = entropy::uuid();
        let row = Row { id, actor, action, subject: Some(subject), detail };
        let once = || async {
            let mut connection = self.pool.acquire().await?;
            insert(&mut connection, &row).await
        };
        db::retry(once).await
    }

    /// What was done, newest first.
    pub async fn list(
        &self,
        search: &AuditFilter,
        cursor: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Page<AuditEntry, AuditCursor>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        // Ids begin with their time, so times are bounds of ids.
        let first = search.from.map_or(Uuid::nil(), first_id_at);
        let below = search.to.map_or(Uuid::max(), first_id_at);
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
                search.operator,
                search.action.map(Action::as_str),
                search.subject,
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
        Ok(Page::of_one_more(rows.collect(), limit, |last| AuditCursor { below: last.id.0 }))
    }
}

/// Notes what the caller's transaction changes.
pub async fn record_in_tx(
    connection: &mut PgConnection,
    actor: &Actor,
    action: Action,
    subject: Option<&str>,
    detail: Value,
) -> Result<(), sqlx::Error> {
    let row = Row { id: entropy::uuid(), actor, action, subject, detail };
    insert(connection, &row).await
}

struct Row<'a> {
    id: Uuid,
    actor: &'a Actor,
    action: Action,
    subject: Option<&'a str>,
    detail: Value,
}

/// The same row is written once.
async fn insert(connection: &mut PgConnection, row: &Row<'_>) -> Result<(), sqlx::Error> {
    let operator = row.actor.operator.map(|operator| tracing::field::display(operator.0));
    let (action, channel) = (row.action.as_str(), row.actor.channel.as_str());
    let (subject, address) = (row.subject, row.actor.address.as_deref());
    // Before it is written: what is tried and rolled back is worth a line too.
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

/// The first id that could be given out at a time.
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
    fn actions_are_read_as_they_are_written() {
        for action in Action::ALL {
            assert_eq!(action.as_str().parse(), Ok(*action));
        }
        assert!("".parse::<Action>().is_err());
    }

    #[test]
    fn ids_of_a_time_lie_between_its_bounds() {
        let (id, now) = (entropy::uuid(), Clock::system().now());
        let minute = Duration::from_mins(1);
        assert!(first_id_at(crate::clock::before(now, minute)) < id);
        assert!(id < first_id_at(crate::clock::after(now, minute)));
    }
}
