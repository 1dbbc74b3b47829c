//! Rooms: a game, a rule set and a bet, created and changed by operators while the house runs.
//!
//! PostgreSQL stores the rooms with all their revisions. Each process keeps a copy, refreshes it
//! twice a second and hands it out without waiting, so a change is known on every node within a
//! second. Tables decide how they apply a change: see `tables::RoomTerms`. While the house is
//! closed (`main_switch`), every room is closed.
//!
//! A database without rooms is filled with the default rooms ([`house_rooms`]). Bounds:
//! [`ROOMS_MAX`] rooms. Deliberately absent: the deletion of a room. Coins that wait in a POT are
//! available again when a closed room opens.

mod catalog;
mod house;
mod main_switch;
mod rules;
mod settings;
mod store;

use std::borrow::Cow;

use bahay_engine::catalog::{AnyRules, NamedRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, SeatRange};
use bahay_engine::table::Terms;
use thiserror::Error;

pub use bahay_engine::matchmaking::ROOMS_MAX;
pub use catalog::Catalog;
pub use house::house_rooms;
pub use main_switch::{HouseSwitch, read_house_state, switch_house};
pub use rules::{RuleSetRequest, check_clocks, choose_rules};
pub use settings::{SettingChange, flatten_object, to_room_pot};
pub use store::{RoomDraft, RoomRevision};

/// The room of private tables, which is not listed and cannot be created by operators.
pub use crate::ids::PRIVATE_ROOM as PRIVATE;

/// The room of practice tables, which is not listed and cannot be created by operators.
pub use crate::ids::PRACTICE_ROOM as PRACTICE;

/// The room of tables of tournaments, which is not listed and cannot be created by operators.
pub use crate::ids::TOURNAMENT_ROOM as TOURNAMENT;

/// The maximum length of a name, in characters.
pub const NAME_LENGTH_MAX: usize = 40;

/// The maximum of a bet in a room, against slips of the keyboard.
pub const BET_MAX: Coins = Coins::from_hundredths(10_000_000 * 100);

/// The maximum of a winner's fee, in ten-thousandths.
pub const FEE_BASIS_POINTS_MAX: u32 = 5_000;

/// A game at a bet.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    draft: RoomDraft,
    /// The most that one game can cost one seat, which is the minimum wallet by the terms alone.
    loss_max: Coins,
    revision: u32,
}

impl Room {
    /// Creates an open room that never changes. Returns `None` if its amounts exceed 64 bits.
    pub fn new(name: &str, rule_set: &str, terms: Terms<AnyRules>) -> Option<Self> {
        let draft = RoomDraft {
            name: name.to_owned(),
            is_open: true,
            rule_set: rule_set.to_owned(),
            terms,
            coins_min: Coins::ZERO,
            coins_max: None,
            needs_account: false,
        };
        Self::from_draft(draft, 0)
    }

    /// Creates a room of these settings. Returns `None` if its amounts exceed 64 bits.
    fn from_draft(draft: RoomDraft, revision: u32) -> Option<Self> {
        let loss_max = draft.terms.loss_max()?;
        Some(Self { draft, loss_max, revision })
    }

    /// Returns the settings.
    pub fn draft(&self) -> &RoomDraft {
        &self.draft
    }

    /// Requires an account: a password or an identity.
    #[must_use]
    pub fn with_account_required(mut self) -> Self {
        self.draft.needs_account = true;
        self
    }

    /// Returns the id as it appears in paths and ledger accounts: `newbie`.
    pub fn id(&self) -> &str {
        &self.draft.terms.room
    }

    /// Returns the displayed name.
    pub fn name(&self) -> &str {
        &self.draft.name
    }

    /// Returns the name of the rule set that the rules are based on.
    pub fn rule_set(&self) -> &str {
        &self.draft.rule_set
    }

    /// Returns true if the rules equal those of the rule set, without changed switches.
    pub fn has_plain_rules(&self) -> bool {
        let named = AnyRules::find_rule_set(self.kind(), self.rule_set());
        named.is_some_and(|named: NamedRules| named.rules == self.draft.terms.rules)
    }

    pub fn terms(&self) -> &Terms<AnyRules> {
        &self.draft.terms
    }

    /// Returns the number of changes; zero for a room that never changes.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Returns true if games may begin.
    pub fn is_open(&self) -> bool {
        self.draft.is_open
    }

    /// Returns the minimum wallet for a seat: the ante and the greatest possible loss (rule 6.9),
    /// or more if the room requires it.
    pub fn wallet_min(&self) -> Coins {
        self.loss_max.max(self.draft.coins_min)
    }

    /// Returns the most that one game can cost one seat, including its ante.
    pub fn loss_max(&self) -> Coins {
        self.loss_max
    }

    /// Returns the maximum wallet for a seat.
    pub fn wallet_max(&self) -> Option<Coins> {
        self.draft.coins_max
    }

    /// Returns true if the room is closed to guests, who have only a device.
    pub fn needs_account(&self) -> bool {
        self.draft.needs_account
    }

    /// Returns the name of the game.
    pub fn kind(&self) -> &'static str {
        self.terms().rules.kind()
    }

    /// Returns the number of players that a game takes.
    pub fn seats(&self) -> SeatRange {
        self.terms().rules.seats()
    }
}

/// An error that leaves a room unchanged. Variants are in order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RoomError {
    #[error("there is no room {id}")]
    Unknown { id: String },
    #[error("room {id} already exists")]
    Taken { id: String },
    /// The caller decided on an outdated revision.
    #[error("the room is at revision {revision}: read it again")]
    Changed { revision: u32 },
    /// A setting that the room rejects, with the reason.
    #[error("{field}: {why}")]
    Unsound { field: Cow<'static, str>, why: Cow<'static, str> },
    #[error("room {id} has the name {name}")]
    NameTaken { id: String, name: String },
    #[error("the maximum of {most} rooms is reached", most = ROOMS_MAX)]
    TooMany,
    /// A temporary error: the call may be retried.
    #[error("rooms are unavailable: {reason}")]
    Unavailable { reason: String },
    /// A bug.
    #[error("rooms are broken: {reason}")]
    Broken { reason: String },
}

crate::db::unavailable_or_broken!(RoomError);
