//! Whole games played by policies, for tests, benches and simulations.

use alloc::vec::Vec;

use crate::game::{Game, Turn, Viewer};
use crate::seat::Seat;
use crate::testing::TestRng;

/// The choice of an AI from the view of a seat, such as `choose_action` of the house's AI.
pub type ChooseAction<G> = fn(&<G as Game>::View) -> Option<<G as Game>::Action>;

/// The policy by which a seat plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A uniformly random legal action.
    Random,
    /// The action of the AI.
    Ai,
    /// The action of the clock.
    Clock,
}

/// Returns the actions that a seat may play now.
pub fn legal_actions<G: Game>(game: &G, seat: Seat) -> Vec<G::Action> {
    let mut actions = Vec::new();
    game.legal_actions(seat, &mut actions);
    actions
}

/// Advances a game by one step: an answer of chance, the end of a countdown, or an action of the
/// first prompted seat. Returns `None` if the game is over. The events are those of the step.
///
/// # Panics
/// If the action is refused.
pub fn step<G: Game>(
    game: &G,
    dice: &mut TestRng,
    events: &mut Vec<G::Event>,
    choose: impl FnOnce(Seat, &mut TestRng) -> G::Action,
) -> Option<G> {
    events.clear();
    Some(match game.turn() {
        Turn::Over => return None,
        Turn::Chance(request) => game.resolve(&dice.answer(request), events),
        Turn::Wait(_) => game.expire(events),
        Turn::Players(prompt) => {
            let seat = prompt.seats.iter().next().expect("a seat is to act");
            let action = choose(seat, dice);
            let next = game.act(seat, &action, events);
            next.unwrap_or_else(|illegal| panic!("{seat:?} plays {action:?}: {illegal}"))
        }
    })
}

/// Plays a game to its end, each seat by its policy. Returns the game and the number of steps.
///
/// # Panics
/// If the game violates its contract.
pub fn play<G: Game>(
    rules: &G::Rules,
    starter: Option<Seat>,
    policies: &[Policy],
    ai: ChooseAction<G>,
    dice: &mut TestRng,
) -> (G, usize) {
    let seats = u8::try_from(policies.len()).expect("a table has at most eight seats");
    let mut game = G::new(rules, seats, starter);
    let mut events = Vec::new();
    let mut actions = Vec::new();
    let mut steps = 0;
    while let Some(next) = step(&game, dice, &mut events, |seat, dice| {
        let action = match policies[seat.index()] {
            Policy::Random => {
                actions.clear();
                game.legal_actions(seat, &mut actions);
                dice.choose(&actions).cloned()
            }
            Policy::Ai => ai(&game.view(Viewer::Seat(seat))),
            Policy::Clock => game.default_action(seat),
        };
        action.expect("a seat that is to act has a legal action")
    }) {
        game = next;
        steps += 1;
    }
    (game, steps)
}

/// Plays a game at random to its end with buffers of the caller, as benches measure it. Returns the
/// number of steps.
///
/// # Panics
/// As [`play`].
pub fn play_at_random<G: Game>(
    mut game: G,
    dice: &mut TestRng,
    events: &mut Vec<G::Event>,
    actions: &mut Vec<G::Action>,
) -> usize {
    let mut steps = 0;
    while let Some(next) = step(&game, dice, events, |seat, dice| {
        actions.clear();
        game.legal_actions(seat, actions);
        dice.choose(actions).expect("a seat that is to act has a legal action").clone()
    }) {
        game = next;
        steps += 1;
    }
    steps
}
