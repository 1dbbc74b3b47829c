//! Commitments that a seat makes without a prompt to do so. The AI never makes one for a player who
//! is away within the grace (rule 9.3).

use crate::games::tongo_options::action::Action;
use crate::games::tongo_options::public::PublicState;

/// Returns whether the action commits a seat without a prompt to do so: it confronts or acquires in
/// its turn, or is the first to wager its reserves.
pub fn is_commitment(public: &PublicState, action: &Action) -> bool {
    match action {
        Action::Acquire => true,
        // Without a target the action answers an acquisition.
        Action::Confront { target } => target.is_some(),
        Action::ConvertReserves => public.reserves.is_none(),
        variants!(Action: Stop, Retreat, Evade, Fold, PayRisk, Lower, Buy, Sell, Exchange, Raise,
            IndexMargin, Roll, End, PayToEvade, Stand, Join) => false,
    }
}
