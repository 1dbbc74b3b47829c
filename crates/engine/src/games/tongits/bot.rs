//! The house's AI. For now what the clock would play.

use crate::games::tongits::action::Action;
use crate::games::tongits::legal::default_action;
use crate::games::tongits::view::View;

pub(super) fn advise(view: &View) -> Option<Action> {
    default_action(&view.public, view.viewer?, view.hand()?)
}
