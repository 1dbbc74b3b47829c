//! Sampling of games that are consistent with a view: the cards that the seat does not see are
//! placed in the order of two shuffled decks. Cards that it saw earlier and that are now face down
//! are not remembered.

use alloc::vec::Vec;

use bahay_engine::chance::{ChanceAnswer, ChanceRng, Request};
use bahay_engine::games::tongo_options::analysis::for_each;
use bahay_engine::games::tongo_options::{Action, Card, TongoOptions, View};
use bahay_engine::variants;

/// Samples a game; `None` for a spectator, or if no seat is prompted.
pub(super) fn sample_game(view: &View, dice: &mut ChanceRng) -> Option<TongoOptions> {
    view.game_from_decks(&shuffled_deck(dice), &shuffled_deck(dice))
}

/// Appends the candidate actions of a search: the chosen action first, without actions that only
/// move unknown cards, that repeat another with an equivalent face-down card, or that pay by
/// leverage.
pub(super) fn candidate_actions(view: &View, chosen: Option<Action>, actions: &mut Vec<Action>) {
    let (Some(seat), Some(hand)) = (view.viewer, view.hand()) else { return };
    actions.extend(chosen);
    let mut has_buy = false;
    for_each(&view.public, seat, hand, |action| {
        let is_worth = match action {
            Action::Exchange { .. } => false,
            Action::Buy { leverage, .. } => !leverage && !core::mem::replace(&mut has_buy, true),
            Action::Sell { leverage, .. } => !leverage,
            variants!(Action: Stop, IndexMargin, PayRisk, Evade, Retreat, Fold, Raise, Lower, Roll,
                PayToEvade, ConvertReserves, Confront, Acquire, Stand, Join, End) => true,
        };
        if is_worth && Some(action) != chosen {
            actions.push(action);
        }
    });
}

fn shuffled_deck(dice: &mut ChanceRng) -> Vec<Card> {
    let ChanceAnswer::Order(order) = dice.draw(Request::Order(Card::COUNT)) else {
        unreachable!("an order was asked for")
    };
    order.into_iter().filter_map(Card::from_index).collect()
}
