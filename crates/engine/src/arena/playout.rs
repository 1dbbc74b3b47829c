//! A game played to its end by whoever is at it, with the chance of one key.

use alloc::vec::Vec;

use crate::chance::ChanceRng;
use crate::game::{Game, Turn};
use crate::seat::Seat;

/// Who plays a game that all is known of.
pub trait Players<G: Game> {
    /// What the seat plays that is asked; it must be legal.
    fn choose_action(&mut self, game: &G, seat: Seat) -> G::Action;

    /// What happened, complete.
    fn observe_events(&mut self, _events: &[G::Event]) {}
}

/// Plays a game on and gives it as it ended. Of seats that are asked at once the first answers
/// first.
///
/// # Panics
/// When somebody plays what is not legal.
pub fn play_to_end<G: Game>(mut game: G, chance: &mut ChanceRng, players: &mut impl Players<G>) -> G {
    let mut events = Vec::new();
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => return game,
            Turn::Chance(request) => game.resolve(&chance.draw(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                let action = players.choose_action(&game, seat);
                match game.act(seat, &action, &mut events) {
                    Ok(next) => next,
                    Err(illegal) => panic!("{seat:?} plays {action:?} and hears: {illegal}"),
                }
            }
        };
        players.observe_events(&events);
    }
}
