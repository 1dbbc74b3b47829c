//! Tongo (options): two to eight seats, a deck of player cards, a deck of options cards laid on
//! eight floors in a ring, dice, and chips that everybody pays into one pot.
//!
//! The rules are docs/rules/tongo_options.md; every refusal and every line of a settlement cites
//! one of them by its number. [`Rules`] holds their numbers and switches, and [`TongoOptions`] is a
//! game under them.
//!
//! Each file names only files further right: `game` → `describe`, `kind`, `setup`, `spaces` →
//! `view` → `legal`, `state` → `costs`, `deal`, `showdown` → `public` → `event` → `dice`, `hidden`
//! → `action`, `strength` → `card`, `phase`, `player`, `rules`. The AI is a module of
//! `bahay-bots`; [`analysis`] is what it needs beside the rules.

mod action;
mod card;
mod costs;
mod deal;
mod describe;
mod dice;
mod event;
mod game;
mod hidden;
mod kind;
mod legal;
mod phase;
mod player;
mod public;
mod rules;
#[cfg(feature = "testing")]
mod setup;
mod showdown;
mod spaces;
mod state;
mod strength;
mod view;

pub use crate::games::list::{BySeat, List};
pub use action::{Action, Discards, Illegal, NewCosts};
pub use card::{Card, CardSet, ParseCardError, Suit};
pub use dice::{Dice, Die};
pub use event::{ChallengeAnswer, Event, ShownHand};
pub use hidden::{Deck, Hidden};
pub use phase::{
    Challenge, CostRises, Costs, CostsChange, GameEnding, Phase, Showdown, Step, TurnState,
};
pub use player::{Payments, PlayerState, PreviousTurn};
pub use public::{Floors, GameResult, PublicState, Reserves};
pub use rules::{Countdowns, DICE, FLOORS, HAND_CARDS, PLACES, Rules, SLOTS};
#[cfg(feature = "testing")]
pub use setup::GameSetup;
pub use state::TongoOptions;
pub use strength::{Class, DiceCounts, Match, Matches, Strength, best_floor, matches};
pub use view::View;

/// The prices, dice and legal actions by which an AI weighs its choices.
pub mod analysis {
    pub use super::card::NUMBERS;
    pub use super::costs::answer_price;
    pub use super::dice::{count_values, has_die_facing};
    pub use super::legal::{check, default_action, for_each, is_commitment};
}
