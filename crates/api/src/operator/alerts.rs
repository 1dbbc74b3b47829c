//! The alerts: conditions of the house that require an operator now.

use serde::Serialize;
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::Time;

operations! {
    /// Show the alerts
    ///
    /// Failures, a closed house, and the work that waits for an operator. For operators of every
    /// role. Meant to be requested every second: it reads no history.
    SHOW_ALERTS = Get "/v1/operator/alerts", Operators, Operator {
        200 json HouseAlerts: "The conditions now",
    }
}

/// The conditions of the house that require an operator. If all is well, both flags are true and
/// every number is zero.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HouseAlerts {
    /// The time of the report.
    pub at: Time,
    /// False if the live store, which holds the tables, accepted no write within a second.
    pub is_live_store_writable: bool,
    /// The nodes that have sent no heartbeat for 1.9 seconds. A node is declared dead after three.
    pub silent_nodes: i64,
    /// The nodes that were declared dead in the last hour, because they stopped without notice. Their
    /// tables continue on other nodes.
    pub dead_nodes: i64,
    pub is_house_open: bool,
    /// The differences that the last check of the ledger found.
    pub ledger_differences: i64,
    /// The halted tables that nobody has released or voided.
    pub tables_halted: i64,
    /// The corrections that wait for a decision.
    pub corrections_open: i64,
    /// The requests for tournaments that wait for a decision.
    pub tournament_requests_open: i64,
    /// The tournaments with a transfer or a table that has been due for three minutes.
    pub tournaments_stuck: i64,
    /// The players' reports that wait for a decision.
    pub reports_open: i64,
    /// The open pairs of players whose signs of collusion in the last seven days reach the alert
    /// score, at most a minute old unless counting takes longer than a second. Null if they could not
    /// be counted.
    #[schema(required = true)]
    pub pairs_suspected: Option<i64>,
    /// The background jobs whose attempts are used up.
    pub jobs_dead: i64,
}
