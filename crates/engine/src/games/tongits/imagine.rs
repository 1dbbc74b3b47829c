//! Games that are consistent with the view of a seat, for an AI that imagines the hidden cards.

use crate::cards::CardSet;
use crate::games::tongits::event::BySeat;
use crate::games::tongits::meld::has_secret;
use crate::games::tongits::phase::{Phase, PublicState};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::SEATS;
use crate::games::tongits::state::Tongits;
use crate::games::tongits::view::View;
use crate::seat::Seat;

impl Tongits {
    /// Returns the game in which the viewer's opponents have these hands and the stock has this
    /// order. The caller distributes the cards that the viewer does not see.
    #[must_use]
    pub fn imagine(view: &View, viewer: Seat, hands: BySeat<CardSet>, stock: Pile) -> Self {
        let public = add_secretly_asked(&view.public, viewer, &hands);
        Self { public, hands, stock, answers: view.answers.clone(), drawn: view.drawn }
    }
}

/// Adds the seats that are asked secretly, which follow from the hands (rule 4.2).
fn add_secretly_asked(
    public: &PublicState,
    viewer: Seat,
    hands: &[CardSet; SEATS as usize],
) -> PublicState {
    let mut public = public.clone();
    let rules = public.rules;
    if let Phase::Fight { fighter, asked, asked_secretly, .. } = &mut public.phase {
        let holds = |other: &Seat| {
            let hand = hands[other.index()];
            rules.secret_may_challenge && has_secret(hand, rules.secret_run_min)
        };
        let unseen = fighter.others(SEATS).filter(|other| *other != viewer);
        let holding = unseen.filter(|other| !asked.contains(*other)).filter(holds);
        *asked_secretly = holding.fold(*asked_secretly, |sum, seat| sum.with(seat));
    }
    public
}
