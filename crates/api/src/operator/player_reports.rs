//! Reports by players about other players: a list, and a decision on each report.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::player::people::ReportReason;
use crate::values::{IdText, ReasonText, Time};

operations! {
    /// List players' reports
    ///
    /// Newest first. For operators of every role.
    LIST_REPORTS = Get "/v1/operator/reports", Operators, Operator {
        query PageQuery<ReportFilter>,
        200 page PlayerReport: "A page of reports",
    }

    /// Decide on a player's report
    ///
    /// Each report is decided once. The decision changes nothing but the report: a sanction is a
    /// separate request. For the roles `support` and `admin`.
    DECIDE_REPORT = Post "/v1/operator/reports/{id}/decision", Operators, Operator {
        path id: IdText = "The report",
        headers RequiredKey,
        body DecideReport,
        200 json PlayerReport: "The closed report",
        refuses ReportNotFound ReportDecided,
    }
}

bahay_base::text_enum! {
    /// The state of a report.
    #[derive(ToSchema)]
    pub enum ReportState {
        Open = "open",
        Closed = "closed",
    }
}

bahay_base::text_enum! {
    /// `upheld`: the report is justified. `dismissed`: it is not, or there is no evidence.
    #[derive(ToSchema)]
    pub enum ReportOutcome {
        Upheld = "upheld",
        Dismissed = "dismissed",
    }
}

/// A filter on reports.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportFilter {
    /// Only reports in this state.
    #[param(inline)]
    pub state: Option<ReportState>,
}

/// A report by a player about another player of the same game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlayerReport {
    pub id: Uuid,
    /// The game, whose record is the evidence.
    pub game: Uuid,
    pub reporter: Uuid,
    pub reported: Uuid,
    #[schema(inline)]
    pub reason: ReportReason,
    /// A description in the reporter's own words.
    #[schema(required = true, example = "They showed each other their cards.")]
    pub words: Option<String>,
    pub created_at: Time,
    /// Null while the report is open.
    #[schema(required = true)]
    pub decision: Option<ReportDecision>,
}

/// The decision on a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReportDecision {
    #[schema(inline)]
    pub outcome: ReportOutcome,
    /// The operator's id.
    pub decided_by: Uuid,
    pub decided_at: Time,
    #[schema(example = "The record shows soft play.")]
    pub note: String,
}

/// A decision on a report.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideReport {
    #[schema(inline)]
    pub outcome: ReportOutcome,
    /// The reason, which is stored with the report.
    #[schema(value_type = ReasonText)]
    pub note: Reason,
}
