//! The operators' view of reports, newest first, and the decision on each, made once.

use bahay_api::operator::player_reports::{
    PlayerReport, ReportDecision, ReportOutcome, ReportState,
};
use bahay_engine::table::PlayerId;
use jiff_sqlx::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Social;
use crate::db::{self, Page, from_sql};
use crate::ids::OperatorId;

/// The largest page.
const PAGE_MAX: u32 = 100;

/// The errors of deciding on a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("there is no such report")]
    Unknown,
    #[error("the report was decided already")]
    Decided,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A row of `player_reports`.
struct Row {
    id: Uuid,
    game: Uuid,
    reporter: Uuid,
    reported: Uuid,
    reason: String,
    words: Option<String>,
    created_at: Timestamp,
    outcome: Option<String>,
    decided_by: Option<Uuid>,
    decided_at: Option<Timestamp>,
    note: Option<String>,
}

impl TryFrom<Row> for PlayerReport {
    type Error = sqlx::Error;

    fn try_from(row: Row) -> Result<Self, sqlx::Error> {
        let outcome = row.outcome.as_deref().map(db::parse_column).transpose()?;
        let decision = match (outcome, row.decided_by, row.decided_at, row.note) {
            (Some(outcome), Some(decided_by), Some(at), Some(note)) => {
                Some(ReportDecision { outcome, decided_by, decided_at: from_sql(at).into(), note })
            }
            (Some(_) | None, ..) => None,
        };
        Ok(Self {
            id: row.id,
            game: row.game,
            reporter: row.reporter,
            reported: row.reported,
            reason: db::parse_column(&row.reason)?,
            words: row.words,
            created_at: from_sql(row.created_at).into(),
            decision,
        })
    }
}

impl Social {
    /// Returns the reports that a player has filed, and those about the player, newest first.
    pub async fn list_reports_of(
        &self,
        player: PlayerId,
    ) -> Result<(Vec<PlayerReport>, Vec<PlayerReport>), sqlx::Error> {
        let query = || {
            sqlx::query_as!(
                Row,
                r#"
                select r.id, r.game, r.reporter, r.reported, r.reason, r.words,
                    r.created_at as "created_at: Timestamp", r.outcome, r.decided_by,
                    r.decided_at as "decided_at: Timestamp", r.note
                from player_reports r
                where r.reporter = $1 or r.reported = $2
                order by r.created_at desc, r.id desc
                "#,
                player.0,
                player.0
            )
            .fetch_all(&self.pool)
        };
        let reports = db::retry(query).await?.into_iter().map(PlayerReport::try_from);
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        Ok(reports.into_iter().partition(|report| report.reporter == player.0))
    }

    /// Returns a page of reports, newest first, starting below `below`.
    pub async fn list_reports(
        &self,
        state: Option<ReportState>,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<PlayerReport, Uuid>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let is_open = state.map(|state| state == ReportState::Open);
        let query = || {
            sqlx::query_as!(
                Row,
                r#"
                select r.id, r.game, r.reporter, r.reported, r.reason, r.words,
                    r.created_at as "created_at: Timestamp", r.outcome, r.decided_by,
                    r.decided_at as "decided_at: Timestamp", r.note
                from player_reports r
                where ($1::boolean is null or (r.outcome is null) = $1)
                    and (
                        $2::uuid is null
                        or (r.created_at, r.id) < (
                            select b.created_at, b.id from player_reports b where b.id = $2
                        )
                    )
                order by r.created_at desc, r.id desc
                limit $3
                "#,
                is_open,
                below,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(query).await?.into_iter().map(PlayerReport::try_from);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(rows, limit, |last| last.id))
    }
}

/// Decides on a report in the caller's transaction. A report is decided once.
///
/// # Errors
/// [`ReportError::Unknown`] and [`ReportError::Decided`].
pub async fn decide_report_in_tx(
    tx: &mut PgConnection,
    report: Uuid,
    by: OperatorId,
    outcome: ReportOutcome,
    note: &crate::reason::Reason,
) -> Result<PlayerReport, ReportError> {
    let decided = sqlx::query_as!(
        Row,
        r#"
        update player_reports r
        set outcome = $2, decided_by = $3, note = $4,
            decided_at = date_trunc('milliseconds', now())
        where r.id = $1 and r.outcome is null
        returning r.id, r.game, r.reporter, r.reported, r.reason, r.words,
            r.created_at as "created_at: Timestamp", r.outcome, r.decided_by,
            r.decided_at as "decided_at: Timestamp", r.note
        "#,
        report,
        outcome.as_str(),
        by.0,
        note.as_str()
    );
    if let Some(row) = decided.fetch_optional(&mut *tx).await? {
        return Ok(row.try_into()?);
    }
    let known = sqlx::query_scalar!(
        r#"select exists (select from player_reports r where r.id = $1) as "is_known!""#,
        report
    );
    match known.fetch_one(tx).await? {
        true => Err(ReportError::Decided),
        false => Err(ReportError::Unknown),
    }
}
