//! The rule sets of Tongo (options) as values: every number and every switch of
//! docs/rules/tongo_options.md. `kind` names those of rule 8.4; an operator may change fields
//! within the bounds of [`Rules::check`].
//!
//! Floors, slots, hand cards and the sides of dice (rules 1.2 to 1.5) are not part of a rule set
//! because they define the game. Bets, fee, POT and the countdown of the preparation belong to the
//! table.

use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::game::{GameRules, RulesError, SeatRange};
use crate::seat::SEATS_MAX;

/// The game's name in records, rooms and catalogues.
pub(super) const NAME: &str = "tongo_options";

/// The number of floors in the ring (rule 1.3).
pub const FLOORS: u8 = 8;

/// The number of options cards of a floor, and of a free exchange (rule 1.3).
pub const SLOTS: u8 = 3;

/// The number of player cards of a seat (rule 1.5).
pub const HAND_CARDS: u8 = 4;

/// The number of places of a die (rule 1.4).
pub const PLACES: u8 = 2 * FLOORS;

/// The lowest value and the number of sides of each die (rule 1.4); the last two only with
/// `dice_2d6`.
pub const DICE: [(u8, u8); 5] = [(1, 4), (5, 4), (9, 4), (1, 6), (7, 6)];

/// The number of dice without `dice_2d6`.
const DICE_WITHOUT_2D6: usize = 3;

/// The maximum number of chips of a seat, so that at most a hundred bets are held as its stake
/// (rule 1.5).
const CHIPS_MAX: u8 = 100;

/// The bound beyond which a number is taken for a typing error.
const NUMBER_MAX: u8 = 100;

/// A rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsRules"))]
pub struct Rules {
    /// The minimum number of seats with which a game begins (rule 1.1).
    pub seats_min: u8,
    /// The number of seats of a table (rule 1.1).
    pub seats_max: u8,
    /// The number of chips that each seat may spend in total (rule 1.5).
    pub chips: u8,
    /// The initial cost of buying, selling and exchanging (rule 1.6).
    pub start_cost: u8,
    /// The maximum by which a cost is raised in one turn (rule 1.6).
    pub raise_max: u8,
    /// The payment of each seat at the start (rule 1.6).
    pub buy_in: u8,
    /// True if there are free exchanges below the floors (rule 1.3).
    pub free_exchange: bool,
    /// True if there are two additional dice with six sides (rule 1.4).
    pub dice_2d6: bool,
    /// True if all costs may be changed by a percentage (rule 3.4).
    pub index_margin: bool,
    /// The number of rounds after which all hands are shown (rule 4.2).
    pub rounds_max: u8,
    /// The first round in which a seat may confront or acquire (rule 8.4).
    pub challenge_round: u8,
    /// True if a seat that answers a challenge without folding pays the risk (rule 8.4).
    pub answer_pays_risk: bool,
    /// The countdowns of the phases (rule 9.1).
    pub countdowns: Countdowns,
}

/// The countdowns of the phases, in milliseconds (rule 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsCountdowns"))]
pub struct Countdowns {
    pub stop_ms: u32,
    /// The countdown of a turn after the stop.
    pub turn_ms: u32,
    pub answer_ms: u32,
}

impl GameRules for Rules {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn seats(&self) -> SeatRange {
        SeatRange { least: self.seats_min, most: self.seats_max }
    }

    fn counts_max(&self, _seats: u8) -> u32 {
        self.chips.into()
    }

    fn check(&self) -> Result<(), RulesError> {
        let numbers = 1..=NUMBER_MAX;
        let seats_min = (2..=SEATS_MAX).contains(&self.seats_min);
        let seats_max = (self.seats_min..=SEATS_MAX).contains(&self.seats_max);
        let challenge_round = (1..=self.rounds_max).contains(&self.challenge_round);
        let last = *self.countdown_ms().start() > 0;
        let to_hundred = "must be from 1 to 100";
        let require = RulesError::require;
        require(seats_min, "seats_min", "must be from 2 to 8")?;
        require(seats_max, "seats_max", "must be from seats_min to 8")?;
        require((1..=CHIPS_MAX).contains(&self.chips), "chips", to_hundred)?;
        require(numbers.contains(&self.start_cost), "start_cost", to_hundred)?;
        require(numbers.contains(&self.raise_max), "raise_max", to_hundred)?;
        require(self.buy_in <= self.chips, "buy_in", "must be at most chips")?;
        require(numbers.contains(&self.rounds_max), "rounds_max", to_hundred)?;
        require(challenge_round, "challenge_round", "must be from 1 to rounds_max")?;
        require(last, "countdowns", "must last at least a millisecond each")
    }

    fn countdown_ms(&self) -> RangeInclusive<u32> {
        let Countdowns { stop_ms, turn_ms, answer_ms } = self.countdowns;
        stop_ms.min(turn_ms).min(answer_ms)..=stop_ms.max(turn_ms).max(answer_ms)
    }
}

impl Rules {
    /// Returns the rules without challenges in the first rounds, and with a price for answering
    /// them.
    pub const fn lively() -> Self {
        Self { challenge_round: 3, answer_pays_risk: true, ..Self::seed() }
    }

    /// Returns the rules of the game's author.
    pub const fn seed() -> Self {
        Self {
            seats_min: 2,
            seats_max: 4,
            chips: 100,
            start_cost: 1,
            raise_max: 5,
            buy_in: 5,
            free_exchange: true,
            dice_2d6: false,
            index_margin: false,
            rounds_max: 20,
            challenge_round: 1,
            answer_pays_risk: false,
            countdowns: Countdowns { stop_ms: 10_000, turn_ms: 40_000, answer_ms: 15_000 },
        }
    }

    /// Returns the lowest value and the number of sides of each die (rule 1.4).
    pub fn dice(&self) -> &'static [(u8, u8)] {
        let count = if self.dice_2d6 { DICE.len() } else { DICE_WITHOUT_2D6 };
        &DICE[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::Rules;
    use crate::games::tests::{InvalidField, check_invalid_fields};

    #[test]
    fn rules_that_cannot_be_dealt_are_refused_and_the_field_is_named() {
        let changes: &[InvalidField<Rules>] = &[
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
        check_invalid_fields(Rules::lively(), changes);
    }
}
