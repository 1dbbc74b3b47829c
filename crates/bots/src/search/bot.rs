//! The bot interface.
//!
//! A bot receives the view of its seat and the events visible to that seat. It has no access to the
//! game itself and so no other source of information.

use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::Game;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;

/// A request to a bot for an action.
#[derive(Debug)]
pub struct BotPrompt<'a, G: Game> {
    pub seat: Seat,
    pub view: &'a G::View,
    /// The action that the clock would play if nobody answered. It follows from the rules and the
    /// view, and so reveals nothing.
    pub clock: &'a G::Action,
}

/// A player of one seat in one game.
pub trait Bot<G: Game> {
    /// Receives an event visible to the seat; each event is delivered once and in order.
    fn observe_event(&mut self, _event: &G::Event) {}

    /// Returns the action to play, which must be legal.
    fn choose_action(&mut self, prompt: &BotPrompt<'_, G>) -> G::Action;
}

/// A bot without memory is a function of its prompts.
impl<G: Game, F: FnMut(&BotPrompt<'_, G>) -> G::Action> Bot<G> for F {
    fn choose_action(&mut self, prompt: &BotPrompt<'_, G>) -> G::Action {
        self(prompt)
    }
}

/// A generator that is seeded on first use: most bots draw nothing.
pub(super) struct LazyDice {
    key: Key,
    dice: Option<ChanceRng>,
}

impl LazyDice {
    pub(super) const fn new(key: Key) -> Self {
        Self { key, dice: None }
    }

    pub(super) fn get_or_init(&mut self) -> &mut ChanceRng {
        self.dice.get_or_insert_with(|| ChanceRng::new(self.key))
    }

    /// Draws a key for an independent random stream.
    pub(super) fn draw_key(&mut self) -> Key {
        let mut key = [0; 32];
        for part in key.as_chunks_mut::<2>().0.iter_mut().take(8) {
            let drawn =
                u16::try_from(self.get_or_init().below(1 << 16)).expect("a draw is in range");
            *part = drawn.to_le_bytes();
        }
        Key(Hex(key))
    }
}
