//! Tongo (options): the contract of a game under random play, hidden information, strength against
//! a search, and tables in virtual time.

use bahay_engine::games::tongo_options::Action;

mod conformance;
mod strength;
mod tables;
mod twins;
mod verifier;

/// Returns true for an action that goes on with the game.
fn is_calm(action: &Action) -> bool {
    !matches!(action, Action::Fold | Action::Acquire | Action::Confront { .. })
}
