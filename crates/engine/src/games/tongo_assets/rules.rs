//! The rule sets: their numbers and switches, and the check that a game can be dealt by them.

use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::game::{GameRules, RulesError, SeatRange};

/// The game's name in records, rooms and catalogues.
pub(super) const NAME: &str = "tongo_assets";

/// The number of half chips in a chip; payouts are counted in half chips (rule 6).
pub const HALVES: u32 = 2;

/// The maximum number of cards in a hand (rule 1.5).
pub const HAND_MAX: u8 = 7;

/// The maximum number of kept acquire cards (rule 1.5).
pub const KEPT_MAX: u8 = 3;

/// The number of assets of a full section (rule 1.4).
pub const SLOTS: u8 = 7;

/// The number of acquire cards of a full section (rule 1.4).
pub const ACQUIRE_SLOTS: u8 = 3;

/// The number of assets that each seat is dealt (rule 1.4).
pub const DEALT: u8 = 4;

/// The number of cards that an evasion costs (rule 4.1).
pub const EVADE_CARDS: u8 = 3;

/// The step and the minimum of a margin, in hundredths (rule 4.4).
pub const MARGIN_STEP: u8 = 5;

/// The maximum of a margin, in hundredths (rule 4.4).
pub const MARGIN_MAX: u8 = 50;

/// The range of a leverage, in hundredths of the risk (rule 4.5).
pub const LEVERAGE: RangeInclusive<u8> = 5..=95;

const LATINUM_MAX: u32 = 10_000;
const RAISE_MAX: u32 = 1_000;
const RAISES_MAX: u8 = 20;
const ROUNDS_MAX: u8 = 50;

/// A rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsRules"))]
pub struct Rules {
    /// The number of sections of the table, 8 or 4 (rule 1.1).
    pub sections: u8,
    /// The chips of each seat at the start (rule 1.5).
    pub latinum: u32,
    /// The maximum of the first opening risk (rule 2.1).
    pub opening_max: u32,
    /// The maximum by which a raise, or a later opening, exceeds the risk (rules 2.2 and 3.7).
    pub raise_max: u32,
    /// The maximum number of raises in a round of risking, and in a confront (rules 2.2 and 4.1).
    pub raises_max: u8,
    /// The maximum number of paid openings, after which the opener confronts or retreats (rule
    /// 6.4).
    pub rounds_max: u8,
    /// The number of rounds in which all seats need seven cards for a confront; afterwards only the
    /// confronter does (rule 3.5).
    pub confront_all_rounds: u8,
    /// The share of the strongest hand in the pot, in hundredths (rule 6.2).
    pub winner_share: u8,
    /// True if the margin may be indexed (rule 4.4).
    pub margins: bool,
    /// True if the buy-in may be leveraged (rule 4.5).
    pub leverage: bool,
    /// True if bribes may be offered (rule 4.6).
    pub bribes: bool,
    /// The countdowns of the prompts (rule 7).
    pub countdowns: Countdowns,
}

/// The countdowns of the prompts, in milliseconds (rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsCountdowns"))]
pub struct Countdowns {
    /// The countdown of an opening, and of each decision of a round of risking.
    pub risk_ms: u32,
    /// The countdown of a whole assessment.
    pub assess_ms: u32,
    /// The countdown of an answer to a confront, a debt or a bribe.
    pub answer_ms: u32,
}

impl Rules {
    /// Returns the rules with eight sections, for four to eight seats.
    pub const fn standard() -> Self {
        Self {
            sections: 8,
            latinum: 100,
            opening_max: 5,
            raise_max: 10,
            raises_max: 3,
            rounds_max: 12,
            confront_all_rounds: 3,
            winner_share: 50,
            margins: false,
            leverage: false,
            bribes: false,
            countdowns: Countdowns { risk_ms: 15_000, assess_ms: 30_000, answer_ms: 10_000 },
        }
    }

    /// Returns the rules with four sections, for exactly four seats.
    pub const fn personal() -> Self {
        Self { sections: 4, ..Self::standard() }
    }

    /// Returns the rules with margins and leverage.
    pub const fn advanced() -> Self {
        Self { margins: true, leverage: true, ..Self::standard() }
    }
}

impl GameRules for Rules {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn seats(&self) -> SeatRange {
        SeatRange { least: 4, most: if self.sections == 4 { 4 } else { 8 } }
    }

    fn counts_per_bet(&self) -> u32 {
        HALVES
    }

    /// Returns the maximum number of half chips that one seat can owe, which is its initial
    /// latinum.
    fn counts_max(&self, _seats: u8) -> u32 {
        self.latinum * HALVES
    }

    fn check(&self) -> Result<(), RulesError> {
        let raises_max = self.raises_max <= RAISES_MAX;
        let confront = self.confront_all_rounds <= self.rounds_max;
        let at_most = "confront_all_rounds must be at most rounds_max";
        let last = *self.countdown_ms().start() > 0;
        let require = RulesError::require;
        require(matches!(self.sections, 4 | 8), "sections", "sections must be 8 or 4")?;
        RulesError::require_in_range("latinum", self.latinum, 1..=LATINUM_MAX)?;
        RulesError::require_in_range("opening_max", self.opening_max, 1..=RAISE_MAX)?;
        RulesError::require_in_range("raise_max", self.raise_max, 1..=RAISE_MAX)?;
        require(raises_max, "raises_max", "raises_max must be at most 20")?;
        RulesError::require_in_range("rounds_max", self.rounds_max, 1..=ROUNDS_MAX)?;
        require(confront, "confront_all_rounds", at_most)?;
        RulesError::require_in_range("winner_share", self.winner_share, 1..=100)?;
        require(last, "countdowns", "countdowns must last at least a millisecond each")
    }

    fn countdown_ms(&self) -> RangeInclusive<u32> {
        let Countdowns { risk_ms, assess_ms, answer_ms } = self.countdowns;
        risk_ms.min(assess_ms).min(answer_ms)..=risk_ms.max(assess_ms).max(answer_ms)
    }
}

/// The bounds of the prices for a risk (rule 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceBounds {
    pub purchase_min: u32,
    /// The maximum of the purchase price and of the sell price; the minimum of the sell price is 1.
    pub max: u32,
}

impl PriceBounds {
    pub const fn for_risk(risk: u32) -> Self {
        let half_up = risk / 2 + risk % 2;
        let half_more = risk.saturating_mul(3) / 2;
        let max = if half_more == 0 { 1 } else { half_more };
        Self { purchase_min: half_up, max }
    }

    /// Scales a price in proportion to a new risk, rounded up and kept within these bounds (rule
    /// 4.1).
    pub fn scale_price(self, price: u32, from: u32, to: u32, least: u32) -> u32 {
        let scaled = (u64::from(price) * u64::from(to)).div_ceil(u64::from(from.max(1)));
        u32::try_from(scaled).unwrap_or(u32::MAX).clamp(least, self.max.max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::{PriceBounds, Rules};
    use crate::games::tests::{InvalidField, check_invalid_fields};

    #[test]
    fn rules_that_cannot_be_dealt_are_refused_and_the_field_is_named() {
        let changes: &[InvalidField<Rules>] = &[
            ("sections", |rules| rules.sections = 5),
            ("latinum", |rules| rules.latinum = 0),
            ("latinum", |rules| rules.latinum = 10_001),
            ("opening_max", |rules| rules.opening_max = 0),
            ("raise_max", |rules| rules.raise_max = 0),
            ("raises_max", |rules| rules.raises_max = 21),
            ("rounds_max", |rules| rules.rounds_max = 0),
            ("confront_all_rounds", |rules| rules.confront_all_rounds = 13),
            ("winner_share", |rules| rules.winner_share = 0),
            ("winner_share", |rules| rules.winner_share = 101),
            ("countdowns", |rules| rules.countdowns.answer_ms = 0),
        ];
        for error in check_invalid_fields(Rules::standard(), changes) {
            assert!(error.message.starts_with(&*error.field), "{error}");
        }
    }

    /// Rule 2.1.
    #[test]
    fn prices_lie_around_the_risk() {
        let bounds = |risk| {
            let PriceBounds { purchase_min, max } = PriceBounds::for_risk(risk);
            (purchase_min, max)
        };
        assert_eq!([1, 2, 3, 4, 5].map(bounds), [(1, 1), (1, 3), (2, 4), (2, 6), (3, 7)]);
    }

    /// Rule 4.1.
    #[test]
    fn prices_rise_in_proportion_and_are_clipped() {
        let bounds = PriceBounds::for_risk(7);
        assert_eq!(bounds.scale_price(4, 5, 7, bounds.purchase_min), 6, "5.6 is rounded up");
        assert_eq!(bounds.scale_price(7, 5, 7, 1), 10, "9.8 is rounded up, and 10 is the most");
        let bounds = PriceBounds::for_risk(9);
        assert_eq!(bounds.scale_price(4, 7, 9, bounds.purchase_min), 6, "5.1 is rounded up");
    }
}
