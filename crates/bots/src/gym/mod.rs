//! Reinforcement-learning environments: games in which a seat is always to act, or the game is
//! over.
//!
//! An [`Env`] is one game with its randomness. It resolves chance itself, lets countdowns pass in
//! which nobody acts, and asks seats one after the other if several are to act at once; none of
//! them sees another's answer. Randomness is derived from a seed as in a dealt game (rules 9.1 to
//! 9.4 of Tong-its): the server seed is the seed's eight bytes in little-endian order followed by
//! zeros, the game's id is zeros, and no client contributes. The same seed and the same actions
//! therefore yield the same game on any machine.
//!
//! `protocol` serves such games in lines of JSON; `json` writes the answers.
//!
//! Deliberately absent: time, input and output; coins, fees and POTs, which belong to a table.

mod json;
mod protocol;
mod request_error;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use bahay_engine::chance::{ChanceRng, Contribution, ServerSeed};
use bahay_engine::game::{Refusal, Turn, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::spaces::{Spaces, Tensor};

use crate::ai::{Ai, net_counts};
pub use protocol::{EnvProtocol, EnvSettings, GAMES_MAX, TensorForm, open_protocol};

/// A game with its randomness.
#[derive(Clone, Debug)]
pub struct Env<G: Spaces> {
    rules: G::Rules,
    seats: u8,
    seed: u64,
    game: G,
    dice: ChanceRng,
    /// The seat to act and its view; `None` if the game is over.
    to_act: Option<(Seat, G::View)>,
    /// The legal actions of that seat.
    legal: Vec<G::Action>,
    /// The number of each legal action, if it has one.
    numbers: Vec<Option<u16>>,
    /// The moves played so far.
    moves: Vec<RecordedMove<G::Action>>,
    events: Vec<G::Event>,
}

/// A move as a saved game records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RecordedMove<A> {
    /// The index in the list of legal actions.
    Listed(u16),
    /// An action that the rules accept although it is not listed.
    Other(A),
}

/// The reason for not playing an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayError {
    /// The game is over.
    Over,
    /// The number or the action is not legal now. Holds the code of the rules' refusal if the rules
    /// were consulted.
    Illegal(Option<&'static str>),
}

impl<G: Ai + Spaces> Env<G> {
    /// Creates an environment and deals a game. The caller has checked the rules, and `seats` is a
    /// number that they allow.
    pub fn new(rules: G::Rules, seats: u8, seed: u64) -> Self {
        let game = G::new(&rules, seats, None);
        let dice = seeded_dice(seed, seats);
        let legal = Vec::new();
        let numbers = Vec::new();
        let moves = Vec::new();
        let events = Vec::new();
        let mut env =
            Self { rules, seats, seed, game, dice, to_act: None, legal, numbers, moves, events };
        env.advance();
        env
    }

    /// Deals a new game.
    pub fn reset(&mut self, seed: u64) {
        self.seed = seed;
        self.game = G::new(&self.rules, self.seats, None);
        self.dice = seeded_dice(seed, self.seats);
        self.moves.clear();
        self.advance();
    }

    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// Returns the game with its hidden information.
    pub const fn game(&self) -> &G {
        &self.game
    }

    /// Returns the seat to act, or `None` if the game is over.
    pub fn seat_to_act(&self) -> Option<Seat> {
        self.to_act.as_ref().map(|(seat, _)| *seat)
    }

    /// Returns the view of the seat to act.
    pub fn view(&self) -> Option<&G::View> {
        self.to_act.as_ref().map(|(_, view)| view)
    }

    /// Returns the legal actions of the seat to act, each with its number.
    pub fn legal_actions(&self) -> impl Iterator<Item = (&G::Action, Option<u16>)> {
        self.legal.iter().zip(self.numbers.iter().copied())
    }

    /// Returns the action that the house's AI would choose.
    pub fn ai_action(&self) -> Option<G::Action> {
        G::choose_action(self.view()?)
    }

    /// Plays the first legal action with this number.
    ///
    /// # Errors
    ///
    /// Returns an error and leaves the game unchanged if no legal action has this number.
    pub fn play_number(&mut self, number: u16) -> Result<(), PlayError> {
        let place = self.index_of_number(number)?;
        self.play_listed(place);
        Ok(())
    }

    /// Checks whether a number is legal now.
    ///
    /// # Errors
    ///
    /// Returns the reason if it is not.
    pub fn check_number(&self, number: u16) -> Result<(), PlayError> {
        self.index_of_number(number).map(|_| ())
    }

    /// Plays any action that the rules accept.
    ///
    /// # Errors
    ///
    /// Returns an error and leaves the game unchanged if the rules refuse the action.
    pub fn play(&mut self, action: &G::Action) -> Result<(), PlayError> {
        if let Some(place) = self.legal.iter().position(|legal| legal == action) {
            self.play_listed(place);
            return Ok(());
        }
        let seat = self.seat_to_act().ok_or(PlayError::Over)?;
        self.events.clear();
        let next = self.game.act(seat, action, &mut self.events);
        self.game = next.map_err(|illegal| PlayError::Illegal(Some(illegal.code())))?;
        self.moves.push(RecordedMove::Other(action.clone()));
        self.advance();
        Ok(())
    }

    /// Writes the view of a seat as a tensor.
    pub fn write_tensor(&self, seat: Seat, tensor: &mut Vec<i16>) {
        match &self.to_act {
            Some((to_act, view)) if *to_act == seat => G::write_tensor(view, &mut Tensor(tensor)),
            Some(_) | None => {
                G::write_tensor(&self.game.view(Viewer::Seat(seat)), &mut Tensor(tensor));
            }
        }
    }

    /// Returns each seat's winnings in counts, which add up to zero; `None` if the game is not
    /// over.
    pub fn returns(&self) -> Option<Vec<i64>> {
        let outcome = self.game.outcome()?;
        Some(Seat::all(self.seats).map(|seat| net_counts(&outcome, seat)).collect())
    }

    /// Returns the seed and the moves, from which the game can be replayed to this point.
    fn history(&self) -> (u64, &[RecordedMove<G::Action>]) {
        (self.seed, &self.moves)
    }

    /// Replays a game from its history; `None` if the history is impossible.
    fn replay(
        rules: G::Rules,
        seats: u8,
        seed: u64,
        moves: &[RecordedMove<G::Action>],
    ) -> Option<Self> {
        let mut env = Self::new(rules, seats, seed);
        for step in moves {
            match step {
                RecordedMove::Listed(place) => {
                    let place = usize::from(*place);
                    if place >= env.legal.len() {
                        return None;
                    }
                    env.play_listed(place);
                }
                RecordedMove::Other(action) => env.play(action).ok()?,
            }
        }
        Some(env)
    }

    fn index_of_number(&self, number: u16) -> Result<usize, PlayError> {
        if self.to_act.is_none() {
            return Err(PlayError::Over);
        }
        let place = self.numbers.iter().position(|listed| *listed == Some(number));
        place.ok_or(PlayError::Illegal(None))
    }

    fn play_listed(&mut self, place: usize) {
        let seat = self.seat_to_act().expect("an action is legal only for a seat that is to act");
        self.events.clear();
        let next = self.game.act(seat, &self.legal[place], &mut self.events);
        self.game = next.expect("the rules accept a listed action");
        let place = u16::try_from(place).expect("few actions are listed");
        self.moves.push(RecordedMove::Listed(place));
        self.advance();
    }

    /// Advances the game until a seat is to act or the game is over.
    fn advance(&mut self) {
        self.legal.clear();
        self.numbers.clear();
        let seat = loop {
            self.events.clear();
            self.game = match self.game.turn() {
                Turn::Over => {
                    self.to_act = None;
                    return;
                }
                Turn::Chance(request) => {
                    self.game.resolve(&self.dice.draw(request), &mut self.events)
                }
                Turn::Wait(_) => self.game.expire(&mut self.events),
                Turn::Players(prompt) => {
                    break prompt.seats.iter().next().expect("a prompt names a seat");
                }
            };
        };
        let view = self.game.view(Viewer::Seat(seat));
        G::legal_in_view(&view, &mut self.legal);
        self.numbers.extend(self.legal.iter().map(|action| G::action_number(&view, action)));
        self.to_act = Some((seat, view));
    }
}

fn seeded_dice(seed: u64, seats: u8) -> ChanceRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let clients = alloc::vec![Contribution::none(); usize::from(seats)];
    ChanceRng::new(ServerSeed(Hex(bytes)).key(&[0; 16], &clients))
}
