//! Sampling of games that are consistent with a seat's view. The unseen cards are distributed over
//! the other hands and the stock, either uniformly or in proportion to their probability given the
//! others' actions (`belief`).

use alloc::vec::Vec;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::chance::{ChanceAnswer, ChanceRng, Request};
use bahay_engine::games::tongits::{Event, Pile, SEATS, Tongits, View};
use bahay_engine::seat::{Seat, SeatSet};

use crate::ai::SampledGame;
use crate::tongits::belief::BeliefChain;
use crate::tongits::unseen_cards;

/// Samples a game uniformly. Returns `None` if the view belongs to no seat, or if another seat has
/// laid cards face down: these form a secret meld, which a random distribution rarely contains.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<Tongits> {
    let viewer = view.viewer?;
    let hand = view.hand()?;
    let public = &view.public;
    if viewer.others(SEATS).any(|other| public.melds.has_face_down(other)) {
        return None;
    }
    let unseen: Vec<Card> = unseen_cards(public, hand).iter().collect();
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
    Some(Tongits::imagine(view, viewer, hands, stock))
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
        let game = Tongits::imagine(view, viewer, hands, stock);
        SampledGame { game, quick: chain.quick_seats() }
    });
    imagined.collect()
}
