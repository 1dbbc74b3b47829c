//! The content of a correction: a booking in the ledger, or a pass for a tournament, which moves no
//! coins before its entry and has the same limits as coins of its value. The revocation of a pass has
//! no limit, like a reversal: the grant bounds it.

use bahay_api::operator::corrections::CorrectionKind;
use bahay_engine::coins::Coins;
use uuid::Uuid;

use crate::ids::PlayerId;
use crate::ledger::CorrectionSubject;

/// The content of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectionContent {
    Booking(CorrectionSubject),
    /// A pass that pays an entry of a tournament with at most this buy-in.
    Pass {
        player: PlayerId,
        buy_in_max: Coins,
    },
    /// The revocation of a pass, denoted by the correction that granted it.
    PassRevocation {
        pass: Uuid,
    },
}

/// The columns of a content.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContentColumns<'a> {
    pub(super) kind: &'a str,
    pub(super) player: Option<Uuid>,
    pub(super) amount: Option<i64>,
    pub(super) reversed_operation: Option<i64>,
    pub(super) revoked_pass: Option<Uuid>,
}

impl CorrectionContent {
    pub(super) const fn kind(self) -> CorrectionKind {
        match self {
            Self::Booking(CorrectionSubject::Adjustment { .. }) => CorrectionKind::Adjustment,
            Self::Booking(CorrectionSubject::Reversal { .. }) => CorrectionKind::Reversal,
            Self::Pass { .. } => CorrectionKind::Pass,
            Self::PassRevocation { .. } => CorrectionKind::PassRevocation,
        }
    }

    /// Returns the player and the amount that the limits on adjustments count.
    pub(super) const fn limited_amount(self) -> Option<(PlayerId, Coins)> {
        match self {
            Self::Booking(CorrectionSubject::Adjustment { player, amount })
            | Self::Pass { player, buy_in_max: amount } => Some((player, amount)),
            Self::Booking(CorrectionSubject::Reversal { .. }) | Self::PassRevocation { .. } => None,
        }
    }

    pub(super) fn to_columns(self) -> ContentColumns<'static> {
        let limited = self.limited_amount();
        let (reversed_operation, revoked_pass) = match self {
            Self::Booking(CorrectionSubject::Reversal { operation }) => (Some(operation), None),
            Self::PassRevocation { pass } => (None, Some(pass)),
            Self::Booking(CorrectionSubject::Adjustment { .. }) | Self::Pass { .. } => (None, None),
        };
        ContentColumns {
            kind: self.kind().as_str(),
            player: limited.map(|(player, _)| player.0),
            amount: limited.map(|(_, amount)| amount.hundredths()),
            reversed_operation,
            revoked_pass,
        }
    }

    /// Returns the content of a row; `None` if its columns do not fit its kind.
    pub(super) fn from_columns(columns: ContentColumns<'_>) -> Option<Self> {
        let ContentColumns { kind, player, amount, reversed_operation, revoked_pass } = columns;
        let limited = player.map(PlayerId).zip(amount.map(Coins::from_hundredths));
        match (kind.parse().ok()?, limited, reversed_operation, revoked_pass) {
            (CorrectionKind::Adjustment, Some((player, amount)), None, None) => {
                Some(Self::Booking(CorrectionSubject::Adjustment { player, amount }))
            }
            (CorrectionKind::Reversal, None, Some(operation), None) => {
                Some(Self::Booking(CorrectionSubject::Reversal { operation }))
            }
            (CorrectionKind::Pass, Some((player, buy_in_max)), None, None) => {
                Some(Self::Pass { player, buy_in_max })
            }
            (CorrectionKind::PassRevocation, None, None, Some(pass)) => {
                Some(Self::PassRevocation { pass })
            }
            _ => None,
        }
    }
}
