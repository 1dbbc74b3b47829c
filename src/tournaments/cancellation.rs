//! Cancellations by operators: the amounts by player, shown before, and paid as they were shown.

use bahay_engine::hex::Hex;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::{CancelReason, Input, Payment, Refund, Tournament, TransferKey};
use bahay_shell::tournaments::LineWrite;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::journal::CancellationEntry;
use super::{TournamentError, Tournaments};
use crate::operators::audit::{Action, Actor};
use crate::reason::Reason;

/// The payments of a cancellation: one amount a player, in the order in which they are booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancellationRefunds {
    pub refunds: Vec<Refund>,
}

impl CancellationRefunds {
    /// Returns the coins that a cancelled tournament still has to pay to its players.
    pub(super) fn from_cancelled(tournament: &Tournament) -> Self {
        let paid = tournament.pending_transfers().filter(|one| one.payment == Payment::Coins);
        let refunds = paid.filter_map(|transfer| match transfer.key {
            TransferKey::Return { player, .. } | TransferKey::Cancel { player } => {
                Some(Refund { player, amount: transfer.amount })
            }
            _ => None,
        });
        Self { refunds: refunds.collect() }
    }

    /// Returns the SHA-256 of the players and their amounts.
    pub fn digest(&self) -> Hex<32> {
        let mut hash = Sha256::new();
        for Refund { player, amount } in &self.refunds {
            hash.update(player.0.as_bytes());
            hash.update(amount.hundredths().to_be_bytes());
        }
        Hex(hash.finalize().into())
    }
}

impl Tournaments {
    /// Returns the amounts that the players would receive if the tournament was cancelled now.
    pub async fn preview_cancellation(
        &self,
        id: TournamentId,
    ) -> Result<CancellationRefunds, TournamentError> {
        let input = Input::Cancel { reason: CancelReason::House };
        let transition = self.read(id).await?.decide(self.now(), input)?;
        Ok(CancellationRefunds::from_cancelled(&transition.tournament))
    }

    /// Cancels a tournament with an audit entry, and pays its players what the rules give them.
    /// Returns the amounts by player. `shown` is the digest of the amounts that the operator has
    /// seen.
    ///
    /// # Errors
    /// [`TournamentError::AmountsChanged`] if the players would receive other amounts than those of
    /// `shown`; nothing is cancelled then.
    pub async fn cancel(
        &self,
        id: TournamentId,
        by: &Actor,
        reason: &Reason,
        shown: Option<Hex<32>>,
    ) -> Result<CancellationRefunds, TournamentError> {
        let detail = json!({ "reason": reason.as_str() });
        let action = Action::TournamentCancelled;
        let entry = CancellationEntry { by: by.clone(), action, detail, shown };
        let input = Input::Cancel { reason: CancelReason::House };
        let cancelled = self.submit_with(id, input, LineWrite::None, Some(&entry)).await??;
        self.run_effects(id).await?;
        Ok(CancellationRefunds::from_cancelled(&cancelled.tournament))
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::coins::Coins;
    use bahay_engine::table::PlayerId;
    use uuid::Uuid;

    use super::{CancellationRefunds, Refund};

    #[test]
    fn the_digest_differs_if_any_amount_does() {
        let digest = |amounts: &[i64]| {
            let refunds = amounts.iter().zip(1_u128..).map(|(amount, player)| Refund {
                player: PlayerId(Uuid::from_u128(player)),
                amount: Coins::from_hundredths(*amount),
            });
            CancellationRefunds { refunds: refunds.collect() }.digest()
        };
        assert_eq!(digest(&[500, 300]), digest(&[500, 300]));
        // The same players with the same total.
        assert_ne!(digest(&[500, 300]), digest(&[400, 400]));
        assert_ne!(digest(&[500]), digest(&[500, 0]));
    }
}
