//! Where a game stands: the phases, how far a turn has come, and who answers a challenge.
//!
//! `Deal` (chance) → per turn `Stop` → `Turn`, from there perhaps to `Roll` (chance) and back, to
//! `Shuffle` (chance), or to `Challenge` with one answer after the other → `Over`.

use serde::{Deserialize, Serialize};

use crate::games::tongo_options::event::{CostsChange, GameEnding};
use crate::games::tongo_options::public::Costs;
use crate::seat::{Seat, SeatSet};

/// Where a game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsPhase"))]
pub enum Phase {
    /// Chance is to deal (rule 2.1).
    Deal,
    /// The seat stops the board (rule 3.1).
    Stop {
        seat: Seat,
    },
    /// The rest of its turn (rules 3.2 to 3.5).
    Turn(TurnState),
    /// In its turn the dice are rolled (rule 3.4).
    Roll(TurnState),
    /// The deck is shuffled and a seat draws; then a turn is over, its own or that of who
    /// confronted it (rules 3.2, 6.2).
    Shuffle {
        seat: Seat,
        count: u8,
        turn: Seat,
    },
    /// A confrontation or an acquisition is answered (rules 6.2, 7.1).
    Challenge(Challenge),
    /// The hands of some seats are compared, or only one is left. It lasts within one step alone,
    /// so that nobody is shown it.
    Showdown(Showdown),
    Over,
}

/// How far a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsTurn"))]
pub struct TurnState {
    pub seat: Seat,
    /// The one that faces it.
    pub floor: u8,
    pub step: Step,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub bought: bool,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub sold: bool,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub exchanged: bool,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub indexed: bool,
    /// How much each cost has risen in this turn; `raise_max` bounds it (rule 1.6).
    #[serde(default, skip_serializing_if = "CostRises::are_none")]
    pub risen: CostRises,
    /// What is left of the wager of a seat that has converted its reserves in this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wager: Option<u8>,
}

/// The sum of all rises of each cost in a turn. Lowering a cost leaves the sum as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsRises"))]
pub struct CostRises {
    #[serde(skip_serializing_if = "is_zero")]
    pub buy: u16,
    #[serde(skip_serializing_if = "is_zero")]
    pub sell: u16,
    #[serde(skip_serializing_if = "is_zero")]
    pub exchange: u16,
}

impl CostRises {
    fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the rises after a change of the costs.
    fn with_change(self, old: &Costs, new: &Costs) -> Self {
        let sum = |risen: u16, old: u16, new: u16| risen.saturating_add(new.saturating_sub(old));
        Self {
            buy: sum(self.buy, old.buy, new.buy),
            sell: sum(self.sell, old.sell, new.sell),
            exchange: sum(self.exchange, old.exchange, new.exchange),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(risen: &u16) -> bool {
    *risen == 0
}

/// The last step of rule 3.4 that was done in a turn, or what comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsStep"))]
pub enum Step {
    /// Rule 3.2 is open.
    Open,
    /// The risk is paid or waived, or the margin was indexed before all else.
    Begun,
    Lowered,
    Traded,
    /// Or the margin was indexed in its place.
    Raised,
    Rolled,
}

/// A confrontation or an acquisition while it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsChallenge"))]
pub struct Challenge {
    pub by: Seat,
    /// Whom it confronts; `None` where it acquires the cards of the floor that it faces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Seat>,
    /// Who is to answer: the target first, if it may evade, then the others.
    pub asked: Seat,
    /// Who answered `join` or `confront`.
    pub joined: SeatSet,
}

/// Who shows, and why (rules 4.1, 4.2, 5.3, 6.3, 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsShowdown"))]
pub struct Showdown {
    /// Who confronts or acquires; the last of equals.
    pub by: Seat,
    /// With this one too.
    pub seats: SeatSet,
    pub ending: GameEnding,
}

impl TurnState {
    pub(super) const fn new(seat: Seat, floor: u8) -> Self {
        Self {
            seat,
            floor,
            step: Step::Open,
            bought: false,
            sold: false,
            exchanged: false,
            indexed: false,
            risen: CostRises { buy: 0, sell: 0, exchange: 0 },
            wager: None,
        }
    }

    /// Rule 3.4: the margin is indexed before all else, or in the place of raising.
    pub(super) fn change_costs(&mut self, how: CostsChange, old: &Costs, new: &Costs) {
        self.risen = self.risen.with_change(old, new);
        self.step = match how {
            CostsChange::Lower => Step::Lowered,
            CostsChange::Index if self.step <= Step::Begun => Step::Begun,
            CostsChange::Raise | CostsChange::Index => Step::Raised,
        };
        self.indexed |= how == CostsChange::Index;
    }

    /// Rule 5.1.
    pub(super) fn convert_reserves(&mut self, wager: u8) {
        self.wager = Some(wager);
        self.step = self.step.max(Step::Begun);
    }
}
