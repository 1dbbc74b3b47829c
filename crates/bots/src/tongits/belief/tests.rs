//! Tests of the belief: its samples are consistent with the view, and the likelihoods shift them.

use super::{BeliefChain, MoveHistory, TurnOpening};
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongits::analysis::can_chow;
use bahay_engine::games::tongits::{Event, Rules, SEATS, Tongits, View};
use bahay_engine::seat::Seat;

use crate::ai::{Ai, SampledGame};
use crate::tongits::sampling;
use alloc::vec::Vec;

/// Returns every decision of a game between greedy players, with the events that the seat to
/// act has seen.
fn questions(number: u8) -> Vec<(Tongits, View, Vec<Event>)> {
    let mut chance = ChanceRng::from_number(number);
    let mut game = Tongits::new(&Rules::kingdom(), SEATS, None);
    let mut events = Vec::new();
    let mut questions = Vec::new();
    loop {
        game = match game.turn() {
            Turn::Over => return questions,
            Turn::Chance(request) => game.resolve(&chance.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().unwrap();
                let view = game.view(Viewer::Seat(seat));
                let shown = |event| Tongits::redact(event, Viewer::Seat(seat));
                let seen_events: Vec<Event> = events.iter().filter_map(shown).collect();
                let action = Tongits::choose_action(&view).unwrap();
                questions.push((game.clone(), view, seen_events));
                game.act(seat, &action, &mut events).unwrap()
            }
        };
    }
}

#[test]
fn sampled_games_are_consistent_with_the_view() {
    let mut dice = ChanceRng::from_number(1);
    for number in 0..6 {
        for (game, view, seen_events) in questions(number) {
            assert!(
                BeliefChain::new(&view, &seen_events, &mut dice).is_some(),
                "all events were seen"
            );
            for believed in sampling::sample_likely_games(&view, &seen_events, 3, &mut dice) {
                assert_eq!(believed.game.view(Viewer::Seat(view.viewer.unwrap())), view);
                assert_eq!(believed.game.stock().len(), game.stock().len());
            }
        }
    }
}

#[test]
fn an_incomplete_history_yields_no_belief() {
    let mut dice = ChanceRng::from_number(1);
    let (_, view, seen_events) = questions(1).pop().unwrap();
    assert!(BeliefChain::new(&view, &[], &mut dice).is_none());
    assert!(BeliefChain::new(&view, &seen_events[2..], &mut dice).is_none());
    assert!(BeliefChain::new(&view, &seen_events[..seen_events.len() - 1], &mut dice).is_none());
}

/// Belief is more accurate than uniform sampling: it places more of the opponents' cards in the
/// right hands.
#[test]
fn belief_is_more_accurate_than_uniform_sampling() {
    let mut dice = ChanceRng::from_number(2);
    let mut believed = 0;
    let mut drawn = 0;
    for number in 0..12 {
        for (game, view, seen_events) in questions(number) {
            let own = view.viewer.unwrap();
            let right = |imagined: &SampledGame<Tongits>| -> usize {
                let others = own.others(SEATS).map(Seat::index);
                others
                    .map(|other| {
                        game.hands()[other].intersection(imagined.game.hands()[other]).len()
                    })
                    .sum()
            };
            believed += sampling::sample_likely_games(&view, &seen_events, 4, &mut dice)
                .iter()
                .map(right)
                .sum::<usize>();
            drawn += sampling::sample_likely_games(&view, &[], 4, &mut dice)
                .iter()
                .map(right)
                .sum::<usize>();
        }
    }
    assert!(believed * 10 > drawn * 11, "{believed} and {drawn}");
}

/// The table draws for a seat that can do nothing else (rule 3.1).
#[test]
fn a_seat_with_an_automatic_draw_could_not_chow() {
    let mut dice = ChanceRng::from_number(3);
    let mut could = 0;
    let mut checked = 0;
    for number in 0..12 {
        for (_, view, seen_events) in questions(number) {
            let own = view.viewer.unwrap();
            // The latest turn before the viewer's own; since then the hand has changed by one
            // draw and one dump.
            let other = own.previous(SEATS);
            let history = MoveHistory::from_events(&view, &seen_events).unwrap();
            let Some(discard) = history.latest_turn(other, TurnOpening::AutoDraw) else { continue };
            for believed in sampling::sample_likely_games(&view, &seen_events, 8, &mut dice) {
                checked += 1;
                could += usize::from(can_chow(believed.game.hands()[other.index()], discard));
            }
        }
    }
    assert!(checked > 500 && could * 8 < checked, "{could} of {checked}");
}
