//! The play of a game to its end, with randomness from one key.

use alloc::vec::Vec;

use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game, Turn};
use bahay_engine::seat::Seat;

/// The players of a game whose full state is accessible.
pub trait Players<G: Game> {
    /// Returns the action of the seat to act, which must be legal.
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action;

    /// Receives the events of a step, unredacted.
    fn observe_events(&mut self, _events: &[G::Event]) {}
}

/// Players who need not see the events are a function of the game and the seat to act.
impl<G: Game, F: FnMut(&G, Seat) -> G::Action> Players<G> for F {
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action {
        self(game, seat)
    }
}

/// Plays a game to its end and returns the final state. If several seats are to act at once, the
/// first answers first.
///
/// # Panics
///
/// Panics if a player's action is illegal.
pub fn play_to_end<G: Game>(
    mut game: G,
    chance: &mut ChanceRng,
    players: &mut impl Players<G>,
) -> G {
    let mut events = Vec::new();
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => return game,
            Turn::Chance(request) => game.resolve(&chance.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("a prompt names a seat");
                let action = players.choose_action(&game, seat);
                match game.act(seat, &action, &mut events) {
                    Ok(next) => next,
                    Err(illegal) => {
                        panic!("{seat:?} plays the illegal action {action:?}: {illegal}")
                    }
                }
            }
        };
        players.observe_events(&events);
    }
}
