//! The phases of a game, the progress of a turn, and the answers to a challenge.
//!
//! `Deal` (chance) → per turn `Stop` → `Turn`, from there possibly to `Roll` (chance) and back, to
//! `Shuffle` (chance), or to `Challenge` with one answer after the other → `Over`.

use serde::{Deserialize, Serialize};

use crate::game::is_default;
use crate::seat::{Seat, SeatSet};

/// The phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsPhase", tag = "type"))]
pub enum Phase {
    /// Chance deals (rule 2.1).
    Deal,
    /// The seat stops the board (rule 3.1).
    Stop {
        seat: Seat,
    },
    /// The seat plays the rest of its turn (rules 3.2 to 3.5).
    Turn(TurnState),
    /// The dice are rolled during a turn (rule 3.4).
    Roll(TurnState),
    /// The deck is shuffled and a seat draws. Then the turn ends, its own or that of the seat that
    /// confronted it (rules 3.2 and 6.2).
    Shuffle {
        seat: Seat,
        count: u8,
        turn: Seat,
    },
    /// A seat answers a confrontation or an acquisition (rules 6.2 and 7.1).
    Challenge(Challenge),
    /// The hands of some seats are compared, or only one seat is left. The phase begins and ends
    /// within one step, so no viewer sees it.
    Showdown(Showdown),
    Over,
}

tagged!(Phase);

/// The progress of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsTurn"))]
pub struct TurnState {
    pub seat: Seat,
    /// The facing floor.
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
    /// The amount by which each cost has risen in this turn, at most `raise_max` (rule 1.6).
    #[serde(default, skip_serializing_if = "is_default")]
    pub risen: CostRises,
    /// The rest of the wager of a seat that has converted its reserves in this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wager: Option<u8>,
}

/// The sum of all rises of each cost in a turn. Lowering a cost does not change the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsRises"))]
pub struct CostRises {
    #[serde(skip_serializing_if = "is_default")]
    pub buy: u16,
    #[serde(skip_serializing_if = "is_default")]
    pub sell: u16,
    #[serde(skip_serializing_if = "is_default")]
    pub exchange: u16,
}

impl CostRises {
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

/// The last completed step of rule 3.4 in a turn, or a step before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsStep"))]
pub enum Step {
    /// The actions of rule 3.2 are still open.
    Open,
    /// The risk is paid or waived, or the margin was indexed before everything else.
    Begun,
    Lowered,
    Traded,
    /// The costs were raised, or the margin was indexed in place of raising.
    Raised,
    Rolled,
}

/// A confrontation or an acquisition that is being answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsChallenge"))]
pub struct Challenge {
    pub by: Seat,
    /// The confronted seat; `None` if the challenger acquires the cards of its facing floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Seat>,
    /// The seat that answers next: first the target, if it may evade, then the others.
    pub asked: Seat,
    /// The seats that answered `join` or `confront`.
    pub joined: SeatSet,
}

/// The participants of a showdown, and its ending (rules 4.1, 4.2, 5.3, 6.3 and 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsShowdown"))]
pub struct Showdown {
    /// The seat that confronts or acquires; among equal hands it comes last.
    pub by: Seat,
    /// The participants, including `by`.
    pub seats: SeatSet,
    pub ending: GameEnding,
}

/// The costs of buying, selling and exchanging (rule 1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCosts"))]
pub struct Costs {
    pub buy: u16,
    pub sell: u16,
    pub exchange: u16,
}

/// The kind of a change of costs (rule 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCostsChange"))]
pub enum CostsChange {
    Lower,
    Raise,
    Index,
}

/// The ending of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsEnding"))]
pub enum GameEnding {
    /// All other seats have folded (rule 4.1).
    LastIn,
    /// A confrontation was decided (rule 6.3).
    Confront,
    /// An acquisition was decided (rules 7.1 and 7.2).
    Acquire,
    /// Converted reserves were decided (rule 5.3).
    Reserves,
    /// The last round is over (rule 4.2).
    Rounds,
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

    /// Records a change of costs. The margin is indexed before everything else, or in place of
    /// raising (rule 3.4).
    pub(super) fn change_costs(&mut self, how: CostsChange, old: &Costs, new: &Costs) {
        self.risen = self.risen.with_change(old, new);
        self.step = match how {
            CostsChange::Lower => Step::Lowered,
            CostsChange::Index if self.step <= Step::Begun => Step::Begun,
            CostsChange::Raise | CostsChange::Index => Step::Raised,
        };
        self.indexed |= how == CostsChange::Index;
    }

    /// Converts the reserves into a wager (rule 5.1).
    pub(super) fn convert_reserves(&mut self, wager: u8) {
        self.wager = Some(wager);
        self.step = self.step.max(Step::Begun);
    }
}
