//! Tong-its: three seats, a deck of 52 cards or of 54 with two jokers, twelve cards per seat and a
//! thirteenth for the starter.
//!
//! docs/rules/tongits.md specifies the rules; every refusal and every item of a settlement cites
//! one by its number. [`Rules`] holds their parameters and switches, and [`Tongits`] is a game
//! under them.
//!
//! Each file names only files further right: `game` → `describe`, `spaces` → `kind`, `setup` →
//! `state` → `legal`, `score`, `view` → `phase` → `event` → `arrange` → `exposed`, `partition` →
//! `meld` → `joker` → `action`, `lanes`, `pile`, `rules`. The AI is a module of `bahay-bots`;
//! [`analysis`] is what it needs beside the rules.

mod action;
mod arrange;
mod describe;
mod event;
mod exposed;
mod game;
mod joker;
mod kind;
mod lanes;
mod legal;
mod meld;
mod partition;
mod phase;
mod pile;
mod rules;
mod score;
#[cfg(feature = "testing")]
mod setup;
mod spaces;
mod state;
#[cfg(test)]
mod test_cards;
mod view;

pub use action::{Action, Illegal};
pub use arrange::{Arrangement, deadwood, leaves_nothing, sort_by_arrangement, sort_by_suit};
pub use event::{BySeat, EndingKind, Event, FightAnswer, FightAnswers, ShownHand, SpecialEnding};
pub use exposed::{ExposedMeld, ExposedMelds};
pub use meld::{additions, for_each_meld, has_secret, is_meld, is_secret, points, total_points};
pub use phase::{Phase, PublicState, TongitsEnd};
pub use pile::Pile;
pub use rules::{
    Additions, AllBurned, ChallengersTied, Countdowns, Counts, DealDirection, EndingCounts,
    ItemCounts, Preset, Rules, SEATS, is_special,
};
#[cfg(feature = "testing")]
pub use setup::{GameSetup, SetupPhase};
pub use state::Tongits;
pub use view::View;

/// The figures of a hand and the lists of actions by which an AI weighs its choices.
pub mod analysis {
    pub use super::arrange::{HandSummary, leftover};
    pub use super::lanes::Lanes;
    pub use super::legal::{dumpable, for_each_legal_action};
    pub use super::meld::{
        can_chow, cards_of_rank, chowable, for_each_chow, is_set, paired_cards, points_max,
        runs_of_three,
    };
}
