//! The main switch, which decides whether games may begin at all, in rooms and at private tables.
//! Running games are finished. Nodes learn of it as they learn of changes of rooms, and the
//! settings of each room stay untouched.

use bahay_api::operator::house::HouseSwitch as HouseState;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;

use super::{Catalog, RoomError};
use crate::db::{self, PgPool};
use crate::operators::Administrator;
use crate::operators::audit::{self, Action, Actor};
use crate::reason::Reason;

/// The main switch as nodes apply it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HouseSwitch {
    pub is_open: bool,
    /// The number of changes; zero for a house that was never closed.
    pub revision: u32,
}

impl HouseSwitch {
    /// The switch of rooms that never change.
    pub(super) const OPEN: Self = Self { is_open: true, revision: 0 };
}

/// Closes the house for a reason, or opens it. Idempotent: a house that is already in that state
/// stays unchanged. The caller has authorised the actor.
pub async fn switch_house(
    pool: &PgPool,
    by: &Actor,
    closed_for: Option<&Reason>,
) -> Result<HouseState, RoomError> {
    let is_open = closed_for.is_none();
    let reason = closed_for.map(Reason::as_str);
    let mut tx = db::begin(pool).await?;
    let changed = sqlx::query!(
        r#"
        update house
        set is_open = $1, reason = $2, revision = revision + 1, changed_by = $3,
            changed_at = date_trunc('milliseconds', now())
        where is_open <> $1
        "#,
        is_open,
        reason,
        by.operator.map(|operator| operator.0)
    );
    if changed.execute(&mut *tx).await?.rows_affected() == 1 {
        let action = if is_open { Action::HouseOpened } else { Action::HouseClosed };
        let detail = json!({ "reason": reason });
        audit::record_in_tx(&mut tx, by, action, Some("house"), detail).await?;
    }
    tx.commit().await?;
    read_house_state(pool).await
}

/// Returns the current state of the switch.
pub async fn read_house_state(pool: &PgPool) -> Result<HouseState, RoomError> {
    let once = || {
        sqlx::query!(
            r#"
            select h.is_open, h.reason, o.name as "changed_by?",
                h.changed_at as "changed_at: SqlTimestamp"
            from house h
            left join operators o on o.id = h.changed_by
            "#
        )
        .fetch_one(pool)
    };
    let row = db::retry(once).await?;
    Ok(HouseState {
        is_open: row.is_open,
        reason: row.reason,
        changed_by: row.changed_by,
        changed_at: db::from_sql(row.changed_at).into(),
    })
}

impl Catalog {
    /// Switches the house as [`switch_house`] does, and refreshes the copy of this process.
    pub async fn switch_house(
        &self,
        by: &Administrator,
        closed_for: Option<&Reason>,
    ) -> Result<HouseState, RoomError> {
        let state = switch_house(self.pool()?, by.actor(), closed_for).await?;
        self.refresh().await?;
        Ok(state)
    }
}

pub(super) async fn read_switch(pool: &PgPool) -> Result<HouseSwitch, RoomError> {
    let once = || sqlx::query!("select h.is_open, h.revision from house h").fetch_one(pool);
    let row = db::retry(once).await?;
    let revision = u32::try_from(row.revision).unwrap_or(0);
    Ok(HouseSwitch { is_open: row.is_open, revision })
}
