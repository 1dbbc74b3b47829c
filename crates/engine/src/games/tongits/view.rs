//! A viewer's knowledge of a game: the public state, its own hand and face-down melds, and its own
//! answer to a fight.
//!
//! A view that is advanced by redacted events ([`View::observe`]) equals the view that the game
//! would create anew. The record's view contains everything.

use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::games::tongits::event::{BySeat, Event, FightAnswers};
use crate::games::tongits::phase::PublicState;
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::SEATS;
use crate::seat::Seat;

/// A viewer's knowledge of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongitsView"))]
pub struct View {
    /// The viewer's seat; `None` for the public and the record.
    pub viewer: Option<Seat>,
    /// The public state; a fight is restricted to the viewer's knowledge.
    pub public: PublicState,
    /// The hands visible to the viewer, by seat. The hands shown at the end are in `public`.
    pub hands: BySeat<Option<CardSet>>,
    /// The answers to a fight that are visible to the viewer, in the order given.
    pub answers: FightAnswers,
    /// The card that the viewer drew in this turn, where the rules need it (rule 10.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Card>,
    /// The stock, in the record's view only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stock: Option<Pile>,
}

impl View {
    /// Returns the viewer's own hand.
    pub fn hand(&self) -> Option<CardSet> {
        self.hands.get(self.viewer?.index()).copied().flatten()
    }

    pub(super) fn observe(&mut self, event: &Event) {
        self.public.apply(event);
        self.drawn = event.drawn_card_after(&self.public.rules, self.drawn);
        if let Event::Dealt { hands, stock, .. } = event {
            self.hands = *hands;
            self.stock = *stock;
        }
        for (seat, hand) in Seat::all(SEATS).zip(&mut self.hands) {
            *hand = hand.map(|hand| event.hand_after(seat, hand));
        }
        match event {
            Event::Drawn { .. } => {
                if let Some(stock) = &mut self.stock {
                    stock.pop();
                }
            }
            Event::Answered { seat, answer } => self.answers.push((*seat, *answer)),
            variants!(Event: StarterChosen, Dealt, Chowed, Dropped, LaidFaceDown, Sapawed, Sagasa,
                Dumped, TongitsDeclared, Fought, Shown, Over) => {}
        }
    }
}
