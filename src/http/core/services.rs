//! The services on which handlers depend. They are created once, in `app`, and cloned for each
//! request.

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
use crate::reports::{Pairs, Reports};
use crate::rewards::Rewards;
use crate::social::Social;
use crate::standings::Standings;
use crate::tournaments::{TournamentRequests, TournamentSchedules, Tournaments};
use crate::verify::hourly::Checks;

use super::analyses::Analyses;
use super::health::Readiness;
use super::pagination::Cursors;

/// The services of the layers below REST. Every one is cheap to clone.
#[derive(Clone, Debug, FromRef)]
pub struct Services {
    pub accounts: Accounts,
    /// Analyses of finished games by a bot.
    pub analyses: Analyses,
    pub auth: Auth,
    /// The audit entries of operators' actions.
    pub audit: Audit,
    pub corrections: Corrections,
    pub operator_auth: OperatorAuth,
    pub idempotency: Idempotency,
    pub ledger: Ledger,
    pub lobby: Lobby,
    pub metrics: Metrics,
    /// The results of the ledger's checks.
    pub checks: Checks,
    pub operators: Operators,
    /// The records of games, including archived ones.
    pub records: Records,
    pub reports: Reports,
    /// Pairs of players by signs of collusion.
    pub pairs: Pairs,
    pub rewards: Rewards,
    pub social: Social,
    pub standings: Standings,
    pub tournaments: Tournaments,
    pub tournament_requests: TournamentRequests,
    pub tournament_schedules: TournamentSchedules,
    /// The live store, for socket tickets among others.
    pub live: LiveStore,
    pub clock: Clock,
    /// The connection pool, for reads of games.
    pub pool: PgPool,
    /// The probes that decide on readiness.
    pub readiness: Readiness,
}

impl FromRef<Services> for Cursors {
    fn from_ref(services: &Services) -> Self {
        Self::new(&services.auth)
    }
}
