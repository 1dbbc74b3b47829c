//! What the house's AI plays, from a view alone.

use crate::games::tongo_options::action::Action;
use crate::games::tongo_options::legal;
use crate::games::tongo_options::view::View;

/// What to play; `None` when the viewer is not to act.
pub(super) fn advise(view: &View) -> Option<Action> {
    legal::default_action(&view.public, view.viewer?)
}
