//! The supervision of the server.

use serde::Serialize;
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::Time;

operations! {
    /// Show that the process is alive
    ///
    /// For supervisors that restart processes. It depends on no other service.
    IS_ALIVE = Get "/healthz", Server, Anyone {
        200 json Health: "The process is alive",
    }
}

/// The state of the server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `alive` or `ready`.
    #[schema(example = "ready")]
    pub status: &'static str,
    /// The names of the services that answered.
    #[schema(example = json!(["postgres", "redis"]))]
    pub answering: Vec<&'static str>,
    /// The last check of the ledger. Absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub ledger: Option<LedgerCheck>,
}

/// The result of a check of the ledger.
#[derive(Debug, Serialize, ToSchema)]
pub struct LedgerCheck {
    pub checked_at: Time,
    /// True if the check found no difference. Differences are in the log and in the table
    /// `ledger_checks`.
    pub is_clean: bool,
}
