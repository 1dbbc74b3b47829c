//! Previews of open corrections, for the operators who decide on them.
//!
//! Any number of corrections is previewed by the same number of statements.

use std::collections::BTreeMap;

use bahay_api::operator::corrections::CorrectionState as State;

use super::Operator;
use super::adjustments::{Adjustment, BoundCheck};
use super::correction_content::CorrectionContent;
use super::corrections::{CorrectionError, Corrections, StoredCorrection, find_in, find_open};
use crate::db;
use crate::ids::{CorrectionId, PlayerId};
use crate::ledger::BookingPreview;
use crate::passes;

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
        let mut previews = self.preview_stored(&[found]).await?;
        previews.remove(&id).ok_or(CorrectionError::Unknown { id })
    }

    /// Returns the outcome of each of these corrections that is open, if it alone were approved now.
    /// Any operator may read them.
    pub async fn preview_open(
        &self,
        _: &Operator,
        ids: &[CorrectionId],
    ) -> Result<BTreeMap<CorrectionId, CorrectionPreview>, CorrectionError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
        let found = db::retry(|| find_open(&self.pool, &ids)).await?;
        self.preview_stored(&found).await
    }

    async fn preview_stored(
        &self,
        found: &[StoredCorrection],
    ) -> Result<BTreeMap<CorrectionId, CorrectionPreview>, CorrectionError> {
        let subjects: Vec<_> = found
            .iter()
            .filter_map(|found| match found.content {
                CorrectionContent::Booking(subject) => Some(subject),
                CorrectionContent::Pass { .. } | CorrectionContent::PassRevocation { .. } => None,
            })
            .collect();
        let mut bookings = self.ledger.preview_corrections(&subjects).await?.into_iter();
        let limits = self.check_booked_day(found).await?;
        let revoked: Vec<_> = found.iter().filter_map(|found| found.body.revoked_pass).collect();
        let revocations = passes::check_revocations(&self.pool, &revoked).await?;
        let mut previews = BTreeMap::new();
        for found in found {
            let booking = match found.content {
                CorrectionContent::Booking(_) => bookings.next(),
                CorrectionContent::Pass { .. } | CorrectionContent::PassRevocation { .. } => None,
            };
            // A pass moves no coins.
            let booking = booking.unwrap_or_else(|| Ok(BookingPreview::default()));
            let (booking, refusal) = match booking.map_err(CorrectionError::from) {
                Ok(booking) => {
                    let refusal = booking.refusal.clone().map(CorrectionError::from);
                    (booking, refusal)
                }
                Err(error @ CorrectionError::Refused(_)) => {
                    (BookingPreview::default(), Some(error))
                }
                Err(error) => return Err(error),
            };
            let id = CorrectionId(found.body.id);
            let revocation = found.body.revoked_pass.and_then(|pass| revocations.get(&pass));
            let refusal = limits.get(&id).cloned().or(refusal);
            let refusal = refusal.or(revocation.map(|error| (*error).into()));
            previews.insert(id, CorrectionPreview { booking, names: BTreeMap::new(), refusal });
        }
        let names = self.read_names(previews.values()).await?;
        for preview in previews.values_mut() {
            let players = preview.booking.wallets.iter().map(|wallet| wallet.player);
            preview.names =
                players.filter_map(|player| Some((player, names.get(&player)?.clone()))).collect();
        }
        Ok(previews)
    }

    /// Returns the names of the players whose wallets are previewed.
    async fn read_names(
        &self,
        previews: impl Iterator<Item = &CorrectionPreview>,
    ) -> Result<BTreeMap<PlayerId, String>, CorrectionError> {
        let wallets = previews.flat_map(|preview| &preview.booking.wallets);
        let players: Vec<_> = wallets.map(|wallet| wallet.player.0).collect();
        let once = || {
            sqlx::query!("select p.id, p.name from players p where p.id = any($1)", &players)
                .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        Ok(rows.map(|row| (PlayerId(row.id), row.name)).collect())
    }

    /// Checks adjustments against the daily limits as an approval does, without locks. Returns the
    /// errors.
    async fn check_booked_day(
        &self,
        found: &[StoredCorrection],
    ) -> Result<BTreeMap<CorrectionId, CorrectionError>, CorrectionError> {
        let adjustments = found.iter().filter_map(|found| {
            let (player, amount) = found.content.limited_amount()?;
            let requester = found.requester;
            Some(Adjustment { requester, player, amount, id: found.body.id })
        });
        let adjustments: Vec<_> = adjustments.collect();
        let now = self.clock.now();
        let once = || self.bounds.check_days(&self.pool, &adjustments, BoundCheck::Booked, now);
        let checked = db::retry(once).await?;
        let checked = adjustments.iter().zip(checked);
        let errors = checked.filter_map(|(adjustment, checked)| {
            Some((CorrectionId(adjustment.id), CorrectionError::from(checked.err()?)))
        });
        Ok(errors.collect())
    }
}
