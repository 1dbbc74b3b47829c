//! The operations, each in a file of its own: its input, key, accounts, checks and decision, its
//! answer, and the call of [`super::Ledger`] that performs it. CONTRIBUTING.md lists the steps to
//! add one.

mod adjust;
mod grant;
mod open_game;
mod refund_pot;
mod reverse;
mod settle;
mod sweep;
mod transfer_for_tournament;
mod void;

pub(super) use adjust::plan_adjustment;
pub(super) use open_game::Opening;
pub(super) use refund_pot::{PotContributions, read_contributions, split_pot};

use super::chart::Code;
use super::operation::{Kind, NEVER_REVERSED, Operation};

/// Lists the operations, one a line, with the types that callers name.
macro_rules! operations {
    ($($file:ident::$operation:ident => $($public:ident),+;)+) => {
        $(pub use $file::{$($public),+};)+

        const KINDS: &[Kind] = &[$(<$file::$operation as Operation>::KIND),+];
    };
}

operations! {
    adjust::AdjustWallet => AdjustWallet, BookedCorrection;
    grant::GrantCoins => GrantCoins, GrantOutcome;
    open_game::Opening => OpenGame, OpeningOutcome;
    refund_pot::PlannedPotRefund => IdlePot, PotRefundOutcome, PotRefundRequest;
    reverse::Reversal => ReverseOperation;
    settle::SettleGame => SettleGame, SettlementOutcome, StoredSettlement, settlement_hash;
    sweep::SweepWallet => SweepWallet;
    transfer_for_tournament::TransferForTournament => TransferForTournament, TournamentPurpose;
    void::VoidGame => VoidOutcome;
}

/// The reason why an operation cannot be reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irreversible {
    /// Operations of its kind are never reversed.
    Kind(&'static str),
    /// It paid a POT, in which several games have a share.
    PaidPot,
    /// It has no reversible transfer.
    MovedNothing,
}

impl Irreversible {
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Kind(why) => why,
            Self::PaidPot => "it paid a POT, which belongs to several games: adjust instead",
            Self::MovedNothing => "it has no reversible transfer",
        }
    }
}

/// Checks whether an operation can be reversed, by its kind and the codes of its transfers. All of
/// them are reversed, except releases.
pub fn check_reversible(
    kind: &str,
    codes: impl IntoIterator<Item = Code>,
) -> Result<(), Irreversible> {
    let known = KINDS.iter().find(|known| known.name == kind);
    if let Some(why) = known.map_or(Some(NEVER_REVERSED), |known| known.irreversible) {
        return Err(Irreversible::Kind(why));
    }
    let mut is_empty = true;
    for code in codes {
        if code == Code::Pot {
            return Err(Irreversible::PaidPot);
        }
        is_empty &= code == Code::Release;
    }
    if is_empty { Err(Irreversible::MovedNothing) } else { Ok(()) }
}
