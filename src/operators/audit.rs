//! The audit log of operators: one row for every sign-in, change, view of hidden cards, and export,
//! over every channel. The service may only insert rows and read them.
//!
//! A change in PostgreSQL is recorded in the same transaction, so that neither exists without the
//! other. An act with effects elsewhere, such as an order about a table, is recorded before it is
//! performed.

use std::fmt::Display;

use bahay_engine::table::TableId;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::clock::{BoundedTimestamp, Timestamp};
use crate::db::{self, Page};
use crate::entropy;
use crate::ids::OperatorId;
use crate::reason::Reason;

pub use bahay_api::operator::audit::{Action, AuditEntry, AuditFilter, Channel};

/// The largest page; a larger limit is reduced to it.
const PAGE_MAX: u32 = 1_000;

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

/// Returns the conditions of a filter that are set, as the detail of the entry of an export.
pub fn filter_detail(filter: &impl Serialize) -> Value {
    let mut detail = serde_json::to_value(filter).unwrap_or_default();
    if let Value::Object(conditions) = &mut detail {
        conditions.retain(|_, condition| !condition.is_null());
    }
    detail
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
        db::retry(|| insert(&self.pool, id, actor, action, Some(subject), &detail)).await
    }

    /// Performs an order about a table, after recording it with its reason, and records its outcome,
    /// unless that is empty, or its failure.
    pub async fn run_table_order<T: Serialize, X: Display, E: From<sqlx::Error> + From<X>>(
        &self,
        by: &Actor,
        (action, table, reason): (Action, TableId, Option<&Reason>),
        order: impl Future<Output = Result<T, X>>,
    ) -> Result<T, E> {
        let subject = table_subject(table);
        let detail = json!({ "reason": reason.map(Reason::as_str) });
        self.record(by, action, &subject, detail).await?;
        match order.await {
            Ok(outcome) => {
                let recorded = serde_json::to_value(&outcome);
                let recorded = recorded.map_err(|error| sqlx::Error::Encode(error.into()))?;
                if !recorded.is_null() {
                    let detail = json!({ "order": action.as_str(), "outcome": recorded });
                    self.record(by, Action::TableOrderCompleted, &subject, detail).await?;
                }
                Ok(outcome)
            }
            Err(error) => {
                let detail = json!({ "order": action.as_str(), "error": error.to_string() });
                self.record(by, Action::TableOrderFailed, &subject, detail).await?;
                Err(error.into())
            }
        }
    }

    /// Returns the entries that match the filter, newest first, below an id.
    pub async fn list(
        &self,
        filter: &AuditFilter,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<AuditEntry, Uuid>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        // Ids are UUIDs of version 7, which begin with their time, so that a time bounds a range of
        // ids.
        let bound = |at: BoundedTimestamp| first_id_at(at.into());
        let first = filter.from.map_or(Uuid::nil(), bound);
        let last = filter.to.map_or(Uuid::max(), bound);
        let below = below.map_or(last, |below| below.min(last));
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
            id: row.id,
            at: db::from_sql(row.at).into(),
            operator: row.operator,
            action: row.action,
            subject: row.subject,
            detail: row.detail,
            channel: row.channel,
            address: row.address,
        });
        Ok(Page::from_rows(rows.collect(), limit, |last| last.id))
    }
}

/// Returns the subject that denotes a table.
pub fn table_subject(table: TableId) -> String {
    format!("table:{table}")
}

/// Records an act within the caller's transaction.
pub async fn record_in_tx(
    connection: &mut PgConnection,
    actor: &Actor,
    action: Action,
    subject: Option<&str>,
    detail: Value,
) -> Result<(), sqlx::Error> {
    insert(connection, entropy::uuid(), actor, action, subject, &detail).await
}

/// Inserts a row, unless a row with its id exists.
async fn insert(
    executor: impl PgExecutor<'_>,
    id: Uuid,
    actor: &Actor,
    action: Action,
    subject: Option<&str>,
    detail: &Value,
) -> Result<(), sqlx::Error> {
    let operator = actor.operator.map(|operator| tracing::field::display(operator.0));
    let action = action.as_str();
    let channel = actor.channel.as_str();
    let address = actor.address.as_deref();
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
        id,
        actor.operator.map(|operator| operator.0),
        action,
        subject,
        detail,
        channel,
        address
    )
    .execute(executor)
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
    use super::first_id_at;
    use crate::clock::Clock;
    use crate::entropy;
    use std::time::Duration;

    #[test]
    fn ids_of_a_time_lie_between_its_bounds() {
        let id = entropy::uuid();
        let now = Clock::system().now();
        let minute = Duration::from_mins(1);
        assert!(first_id_at(crate::clock::subtract(now, minute)) < id);
        assert!(id < first_id_at(crate::clock::add(now, minute)));
    }
}
