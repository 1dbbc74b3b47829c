//! Reviews of pairs of players by operators: the newest one of each pair, with its reason and the
//! score at the time.

use bahay_api::operator::collusion::PairReview;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::json;
use uuid::Uuid;

use super::audit::{self, Action};
use super::{CanModerate, Moderation};
use crate::db;
use crate::reason::Reason;

impl Moderation {
    /// Reviews a pair of existing players at a score, in place of an earlier review. Not retried,
    /// because a repetition would be audited twice.
    pub async fn review_pair(
        &self,
        by: &CanModerate,
        players: [Uuid; 2],
        score: i64,
        reason: &Reason,
    ) -> Result<PairReview, sqlx::Error> {
        let [one, other] = players;
        let [first, second] = [one.min(other), one.max(other)];
        let mut tx = db::begin(&self.pool).await?;
        let row = sqlx::query!(
            r#"
            insert into pair_reviews as r (first, second, score, reason, reviewed_by)
            values ($1, $2, $3, $4, $5)
            on conflict (first, second) do update
            set score = excluded.score, reason = excluded.reason,
                reviewed_by = excluded.reviewed_by,
                reviewed_at = date_trunc('milliseconds', now())
            returning r.reviewed_at as "reviewed_at: SqlTimestamp",
                (select o.name from operators o where o.id = r.reviewed_by) as "reviewed_by!"
            "#,
            first,
            second,
            score,
            reason.as_str(),
            by.id.0
        )
        .fetch_one(&mut *tx)
        .await?;
        for (player, partner) in [(first, second), (second, first)] {
            let subject = format!("player:{player}");
            let detail = json!({ "partner": partner, "score": score, "reason": reason.as_str() });
            let action = Action::PairReviewed;
            audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), detail).await?;
        }
        tx.commit().await?;
        Ok(PairReview {
            reviewed_at: db::from_sql(row.reviewed_at).into(),
            reviewed_by: row.reviewed_by,
            reason: reason.as_str().to_owned(),
            score,
        })
    }
}
