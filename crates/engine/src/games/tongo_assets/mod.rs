//! Tongo (assets): four to eight seats round a turning table, 98 assets in seven colours, acquire
//! cards good and bad, and a pot that grows with the risk.
//!
//! The rules are docs/rules/tongo_assets.md; every refusal and every line of a settlement cites one
//! by its number. [`Rules`] holds their numbers and switches, [`TongoAssets`] is a game by them.
//!
//! Arrows go down only: `state` → `imagine` → `bot`, `describe`, `kind`, `list`, `payout`, `view` → `legal`,
//! `hidden` → `public` → `event` → `phase` → `strength`, `slots`, `deck` → `set`, `ring` → `card`.

mod action;
mod bot;
mod card;
mod clock;
mod deck;
mod describe;
mod event;
mod hidden;
mod imagine;
mod kind;
mod legal;
mod list;
mod payout;
mod phase;
mod public;
mod refusal;
mod ring;
mod rules;
mod set;
#[cfg(feature = "testing")]
mod setup;
mod slots;
mod spaces;
mod state;
mod strength;
mod view;

pub use action::Action;
pub use card::{Acquire, Card, Colour, NotACard};
pub use deck::Deck;
pub use event::{Evaded, Event, Face, Place};
pub use hidden::{Hidden, Look, Own};
pub use phase::{End, Ending, Offer, Phase, Player, Shown};
pub use public::Public;
pub use refusal::Illegal;
pub use ring::Ring;
pub use rules::{BadRules, Countdowns, HALVES, PriceBounds, Rules};
pub use set::CardSet;
#[cfg(feature = "testing")]
pub use setup::{BadSetup, Setup};
pub use slots::{Assets, HiddenSection, Section, SlotSet};
pub use state::TongoAssets;
pub use strength::{Class, Reading};
pub use view::View;
