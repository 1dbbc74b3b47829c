//! What became of games, for anybody to see: how many were played to their end and how many were
//! voided. A house that voids the deals it dislikes would show here.
//!
//! It is counted once in an hour, up to that hour: whoever asks waits for no more than that.

use std::time::Duration;

use tokio::sync::Mutex;

use super::today::Figures;
use super::{Interval, ReportError, Reports, to_sql};
use crate::clock::{self, Timestamp};

const HOUR_MS: i64 = 3_600_000;

/// The spans that are told, in hours: a day, a week, thirty days.
const SPANS: [i64; 3] = [24, 7 * 24, 30 * 24];

/// What was booked in an hour is read no sooner than this after it.
const SETTLED_AFTER: Duration = Duration::from_mins(1);

/// What became of games up to an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deals {
    pub to: Timestamp,
    pub spans: [DealSpan; SPANS.len()],
    /// Games that were opened an hour before that, or earlier, and are open still: a house
    /// that leaves a deal lying which it dislikes shows here.
    pub unended: i64,
}

/// What was booked in the hours before that instant. A game counts where it was opened, and again
/// where it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DealSpan {
    pub hours: i64,
    pub opened: i64,
    pub settled: i64,
    pub voided: i64,
}

/// The age from which an open game counts as not ended: no game is played for so long.
pub const UNENDED_AFTER: Duration = Duration::from_hours(1);

/// The last count.
#[derive(Debug, Default)]
pub(super) struct DealsCache(Mutex<Option<Deals>>);

impl Reports {
    /// Up to the last hour that is over.
    pub async fn deals(&self, now: Timestamp) -> Result<Deals, ReportError> {
        let over = clock::before(now, SETTLED_AFTER).ms();
        let to = Timestamp::from_ms(over - over.rem_euclid(HOUR_MS));
        // Who asks meanwhile waits here, and not in front of the database.
        let mut kept = self.deals.0.lock().await;
        if let Some(deals) = kept.filter(|deals| deals.to == to) {
            return Ok(deals);
        }
        let mut spans = [DealSpan::default(); SPANS.len()];
        for (span, hours) in spans.iter_mut().zip(SPANS) {
            let from = Timestamp::from_ms(to.ms() - hours * HOUR_MS);
            let counted = self.operation_counts(Interval { from, to }, false).await?;
            let Figures { opened, settled, voided, .. } = Figures::from_counts(&counted, &[])?;
            *span = DealSpan { hours, opened, settled, voided };
        }
        let opened_before = clock::before(to, UNENDED_AFTER);
        let unended = sqlx::query_scalar!(
            r#"select count(*) as "count!" from games g where g.state = 'open' and g.opened_at < $1"#,
            to_sql(opened_before) as _
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(*kept.insert(Deals { to, spans, unended }))
    }
}
