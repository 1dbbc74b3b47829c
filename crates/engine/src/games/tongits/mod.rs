//! Tong-its: three seats, a deck of 52 cards or of 54 with two jokers, twelve cards per seat and a
//! thirteenth for the starter.
//!
//! docs/rules/tongits.md specifies the rules; every refusal and every item of a settlement cites
//! one by its number. [`Rules`] holds their parameters and switches, and [`Tongits`] is a game
//! under them.
//!
//! Dependencies point in one direction: `state` → `look_ahead` → `quick`, `sampling` → `belief` →
//! `habit_tables` → `habits`, `bot`, `score`, `legal`, `view` → `phase` → `event` → `arrange` →
//! `partition` → `meld` → `joker` → `lanes`.

mod action;
mod arrange;
mod belief;
mod bot;
mod describe;
mod event;
mod exposed;
mod habit_tables;
mod habits;
mod joker;
mod kind;
mod lanes;
mod legal;
mod look_ahead;
mod meld;
mod partition;
mod phase;
mod pile;
mod presets;
mod quick;
mod rules;
mod sampling;
mod score;
#[cfg(feature = "testing")]
mod setup;
mod sort;
mod spaces;
mod state;
mod view;

pub use action::{Action, Illegal};
pub use arrange::{Arrangement, deadwood, leaves_nothing};
pub use event::{BySeat, EndingKind, Event, FightAnswer, ShownHand, SpecialEnding};
pub use exposed::{ExposedMeld, ExposedMelds};
#[cfg(feature = "testing")]
pub use habits::{
    DEADWOODS, DUMP_WEIGHTS, GAINS, Habits, Neighbours, STAGES, TRAITS, deadwood_bucket,
    gain_bucket, stage,
};
pub use meld::{additions, for_each_meld, has_secret, is_meld, is_secret, points, total_points};
pub use phase::{Phase, PublicState, TongitsEnd};
pub use pile::Pile;
pub use presets::Preset;
#[cfg(feature = "testing")]
pub use quick::{
    CARD_WEIGHT_MAX, CARDS, CATEGORIES, CATEGORY_FROM, Candidate, DecisionKind, DumpLimit,
    EnsembleJudge, HIDDEN, HIDDEN_1, HIDDEN_2, INPUTS, Inputs, Judge, LARGE_WEIGHTS, LargeNetwork,
    NetworkPosition, Networks, ONE, OUTPUTS, SETS, SuitPermutation, WEIGHT_MAX, WEIGHT_ONE,
    WEIGHTS,
};
pub use rules::{
    Additions, AllBurned, ChallengersTied, Countdowns, Counts, DealDirection, EndingCounts,
    ItemCounts, Rules, RulesFieldError, SEATS, is_special,
};
#[cfg(feature = "testing")]
pub use setup::{GameSetup, SetupError, SetupPhase};
pub use sort::{sort_by_arrangement, sort_by_suit};
pub use state::{FightAnswers, Tongits};
pub use view::View;
