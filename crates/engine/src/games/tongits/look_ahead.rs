//! What an action comes to for a seat in a game whose cards are all known: others play on as greedy
//! players, or as quick ones where they are taken for such, the seat itself by a large network; and
//! when some turns of the seat have gone by, that network judges its place. Games that are over by then
//! are worth what they brought.
//!
//! Judged places tell actions apart by far fewer games than ends of games do, because what chance
//! makes of the rest is averaged in them.

use alloc::vec::Vec;

use crate::game::{Game, Turn, Viewer};
use crate::games::tongits::action::Action;
use crate::games::tongits::bot;
use crate::games::tongits::phase::Phase;
use crate::games::tongits::quick::{self, EvaluationVariant, Planner};
use crate::games::tongits::state::Tongits;
use crate::seat::{Seat, SeatSet};

/// Turns that the seat ends before its place is judged in the next one, that of the action among
/// them.
const TURNS: u32 = 2;

/// In the parts of what the networks judge. `None` where the action is not legal.
pub(super) fn evaluate_action(
    game: &Tongits,
    quick_players: SeatSet,
    own: Seat,
    action: &Action,
) -> Option<i64> {
    // It looks the same for every action in this game, and another way in the next.
    let mut planner = Planner::new(own, quick_players, EvaluationVariant::from_cards(game.stock().cards()));
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
                let seat = prompt.seats.iter().next().expect("somebody is asked");
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
                    bot::choose_action(&view)
                };
                let action = action.expect("the AI advises who is asked");
                if seat == own && matches!(action, Action::Dump { .. }) {
                    ended += 1;
                }
                game.act(seat, &action, &mut events).expect("the AI plays what is legal")
            }
        };
    }
}

/// What a game that is over brought a seat.
fn final_worth(game: &Tongits, own: Seat) -> i64 {
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let won = if outcome.winner == Some(own) { quick::WIN_COUNTS } else { 0 };
    let counts = outcome.debts.iter().fold(won, |sum, debt| {
        let counts = i64::from(debt.counts());
        let gained = if debt.to == own { counts } else { 0 };
        let lost = if debt.from == own { counts } else { 0 };
        sum + gained - lost
    });
    counts * quick::COUNT
}
