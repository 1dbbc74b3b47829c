//! Public statistics of games: how many were finished and how many were voided. They reveal a house
//! that voids unfavourable deals.
//!
//! The statistics are computed once per hour, up to that hour, and cached.

use std::time::Duration;

use super::booked::HOUR_MS;
use super::figures::sum_figures;
use super::{Interval, ReportError, Reports, to_sql};
use crate::clock::{self, Timestamp};

/// The reported spans in hours: a day, a week, thirty days.
const SPANS: [i64; 3] = [24, 7 * 24, 30 * 24];

/// The delay after an hour before its operations are counted.
const SETTLED_AFTER: Duration = Duration::from_mins(1);

/// Statistics of games up to an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deals {
    pub to: Timestamp,
    pub spans: [DealSpan; SPANS.len()],
    /// The games that were opened an hour or more before that and are still open: they reveal a
    /// house that leaves unfavourable deals unfinished.
    pub unended: i64,
}

/// The games of the hours before that instant. A game counts when it is opened, and again when it
/// ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DealSpan {
    pub hours: i64,
    pub opened: i64,
    pub settled: i64,
    pub voided: i64,
}

/// The age from which an open game counts as not ended; no game lasts that long.
pub const UNENDED_AFTER: Duration = Duration::from_hours(1);

impl Reports {
    /// Returns the statistics up to the last complete hour.
    pub async fn deals(&self, now: Timestamp) -> Result<Deals, ReportError> {
        let over = clock::subtract(now, SETTLED_AFTER).ms();
        let to = Timestamp::from_ms(over - over.rem_euclid(HOUR_MS));
        // Concurrent requests wait for the lock here, and not for the database.
        let mut cached = self.deals.lock().await;
        if let Some(deals) = cached.filter(|deals| deals.to == to) {
            return Ok(deals);
        }
        let mut spans = [DealSpan::default(); SPANS.len()];
        for (span, hours) in spans.iter_mut().zip(SPANS) {
            let from = Timestamp::from_ms(to.ms() - hours * HOUR_MS);
            let counted = self.operation_counts(Interval { from, to }, false).await?;
            let figures = sum_figures(&counted, &[])?;
            *span = DealSpan {
                hours,
                opened: figures.games_opened,
                settled: figures.games_settled,
                voided: figures.games_voided,
            };
        }
        let opened_before = clock::subtract(to, UNENDED_AFTER);
        let unended = sqlx::query_scalar!(
            r#"select count(*) as "count!" from games g where g.state = 'open' and g.opened_at < $1"#,
            to_sql(opened_before) as _
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(*cached.insert(Deals { to, spans, unended }))
    }
}
