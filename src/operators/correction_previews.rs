//! Previews of open corrections, for the operators who decide on them.

use std::collections::BTreeMap;

use bahay_api::operator::corrections::CorrectionState as State;

use super::Operator;
use super::adjustments::{Adjustment, BoundCheck};
use super::corrections::{CorrectionError, Corrections, StoredCorrection, Subject, find_in};
use crate::db;
use crate::ids::{CorrectionId, PlayerId};
use crate::ledger::BookingPreview;

/// The outcome of a correction if it were approved now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectionPreview {
    pub booking: BookingPreview,
    /// The names of the players in `booking`.
    pub names: BTreeMap<PlayerId, String>,
    /// The reason for which an approval would be refused to any operator.
    pub refusal: Option<CorrectionError>,
}

impl Corrections {
    /// Returns the outcome of an open correction if it were approved now. Any operator may read it.
    pub async fn preview(
        &self,
        _: &Operator,
        id: CorrectionId,
    ) -> Result<CorrectionPreview, CorrectionError> {
        let found = db::retry(|| find_in(&self.pool, id)).await?;
        let found = found.ok_or(CorrectionError::Unknown { id })?;
        if found.body.state != State::Open {
            return Err(CorrectionError::Decided { state: found.body.state });
        }
        let booking = match found.subject {
            Subject::Adjustment { player, amount } => {
                self.ledger.preview_adjustment(player, amount).await
            }
            Subject::Reversal { operation } => self.ledger.preview_reversal(operation).await,
        };
        let (booking, refusal) = match booking.map_err(CorrectionError::from) {
            Ok(booking) => {
                let refusal = booking.refusal.clone().map(CorrectionError::from);
                (booking, refusal)
            }
            Err(error @ CorrectionError::Refused(_)) => (BookingPreview::default(), Some(error)),
            Err(error) => return Err(error),
        };
        let refusal = self.check_booked_day(&found).await?.err().or(refusal);
        let players: Vec<_> = booking.wallets.iter().map(|wallet| wallet.player.0).collect();
        let once = || {
            sqlx::query!("select p.id, p.name from players p where p.id = any($1)", &players)
                .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let names = rows.map(|row| (PlayerId(row.id), row.name)).collect();
        Ok(CorrectionPreview { booking, names, refusal })
    }

    /// Checks an adjustment against the daily limits as an approval does, without locks.
    async fn check_booked_day(
        &self,
        found: &StoredCorrection,
    ) -> Result<Result<(), CorrectionError>, CorrectionError> {
        let Subject::Adjustment { player, amount } = found.subject else {
            return Ok(Ok(()));
        };
        let requester = found.requester;
        let adjustment = Adjustment { requester, player, amount, id: found.body.id };
        let now = self.clock.now();
        let check = BoundCheck::Booked;
        let once = || self.bounds.check_day(&self.pool, adjustment, check, now);
        Ok(db::retry(once).await?.map_err(CorrectionError::from))
    }
}
