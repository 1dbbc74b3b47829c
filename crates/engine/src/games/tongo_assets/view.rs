//! The view of one viewer.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::game::Prompt;
use crate::games::tongo_assets::event::Event;
use crate::games::tongo_assets::hidden::{Hidden, OwnKnowledge};
use crate::games::tongo_assets::legal::Actor;
use crate::games::tongo_assets::public::PublicState;
use crate::seat::Seat;

/// The part of a game that one viewer knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsView"))]
pub struct View {
    /// The viewer's seat; `None` for the public and the record.
    pub viewer: Option<Seat>,
    pub public: PublicState,
    /// The cards that the viewer holds and sees; absent for the public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnKnowledge>,
    /// The positions of all cards, for the record only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Box<Hidden>>,
}

impl View {
    pub fn prompt(&self) -> Option<Prompt> {
        self.public.prompt()
    }

    /// Returns the viewer as an actor, if it is a player.
    pub fn actor(&self) -> Option<Actor<'_>> {
        let seat = self.viewer?;
        let own = self.own.as_ref()?;
        Some(Actor { public: &self.public, seat, hand: own.hand, kept: own.kept })
    }

    pub(super) fn observe(&mut self, event: &Event) {
        if let Some(hidden) = &mut self.hidden {
            hidden.apply(&self.public, event);
        }
        let offer = self.public.offer;
        self.public.apply(event);
        if let (Some(seat), Some(own)) = (self.viewer, &mut self.own) {
            own.apply(&self.public, seat, event, offer);
        }
    }
}
