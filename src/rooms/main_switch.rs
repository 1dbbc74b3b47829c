//! The main switch: whether games may begin at all, in rooms and at private tables. Running games are
//! finished. It is heard of as changes of rooms are, and leaves what each room says untouched.

use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;

use super::{Catalog, RoomError};
use crate::clock::{self, Timestamp};
use crate::db::{self, PgPool};
use crate::operators::Administrator;
use crate::operators::audit::{self, Action};
use crate::reason::Reason;

/// The switch, as nodes go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct House {
    pub is_open: bool,
    /// Counts up with every change; zero for a house that was never closed.
    pub revision: u32,
}

impl House {
    /// Of rooms that stay as they are.
    pub(super) const OPEN: Self = Self { is_open: true, revision: 0 };
}

/// The switch, as operators read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseState {
    pub is_open: bool,
    /// Why it is closed.
    pub reason: Option<String>,
    /// The operator's name; none before the first change.
    pub changed_by: Option<String>,
    pub changed_at: Timestamp,
}

impl Catalog {
    /// Closes the house for a reason, or opens it. What it is already, it stays.
    pub async fn switch_house(
        &self,
        by: &Administrator,
        closed_for: Option<&Reason>,
    ) -> Result<HouseState, RoomError> {
        let (is_open, reason) = (closed_for.is_none(), closed_for.map(Reason::as_str));
        let mut tx = self.pool()?.begin().await?;
        let changed = sqlx::query!(
            r#"
            update house
            set is_open = $1, reason = $2, revision = revision + 1, changed_by = $3,
                changed_at = date_trunc('milliseconds', now())
            where is_open <> $1
            "#,
            is_open,
            reason,
            by.id.0
        );
        if changed.execute(&mut *tx).await?.rows_affected() == 1 {
            let action = if is_open { Action::HouseOpened } else { Action::HouseClosed };
            let detail = json!({ "reason": reason });
            audit::record_in_tx(&mut tx, by.actor(), action, Some("house"), detail).await?;
        }
        tx.commit().await?;
        self.refresh().await?;
        self.house_state().await
    }

    /// The switch as it stands.
    pub async fn house_state(&self) -> Result<HouseState, RoomError> {
        let pool = self.pool()?;
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
            changed_at: clock::from_jiff(row.changed_at.to_jiff()),
        })
    }
}

pub(super) async fn read(pool: &PgPool) -> Result<House, RoomError> {
    let once = || sqlx::query!("select h.is_open, h.revision from house h").fetch_one(pool);
    let row = db::retry(once).await?;
    let revision = u32::try_from(row.revision).unwrap_or(0);
    Ok(House { is_open: row.is_open, revision })
}
