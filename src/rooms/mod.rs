//! Rooms: a game, a rule set and a bet, as operators make and change them while the house runs.
//!
//! PostgreSQL has them, with every revision. Each process keeps a copy, looks twice a second for
//! what is new, and hands the copy out without waiting. So a change is known on every node within
//! a second. What a change means to tables is theirs to decide: see `tables::RoomTerms`. While the house
//! is closed (`main_switch`), every room is.
//!
//! A database without rooms gets those that the program brings along ([`house_rooms`]). Bounds:
//! [`ROOMS_MAX`] rooms. Deliberately absent: removing a room. A closed one is where coins that wait
//! in a POT are found again when it opens.

mod catalog;
mod house;
mod main_switch;
mod rules;
mod store;

use std::borrow::Cow;

use bahay_engine::catalog::{AnyGame, AnyRules, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, SeatRange};
use bahay_engine::table::Terms;
use thiserror::Error;

use crate::db::Failure;

pub use bahay_engine::matchmaking::ROOMS_MAX;
pub use catalog::Catalog;
pub use house::house_rooms;
pub use main_switch::{House, HouseState};
pub use rules::{RulesWanted, check_clocks, chosen_rules};
pub use store::{Draft, Revision};

/// The room of private tables: nobody finds it in the list, and no operator can make it.
pub use crate::ids::PRIVATE_ROOM as PRIVATE;

/// The room of practice tables, likewise.
pub use crate::ids::PRACTICE_ROOM as PRACTICE;

/// The longest name, in characters.
pub const NAME_LENGTH_MAX: usize = 40;

/// The most that a winner's fee may be, in ten-thousandths.
pub const FEE_BASIS_POINTS_MAX: u32 = 5_000;

/// A game at a bet.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    name: String,
    /// The rule set that its rules began as; switches may have been set since.
    rule_set: String,
    terms: Terms<AnyRules>,
    /// The most that one game can cost one seat, which a wallet must hold by the terms alone.
    loss_max: Coins,
    coins_min: Coins,
    coins_max: Option<Coins>,
    needs_account: bool,
    is_open: bool,
    revision: u32,
}

impl Room {
    /// An open room that never changes. `None` when its amounts do not fit 64 bits.
    pub fn new(name: &str, rule_set: &str, terms: Terms<AnyRules>) -> Option<Self> {
        let loss_max = terms.loss_max::<AnyGame>()?;
        Some(Self {
            name: name.to_owned(),
            rule_set: rule_set.to_owned(),
            terms,
            loss_max,
            coins_min: Coins::ZERO,
            coins_max: None,
            needs_account: false,
            is_open: true,
            revision: 0,
        })
    }

    /// The same, for players with a password or an identity alone.
    #[must_use]
    pub fn for_accounts(self) -> Self {
        Self { needs_account: true, ..self }
    }

    /// As in paths and accounts: `newbie`.
    pub fn id(&self) -> &str {
        &self.terms.room
    }

    /// As people read it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the rule set that its rules began as.
    pub fn rule_set(&self) -> &str {
        &self.rule_set
    }

    /// Whether its rules are that rule set's, with no switch set otherwise.
    pub fn has_plain_rules(&self) -> bool {
        let named = AnyRules::named(self.kind(), &self.rule_set);
        named.is_some_and(|named: NamedRules| named.rules == self.terms.rules)
    }

    pub fn terms(&self) -> &Terms<AnyRules> {
        &self.terms
    }

    /// Counts up with every change; zero for a room that never changes.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Whether games may begin.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The least that a wallet must hold to sit down: the ante and the greatest possible loss
    /// (rule 6.9), or more where the room says so.
    pub fn wallet_min(&self) -> Coins {
        self.loss_max.max(self.coins_min)
    }

    /// Returns the most that one game can cost one seat, its ante included.
    pub fn loss_max(&self) -> Coins {
        self.loss_max
    }

    /// The most that a wallet may hold to sit down.
    pub fn wallet_max(&self) -> Option<Coins> {
        self.coins_max
    }

    /// Whether it is closed to guests, who are known by a device alone.
    pub fn needs_account(&self) -> bool {
        self.needs_account
    }

    /// The game played there, by its name.
    pub fn kind(&self) -> &'static str {
        self.terms.rules.kind()
    }

    /// How many play there.
    pub fn seats(&self) -> SeatRange {
        AnyGame::seats(&self.terms.rules)
    }
}

/// Why a room stays as it is, in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RoomError {
    #[error("there is no room {id}")]
    Unknown { id: String },
    #[error("there is a room {id} already")]
    Taken { id: String },
    /// The caller has decided on something that is no longer so.
    #[error("the room is at revision {revision}; look at it again")]
    Changed { revision: u32 },
    /// Which of its settings cannot be so, and why.
    #[error("{field}: {why}")]
    Unsound { field: Cow<'static, str>, why: Cow<'static, str> },
    #[error("there are {most} rooms, and no more can be made", most = ROOMS_MAX)]
    TooMany,
    /// The same call may pass later.
    #[error("rooms are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug.
    #[error("rooms are broken: {reason}")]
    Broken { reason: String },
}

impl From<sqlx::Error> for RoomError {
    fn from(error: sqlx::Error) -> Self {
        let reason = error.to_string();
        if Failure::classify(&error).is_transient() {
            Self::Unavailable { reason }
        } else {
            Self::Broken { reason }
        }
    }
}
