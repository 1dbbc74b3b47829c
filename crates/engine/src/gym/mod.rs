//! A game for programs that learn: somebody is always asked, or the game is over.
//!
//! An [`Env`] is one game with its chance. It answers chance itself, lets countdowns pass in which
//! nobody acts, and asks one seat after the other where several are asked at once: none of them sees
//! what another has answered. Chance follows from a seed as in a dealt game (rules 9.1 to 9.4 of
//! Tong-its): a server seed that is the seed's eight bytes with the lowest first and then zeros, a
//! game whose id is zeros, and clients that take no part. So the same seed and the same actions are
//! the same game, on any machine.
//!
//! `talk` speaks about such games in lines of JSON, and `write` writes the answers.
//!
//! Deliberately absent: time, input and output; coins, fees and POTs, which belong to a table.

mod protocol;
mod json;

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::chance::{Contribution, ChanceRng, ServerSeed};
use crate::game::{Refusal, Turn, Viewer};
use crate::hex::Hex;
use crate::seat::Seat;
use crate::spaces::{Spaces, Tensor};

pub use protocol::{EnvProtocol, EnvSettings, GAMES_MAX, TensorForm, open_protocol};

/// One game with its chance.
#[derive(Clone, Debug)]
pub struct Env<G: Spaces> {
    rules: G::Rules,
    seats: u8,
    seed: u64,
    game: G,
    dice: ChanceRng,
    /// Who is asked, and what it sees; `None` when the game is over.
    to_act: Option<(Seat, G::View)>,
    /// What that seat may do.
    legal: Vec<G::Action>,
    /// The number of each of these, if it has one.
    numbers: Vec<Option<u16>>,
    /// What was played so far.
    moves: Vec<RecordedMove<G::Action>>,
    events: Vec<G::Event>,
}

/// Something that was played, as a saved game names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RecordedMove<A> {
    /// The place among what was listed as legal.
    Listed(u16),
    /// An action that the rules take though it was not listed.
    Other(A),
}

/// Why an action was not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayError {
    /// Nobody is asked any more.
    Over,
    /// The number, or the action, is not one of those that are legal now. With the code of the rules'
    /// refusal where they were asked.
    Illegal(Option<&'static str>),
}

impl<G: Spaces> Env<G> {
    /// A game that is dealt. The rules were checked, and the number of seats is one of theirs.
    pub fn new(rules: G::Rules, seats: u8, seed: u64) -> Self {
        let game = G::new(&rules, seats, None);
        let dice = seeded_dice(seed, seats);
        let (legal, numbers) = (Vec::new(), Vec::new());
        let (moves, events) = (Vec::new(), Vec::new());
        let mut env =
            Self { rules, seats, seed, game, dice, to_act: None, legal, numbers, moves, events };
        env.advance();
        env
    }

    /// Deals anew.
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

    /// The game itself, with everything that is hidden.
    pub const fn game(&self) -> &G {
        &self.game
    }

    /// Who is asked; `None` when the game is over.
    pub fn seat_to_act(&self) -> Option<Seat> {
        self.to_act.as_ref().map(|(seat, _)| *seat)
    }

    /// What the seat that is asked sees.
    pub fn view(&self) -> Option<&G::View> {
        self.to_act.as_ref().map(|(_, view)| view)
    }

    /// What it may do, each with its number.
    pub fn legal_actions(&self) -> impl Iterator<Item = (&G::Action, Option<u16>)> {
        self.legal.iter().zip(self.numbers.iter().copied())
    }

    /// What the house's AI would play.
    pub fn ai_action(&self) -> Option<G::Action> {
        G::choose_action(self.view()?)
    }

    /// Plays the first legal action with this number.
    ///
    /// # Errors
    /// When there is none: the game stays as it is.
    pub fn play_number(&mut self, number: u16) -> Result<(), PlayError> {
        let place = self.index_of_number(number)?;
        self.play_listed(place);
        Ok(())
    }

    /// Whether a number is legal now.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check_number(&self, number: u16) -> Result<(), PlayError> {
        self.index_of_number(number).map(|_| ())
    }

    /// Plays any action that the rules take.
    ///
    /// # Errors
    /// When they do not: the game stays as it is.
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

    /// Writes what a seat sees as a tensor.
    pub fn write_tensor(&self, seat: Seat, tensor: &mut Vec<i16>) {
        match &self.to_act {
            Some((to_act, view)) if *to_act == seat => G::write_tensor(view, &mut Tensor(tensor)),
            Some(_) | None => {
                G::write_tensor(&self.game.view(Viewer::Seat(seat)), &mut Tensor(tensor));
            }
        }
    }

    /// What each seat has won or lost, in counts; `None` while the game goes on. They add up to zero.
    pub fn returns(&self) -> Option<Vec<i64>> {
        let outcome = self.game.outcome()?;
        let mut returns = alloc::vec![0; usize::from(self.seats)];
        for debt in &outcome.debts {
            returns[debt.from.index()] -= i64::from(debt.counts());
            returns[debt.to.index()] += i64::from(debt.counts());
        }
        Some(returns)
    }

    /// The seed and what was played: all that it takes to play the game again up to here.
    fn history(&self) -> (u64, &[RecordedMove<G::Action>]) {
        (self.seed, &self.moves)
    }

    /// A game from its history; `None` when it cannot have been played.
    fn replay(rules: G::Rules, seats: u8, seed: u64, moves: &[RecordedMove<G::Action>]) -> Option<Self> {
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
        let place = self.numbers.iter().position(|it| *it == Some(number));
        place.ok_or(PlayError::Illegal(None))
    }

    fn play_listed(&mut self, place: usize) {
        let seat = self.seat_to_act().expect("something is legal only for a seat that is asked");
        self.events.clear();
        let next = self.game.act(seat, &self.legal[place], &mut self.events);
        self.game = next.expect("what is listed as legal is taken");
        let place = u16::try_from(place).expect("few actions are listed");
        self.moves.push(RecordedMove::Listed(place));
        self.advance();
    }

    /// Until somebody is asked, or the game is over.
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
                    break prompt.seats.iter().next().expect("somebody is asked");
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

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Over => "the game is over: reset it",
            Self::Illegal(_) => "this is not one of the actions that are legal now",
        })
    }
}
