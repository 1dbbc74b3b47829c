//! Tong-its: three seats, a deck of 52 or with two jokers 54, twelve cards each and a thirteenth for
//! the starter.
//!
//! The rules are docs/rules/tongits.md; every refusal and every line of a settlement cites one by
//! its number. [`Rules`] holds their numbers and switches, [`Tongits`] is a game by them.
//!
//! Arrows go down only: `state` → `ahead` → `quick`, `imagine` → `belief` → `habits_counted` → `habits`, `bot`, `score`, `legal`, `view` → `phase` →
//! `event` → `arrange` → `search` → `meld` → `joker` → `lanes`.

mod action;
mod ahead;
mod arrange;
mod belief;
mod bot;
mod describe;
mod event;
mod exposed;
mod habits;
mod habits_counted;
mod imagine;
mod joker;
mod kind;
mod lanes;
mod legal;
mod meld;
mod phase;
mod pile;
mod presets;
mod quick;
mod rules;
mod score;
mod search;
#[cfg(feature = "testing")]
mod setup;
mod sort;
mod spaces;
mod state;
mod view;

pub use action::{Action, Illegal};
pub use arrange::{Arrangement, deadwood, leaves_nothing};
pub use event::{Answer, BySeat, Ending, Event, Shown, SpecialEnding};
pub use exposed::{Exposed, ExposedMeld};
#[cfg(feature = "testing")]
pub use habits::{
    DEADWOODS, DUMP_WEIGHTS, GAINS, Habits, Neighbours, STAGES, TRAITS, deadwood_step, gain_step,
    stage,
};
pub use meld::{additions, for_each_meld, has_secret, is_meld, is_secret, points, points_of};
pub use phase::{End, Phase, Public};
pub use pile::Pile;
pub use presets::Preset;
#[cfg(feature = "testing")]
pub use quick::{
    Against, CARD_WEIGHT_MAX, CARDS, Considered, Dumps, FEW, FEW_FROM, HIDDEN, HIDDEN_1, HIDDEN_2,
    INPUTS, Inputs, Judge, LARGE_WEIGHTS, Large, Networks, ONE, OUTPUTS, Place, Question, SETS,
    Suits, WEIGHT_MAX, WEIGHT_ONE, WEIGHTS,
};
pub use rules::{
    Additions, AllBurned, BadRules, ChallengersTied, Countdowns, Counts, DealDirection,
    EndingCounts, ItemCounts, Rules, SEATS, is_special,
};
#[cfg(feature = "testing")]
pub use setup::{BadSetup, Setup, SetupPhase};
pub use sort::{sort_by_arrangement, sort_by_suit};
pub use state::{Answers, Tongits};
pub use view::View;
