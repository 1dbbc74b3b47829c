//! The part of sanctions that the API and the desk share.

use std::time::Duration;

use axum::extract::FromRef;
use bahay_api::operator::sanctions::{SanctionFilter, SanctionInForce, SanctionRequest};

use crate::accounts::{Sanction, SanctionError, SanctionKind};
use crate::clock;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem, Services};
use crate::ids::PlayerId;
use crate::operators::{CanModerate, Operator, Sanctions};

/// The longest temporary sanction, in hours.
const HOURS_MAX: u32 = 87_600;

/// Returns a page of the sanctions in force, newest first.
pub(super) async fn list_in_force(
    sanctions: &Sanctions,
    request: &PageRequest<Operator, SanctionFilter>,
) -> Result<PageOf<SanctionInForce>, Problem> {
    let kind = request.filter.kind;
    let list = format!("sanctions {kind:?}");
    request.read(&list, |below, limit| sanctions.list_in_force(kind, below, limit)).await
}

/// Imposes a sanction that begins now.
pub(super) async fn impose(
    sanctions: &Sanctions,
    by: &CanModerate,
    player: PlayerId,
    kind: SanctionKind,
    SanctionRequest { reason, hours }: SanctionRequest,
) -> Result<(), Problem> {
    let hour = Duration::from_hours(1);
    let ends_at = hours.map(|hours| clock::add(sanctions.now(), hour * hours));
    Ok(sanctions.impose(by, player, kind, &Sanction { reason, ends_at }).await?)
}

/// Rejects a duration out of bounds.
pub(super) fn check(request: SanctionRequest) -> Result<SanctionRequest, Problem> {
    match request.hours {
        None | Some(1..=HOURS_MAX) => Ok(request),
        Some(_) => Err(Code::BodyInvalid.with_detail("hours must be 1 to 87600")),
    }
}

impl FromRef<Services> for Sanctions {
    fn from_ref(services: &Services) -> Self {
        Self::new(services.pool.clone(), services.clock.clone())
    }
}

impl From<SanctionError> for Problem {
    fn from(error: SanctionError) -> Self {
        match error {
            SanctionError::PlayerNotFound => Code::PlayerNotFound.problem(),
            SanctionError::NotBanned => Code::NotBanned.problem(),
            SanctionError::NotMuted => Code::NotMuted.problem(),
            SanctionError::SanctionNotFound => Code::SanctionNotFound.problem(),
            SanctionError::Database(error) => error.into(),
        }
    }
}
