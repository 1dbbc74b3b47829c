//! The rule sets of Tongo (options) as values: every number and every switch of
//! docs/rules/tongo_options.md. Those with a name are in `presets`; an operator may change fields,
//! as far as [`Rules::check`] allows.
//!
//! Not here: floors, slots, cards of a hand, and the sides of dice (rules 1.2 to 1.5), which are the
//! game itself; bets, fee, POT and the prepare countdown, which belong to the table.

use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::game::{SeatRange, RulesError};
use crate::seat::SEATS_MAX;

/// Floors in the ring (rule 1.3).
pub const FLOORS: u8 = 8;

/// Options cards of a floor, and of a free exchange (rule 1.3).
pub const SLOTS: u8 = 3;

/// Player cards of a seat (rule 1.5).
pub const HAND_CARDS: u8 = 4;

/// Places where a die can lie (rule 1.4).
pub const PLACES: u8 = 2 * FLOORS;

/// The lowest value of each die and its sides (rule 1.4); the last two only with `dice_2d6`.
pub const DICE: [(u8, u8); 5] = [(1, 4), (5, 4), (9, 4), (1, 6), (7, 6)];

/// How many of them there are without `dice_2d6`.
const DICE_WITHOUT_2D6: usize = 3;

/// The most chips of a seat, so that no more than a hundred bets are held as its stake (rule 1.5).
const CHIPS_MAX: u8 = 100;

/// A number beyond this is a slip of the pen.
const NUMBER_MAX: u8 = 100;

/// One rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsRules"))]
pub struct Rules {
    /// A game begins with at least so many seats (rule 1.1).
    pub seats_min: u8,
    /// A table has so many (rule 1.1).
    pub seats_max: u8,
    /// What each seat may spend in all (rule 1.5).
    pub chips: u8,
    /// Buy, sell and exchange cost at the start (rule 1.6).
    pub start_cost: u8,
    /// The most that a cost is raised by in one turn (rule 1.6).
    pub raise_max: u8,
    /// What each seat pays at the start (rule 1.6).
    pub buy_in: u8,
    /// Free exchanges lie below the floors (rule 1.3).
    pub free_exchange: bool,
    /// Two dice with six sides more (rule 1.4).
    pub dice_2d6: bool,
    /// All costs may be changed by a percentage (rule 3.4).
    pub index_margin: bool,
    /// After so many rounds everybody shows (rule 4.2).
    pub rounds_max: u8,
    /// The first round in which a seat may confront or acquire (rule 8.4).
    pub challenge_round: u8,
    /// Who answers a challenge otherwise than by folding pays the risk (rule 8.4).
    pub answer_pays_risk: bool,
    /// How long a phase waits for its seat (rule 9.1).
    pub countdowns: Countdowns,
}

/// How long a phase waits, in milliseconds (rule 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCountdowns"))]
pub struct Countdowns {
    pub stop_ms: u32,
    /// All of a turn after the stop.
    pub turn_ms: u32,
    pub answer_ms: u32,
}

impl Countdowns {
    /// The shortest and the longest.
    pub fn range_ms(&self) -> RangeInclusive<u32> {
        let Self { stop_ms, turn_ms, answer_ms } = *self;
        stop_ms.min(turn_ms).min(answer_ms)..=stop_ms.max(turn_ms).max(answer_ms)
    }
}

impl Rules {
    /// Whether a game can be dealt by these rules. What comes from a configuration must be asked.
    pub fn check(&self) -> Result<(), RulesError> {
        let Countdowns { stop_ms, turn_ms, answer_ms } = self.countdowns;
        let numbers = 1..=NUMBER_MAX;
        let (field, what) = if !(2..=SEATS_MAX).contains(&self.seats_min) {
            ("seats_min", "must be from 2 to 8")
        } else if !(self.seats_min..=SEATS_MAX).contains(&self.seats_max) {
            ("seats_max", "must be from seats_min to 8")
        } else if !(1..=CHIPS_MAX).contains(&self.chips) {
            ("chips", "must be from 1 to 100")
        } else if !numbers.contains(&self.start_cost) {
            ("start_cost", "must be from 1 to 100")
        } else if !numbers.contains(&self.raise_max) {
            ("raise_max", "must be from 1 to 100")
        } else if self.buy_in > self.chips {
            ("buy_in", "must be at most chips")
        } else if !numbers.contains(&self.rounds_max) {
            ("rounds_max", "must be from 1 to 100")
        } else if !(1..=self.rounds_max).contains(&self.challenge_round) {
            ("challenge_round", "must be from 1 to rounds_max")
        } else if stop_ms == 0 || turn_ms == 0 || answer_ms == 0 {
            ("countdowns", "must last at least a millisecond each")
        } else {
            return Ok(());
        };
        Err(RulesError { field: field.into(), what: what.into() })
    }

    pub const fn seats(&self) -> SeatRange {
        SeatRange { least: self.seats_min, most: self.seats_max }
    }

    /// The lowest value and the sides of each die (rule 1.4).
    pub fn dice(&self) -> &'static [(u8, u8)] {
        let count = if self.dice_2d6 { DICE.len() } else { DICE_WITHOUT_2D6 };
        &DICE[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::Rules;

    #[test]
    fn rules_that_cannot_be_dealt_are_refused_and_the_field_is_named() {
        type Change = fn(&mut Rules);
        let cases: [(&str, Change); 13] = [
            ("seats_min", |rules| rules.seats_min = 1),
            ("seats_max", |rules| rules.seats_max = 9),
            ("seats_max", |rules| (rules.seats_min, rules.seats_max) = (4, 3)),
            ("chips", |rules| rules.chips = 101),
            ("chips", |rules| rules.chips = 0),
            ("start_cost", |rules| rules.start_cost = 0),
            ("raise_max", |rules| rules.raise_max = 0),
            ("buy_in", |rules| rules.buy_in = 101),
            ("rounds_max", |rules| rules.rounds_max = 0),
            ("challenge_round", |rules| rules.challenge_round = 0),
            ("challenge_round", |rules| rules.challenge_round = 21),
            ("countdowns", |rules| rules.countdowns.stop_ms = 0),
            ("countdowns", |rules| rules.countdowns.answer_ms = 0),
        ];
        for (field, change) in cases {
            let mut rules = Rules::lively();
            change(&mut rules);
            let unsound = rules.check().unwrap_err();
            assert_eq!(unsound.field, field);
            // The name is that of a field.
            let written = serde_json::to_value(rules).unwrap();
            assert!(written.get(field).is_some(), "{field}");
        }
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let written = serde_json::to_value(Rules::lively()).unwrap();
        assert_eq!(serde_json::from_value::<Rules>(written.clone()).unwrap(), Rules::lively());
        let mut misspelt = written.clone();
        misspelt["raise_maximum"] = 5.into();
        assert!(serde_json::from_value::<Rules>(misspelt).is_err());
        let mut misspelt = written;
        misspelt["countdowns"]["wait_ms"] = 5.into();
        assert!(serde_json::from_value::<Rules>(misspelt).is_err());
    }
}
