//! The look-ahead of the search: the value of an action for a seat in a fully known game.
//!
//! The other players follow the greedy or the quick policy ascribed to them, and the seat itself
//! that of a large network. After a fixed number of the seat's turns, the network evaluates the
//! position. A game that ends earlier is worth its actual result.
//!
//! Evaluated positions separate actions with far fewer games than final results do, because they
//! average over the remaining chance.

use alloc::vec::Vec;

use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Phase, Tongits};
use bahay_engine::seat::{Seat, SeatSet};

use crate::ai::net_counts;
use crate::tongits::quick::{EvaluationVariant, Planner};
use crate::tongits::{greedy, quick};

/// The number of turns that the seat ends before the network evaluates its next one, including the
/// turn of the action.
const TURNS: u32 = 2;

/// Returns the value of an action, in the networks' unit; `None` if the action is illegal.
pub(super) fn evaluate_action(
    game: &Tongits,
    quick_players: SeatSet,
    own: Seat,
    action: &Action,
) -> Option<i64> {
    // The variant is the same for all actions in this game and differs between games.
    let mut planner =
        Planner::new(own, quick_players, EvaluationVariant::from_cards(game.stock().cards()));
    let mut events = Vec::new();
    let mut game = game.act(own, action, &mut events).ok()?;
    let mut ended = u32::from(matches!(action, Action::Dump { .. }));
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => return Some(final_worth(&game, own)),
            Turn::Chance(_) => unreachable!("the cards are dealt"),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("a prompt names a seat");
                let view = game.view(Viewer::Seat(seat));
                let is_turn = matches!(view.public.phase, Phase::Draw { .. } | Phase::Play { .. });
                if seat == own
                    && is_turn
                    && ended >= TURNS
                    && let Some(worth) = planner.evaluate_view(&view)
                {
                    return Some(worth);
                }
                let action = if seat == own {
                    planner.choose_action(&view)
                } else if quick_players.contains(seat) {
                    quick::sketch_action(&view)
                } else {
                    greedy::choose_action(&view)
                };
                let action = action.expect("the AI can act for the seat to act");
                if seat == own && matches!(action, Action::Dump { .. }) {
                    ended += 1;
                }
                game.act(seat, &action, &mut events).expect("the AI plays a legal action")
            }
        };
    }
}

/// Returns the result of a finished game for a seat, in the networks' unit.
fn final_worth(game: &Tongits, own: Seat) -> i64 {
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let won = if outcome.winner == Some(own) { quick::WIN_COUNTS } else { 0 };
    (won + net_counts(&outcome, own)) * quick::COUNT
}
