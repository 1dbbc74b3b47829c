//! Tongo (assets): four to eight seats round a turning table, 98 assets in seven colours, good and
//! bad acquire cards, and a pot that grows with the risk.
//!
//! The rules are docs/rules/tongo_assets.md; every refusal and every line of a settlement cites one
//! of them by its number. [`Rules`] holds their numbers and switches, and [`TongoAssets`] is a game
//! under them.
//!
//! Each file names only files further right: `game` → `describe`, `kind`, `setup`, `spaces` →
//! `state`, `view` → `hidden`, `legal`, `payout` → `public` → `event` → `phase` → `action`,
//! `deck`, `strength` → `slots` → `card`, `ring`, `rules`. The AI is a module of
//! `bahay-bots`; [`analysis`] is what it needs beside the rules.

mod action;
mod card;
mod deck;
mod describe;
mod event;
mod game;
mod hidden;
mod kind;
mod legal;
mod payout;
mod phase;
mod public;
mod ring;
mod rules;
#[cfg(feature = "testing")]
mod setup;
mod slots;
mod spaces;
mod state;
mod strength;
mod view;

pub use action::{Action, Illegal};
pub use card::{Acquire, Card, CardSet, Colour, ParseCardError};
pub use deck::Deck;
pub use event::{AcquireDestination, EvadedCards, Event, Face};
pub use hidden::{Hidden, OwnKnowledge, RevealedSection};
pub use phase::{GameEnding, GameResult, Offer, Phase, PlayerState, ShownHand};
pub use public::PublicState;
pub use ring::Ring;
pub use rules::{Countdowns, HALVES, PriceBounds, Rules};
#[cfg(feature = "testing")]
pub use setup::GameSetup;
pub use slots::{Assets, HiddenSection, Section, SlotSet};
pub use state::TongoAssets;
pub use strength::{Class, HandRank};
pub use view::View;

/// The bounds and the legal actions of an actor, by which an AI weighs its choices.
pub mod analysis {
    pub use super::card::CARDS;
    pub use super::legal::{Actor, default_action, for_each_action};
    pub use super::rules::{HAND_MAX, KEPT_MAX, LEVERAGE};
    pub use super::strength::largest_group;
}
