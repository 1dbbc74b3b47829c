//! The permission of an AI to commit its seat (rule 9.3).

use bahay_engine::games::tongo_options::analysis::is_commitment;
use bahay_engine::games::tongo_options::{Action, PublicState};

/// The permission of an AI to commit its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitmentPolicy {
    Allowed,
    Barred,
}

impl CommitmentPolicy {
    /// Returns whether an AI may play this action.
    pub(super) fn allow(self, public: &PublicState, action: &Action) -> bool {
        self == Self::Allowed || !is_commitment(public, action)
    }
}
