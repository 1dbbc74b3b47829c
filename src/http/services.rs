//! What the handlers need. One value, made in `app`, cloned for each request.

use axum::extract::FromRef;

use crate::accounts::Accounts;
use crate::auth::Auth;
use crate::clock::Clock;
use crate::db::PgPool;
use crate::idempotency::Idempotency;
use crate::ledger::Ledger;
use crate::live_store::LiveStore;
use crate::lobby::Lobby;
use crate::metrics::Metrics;
use crate::operators::{Audit, Corrections, OperatorAuth, Operators};
use crate::records::Records;
use crate::reports::Reports;
use crate::rewards::Rewards;
use crate::social::Social;
use crate::standings::Standings;
use crate::verify::hourly::Checks;

use super::analysis::Analyses;
use super::health::Readiness;
use super::pagination::Cursors;

/// Everything below REST. All of it is cheap to clone.
#[derive(Clone, Debug)]
pub struct Services {
    pub accounts: Accounts,
    /// Of finished games, by a bot.
    pub analyses: Analyses,
    pub auth: Auth,
    /// What operators did.
    pub audit: Audit,
    pub corrections: Corrections,
    pub operator_auth: OperatorAuth,
    pub idempotency: Idempotency,
    pub ledger: Ledger,
    pub lobby: Lobby,
    pub metrics: Metrics,
    /// What is known of the ledger's state.
    pub checks: Checks,
    pub operators: Operators,
    /// Where records of old games are.
    pub records: Records,
    pub reports: Reports,
    pub rewards: Rewards,
    pub social: Social,
    pub standings: Standings,
    /// For tickets to the socket.
    pub live: LiveStore,
    pub clock: Clock,
    /// For reading games.
    pub pool: PgPool,
    /// What must answer for the server to be ready.
    pub readiness: Readiness,
}

/// For the extractor [`crate::auth::Player`].
impl FromRef<Services> for Auth {
    fn from_ref(services: &Services) -> Self {
        services.auth.clone()
    }
}

impl FromRef<Services> for Cursors {
    fn from_ref(services: &Services) -> Self {
        Self::new(&services.auth)
    }
}
