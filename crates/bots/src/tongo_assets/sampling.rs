//! Sampling of games that are consistent with a view: unseen cards are placed at random in the
//! positions that the seat cannot see, in the numbers that everybody knows. Cards that the seat saw
//! earlier are not remembered.

use alloc::vec::Vec;

use bahay_engine::chance::{ChanceAnswer, ChanceRng, Request};
use bahay_engine::games::tongo_assets::analysis::{CARDS, for_each_action};
use bahay_engine::games::tongo_assets::{
    Acquire, Action, Assets, Card, CardSet, Hidden, TongoAssets, View,
};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

use crate::tongo_assets::greedy;

/// Samples a game; `None` for a spectator, if no seat is prompted, or while a bribe is pending,
/// whose cards are visible.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<TongoAssets> {
    let viewer = view.viewer?;
    let own = view.own.as_ref()?;
    view.prompt()?;
    let public = &view.public;
    if public.offer.is_some() {
        return None;
    }
    let mut seen = own.hand.union(own.kept);
    let mut lies = |assets: &Assets| {
        assets.iter().flatten().for_each(|card| seen = seen.with(*card));
    };
    own.before.iter().for_each(&mut lies);
    own.look.iter().for_each(|look| lies(&look.assets));
    let mut unseen = UnseenCards(
        shuffled_cards(dice).into_iter().filter(|card| !seen.contains(*card)).collect(),
    );
    let mut hidden = Hidden::new(public);
    (hidden.hands[viewer], hidden.kept[viewer]) = (own.hand, own.kept);
    // Wilds are drawn first and then the cards that may be kept; other acquire cards may be
    // anywhere.
    for seat in Seat::all(public.seats()).filter(|seat| *seat != viewer) {
        let player = &public.players[seat];
        let wilds = unseen.take_matching(player.wilds, Card::is_wild);
        hidden.hands[seat] = wilds.union(unseen.take_matching(player.assets, Card::is_asset));
        hidden.kept[seat] = unseen.take_matching(player.kept, may_be_kept);
    }
    for seat in Seat::all(public.seats()) {
        let player = &public.players[seat];
        let assets = unseen.take_matching(player.pile_assets, Card::is_asset);
        hidden.piles[seat] = assets.union(unseen.take_matching(player.pile_acquires, is_acquire));
    }
    let sections = hidden.sections.as_mut_slice().iter_mut().zip(public.sections.iter());
    for (number, (section, open)) in (0..).zip(sections) {
        let before = own.before.filter(|_| public.section_of(viewer) == number);
        let look = own.look.filter(|look| look.section == number).map(|look| look.assets);
        for slot in open.slots.iter().map(usize::from) {
            let known = before.or(look).and_then(|assets| assets[slot]);
            section.assets[slot] = known.or_else(|| unseen.take_first(Card::is_asset));
        }
        let places = section.acquires.iter_mut().rev().take(open.acquires.into());
        places.for_each(|place| *place = unseen.take_first(is_acquire));
    }
    let (assets, acquires): (Vec<Card>, Vec<Card>) =
        unseen.0.into_iter().partition(|card| card.is_asset());
    hidden.assets = assets.into_iter().collect();
    hidden.acquires = acquires.into_iter().collect();
    Some(TongoAssets::imagine(public.clone(), hidden))
}

/// Appends the candidate actions of a search: the chosen action first, openings and raises only at
/// the lowest prices, and of the many actions that take or give away cards only the chosen one.
pub(super) fn candidate_actions(view: &View, chosen: Option<Action>, actions: &mut Vec<Action>) {
    let Some(actor) = view.actor() else { return };
    actions.extend(chosen);
    for_each_action(&actor, &mut |action| {
        let is_worth = match action {
            Action::Open { risk, purchase, sell } | Action::Raise { risk, purchase, sell } => {
                (purchase, sell) == greedy::lowest_prices(risk)
            }
            variants!(Action: Pay, RaiseConfront, Retreat, Acquire, Dividend, Done,
                Confront) => true,
            variants!(Action: Swap, Purchase, Sell, Reveal, Evade, Index, Leverage, Bribe, Accept,
                Refuse) => false,
        };
        if is_worth && Some(action) != chosen {
            actions.push(action);
        }
    });
}

/// The unseen cards in the order in which they are dealt.
struct UnseenCards(Vec<Card>);

impl UnseenCards {
    fn take_first(&mut self, fits: impl Fn(Card) -> bool) -> Option<Card> {
        let place = self.0.iter().position(|card| fits(*card))?;
        Some(self.0.swap_remove(place))
    }

    fn take_matching(&mut self, count: u8, fits: impl Fn(Card) -> bool) -> CardSet {
        (0..count).filter_map(|_| self.take_first(&fits)).collect()
    }
}

fn is_acquire(card: Card) -> bool {
    !card.is_asset()
}

fn may_be_kept(card: Card) -> bool {
    card.kind().is_some_and(|kind| !matches!(kind, Acquire::Wild | Acquire::Audit))
}

fn shuffled_cards(dice: &mut ChanceRng) -> Vec<Card> {
    let ChanceAnswer::Order(order) = dice.draw(Request::Order(CARDS)) else {
        unreachable!("an order was asked for")
    };
    order.into_iter().filter_map(Card::from_index).collect()
}
