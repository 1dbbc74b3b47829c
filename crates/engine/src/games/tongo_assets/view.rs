//! What one viewer knows of a game.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::game::{Prompt, Turn};
use crate::games::tongo_assets::event::Event;
use crate::games::tongo_assets::hidden::{Hidden, OwnKnowledge};
use crate::games::tongo_assets::legal::Actor;
use crate::games::tongo_assets::public::PublicState;
use crate::seat::Seat;

/// What one viewer knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsView"))]
pub struct View {
    /// The seat that looks; `None` for the public and the record.
    pub viewer: Option<Seat>,
    pub public: PublicState,
    /// What the viewer holds and sees; absent for the public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnKnowledge>,
    /// Every card, for the record only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Box<Hidden>>,
}

impl View {
    pub(super) fn prompt(&self) -> Option<Prompt> {
        prompt(&self.public)
    }

    /// The viewer as one that acts, where it is a player.
    pub(super) fn actor(&self) -> Option<Actor<'_>> {
        let (seat, own) = (self.viewer?, self.own.as_ref()?);
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

pub(super) fn prompt(public: &PublicState) -> Option<Prompt> {
    match public.turn() {
        Turn::Players(prompt) | Turn::Wait(prompt) => Some(prompt),
        Turn::Chance(_) | Turn::Over => None,
    }
}
