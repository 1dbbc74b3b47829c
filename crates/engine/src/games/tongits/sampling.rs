//! Sampling of games that are consistent with a seat's view. The unseen cards are distributed over
//! the other hands and the stock, either uniformly or in proportion to their probability given the
//! others' actions (`belief`).

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::chance::{ChanceAnswer, ChanceRng, Request};
use crate::game::SampledGame;
use crate::games::tongits::belief::BeliefChain;
use crate::games::tongits::event::Event;
use crate::games::tongits::meld::has_secret;
use crate::games::tongits::phase::{Phase, PublicState};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::SEATS;
use crate::games::tongits::state::Tongits;
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

/// Samples a game uniformly. Returns `None` if the view belongs to no seat, or if another seat has
/// laid cards face down: these form a secret meld, which a random distribution rarely contains.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<Tongits> {
    let viewer = view.viewer?;
    let hand = view.hand()?;
    let public = &view.public;
    if viewer.others(SEATS).any(|other| public.melds.has_face_down(other)) {
        return None;
    }
    let discards: CardSet = public.discards.cards().iter().copied().collect();
    let seen = hand.union(discards).union(public.melds.cards());
    let unseen: Vec<Card> = public.rules.deck().difference(seen).iter().collect();
    let count = u8::try_from(unseen.len()).expect("no more cards than the deck has");
    let ChanceAnswer::Order(order) = dice.draw(Request::Order(count)) else {
        unreachable!("a request for an order is answered by an order")
    };
    let mut cards = order.into_iter().map(|place| unseen[usize::from(place)]);
    let mut hands = [CardSet::EMPTY; SEATS as usize];
    for (seat, cards_of) in Seat::all(SEATS).zip(&mut hands) {
        let count = usize::from(public.hand_counts[seat.index()]);
        *cards_of = if seat == viewer { hand } else { cards.by_ref().take(count).collect() };
    }
    let stock: Pile = cards.collect();
    let public = add_secretly_asked(public, viewer, &hands);
    Some(Tongits { public, hands, stock, answers: view.answers.clone(), drawn: view.drawn })
}

/// Samples `count` games from the belief that follows from the viewer's events. Samples uniformly
/// if the belief is unavailable.
pub(super) fn sample_likely_games(
    view: &View,
    seen_events: &[Event],
    count: u32,
    dice: &mut ChanceRng,
) -> Vec<SampledGame<Tongits>> {
    let chain = BeliefChain::new(view, seen_events, dice);
    let (Some(viewer), Some(own), Some(mut chain)) = (view.viewer, view.hand(), chain) else {
        let any = (0..count).map_while(|_| sample_game(view, dice));
        return any.map(|game| SampledGame { game, quick: SeatSet::EMPTY }).collect();
    };
    chain.burn_in(dice);
    let imagined = (0..count).map(|_| {
        let (hands, stock) = chain.draw_sample(viewer, own, dice);
        let public = add_secretly_asked(&view.public, viewer, &hands);
        let game =
            Tongits { public, hands, stock, answers: view.answers.clone(), drawn: view.drawn };
        SampledGame { game, quick: chain.quick_seats() }
    });
    imagined.collect()
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
