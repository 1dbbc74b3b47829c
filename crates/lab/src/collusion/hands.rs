//! Questions about the hands and melds of a game in progress.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::games::tongits::{Action, Phase, Tongits, for_each_meld};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

/// Returns true if a card makes a meld with a hand.
pub(super) fn can_use(hand: CardSet, card: Card) -> bool {
    let mut found = false;
    for_each_meld(hand.with(card), |meld| found |= meld.contains(card));
    found
}

pub(super) fn hand_of(state: &Tongits, seat: Seat) -> CardSet {
    state.view(Viewer::Seat(seat)).hand().unwrap_or_default()
}

/// Returns the seat that started the current fight.
pub(super) fn fighter(state: &Tongits) -> Option<Seat> {
    match state.view(Viewer::Public).public.phase {
        Phase::Fight { fighter, .. } => Some(fighter),
        variants!(Phase: Starter, Deal, Draw, Play, Over) => None,
    }
}

pub(super) fn legal_actions(state: &Tongits, seat: Seat) -> Vec<Action> {
    let mut legal = Vec::new();
    state.legal_actions(seat, &mut legal);
    legal
}

pub(super) fn meld_owner(state: &Tongits, meld: u8) -> Option<Seat> {
    state.view(Viewer::Public).public.melds.owners().get(usize::from(meld)).copied()
}
