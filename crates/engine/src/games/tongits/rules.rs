//! The rule sets of Tong-its as values: every number and every switch of docs/rules/tongits.md
//! that two rule sets could disagree on. `kingdom` is the product; an operator may change fields.
//!
//! Not here: the shape of a meld and the points of a card (rules 1.4, 1.6, 1.9), which are the
//! game itself and constants beside the code that rests on them; bets, fee, POT, crowns and the
//! prepare countdown, which belong to the table.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::cards::{Card, Rank};

/// Seats at a table of Tong-its (rule 1.1).
pub const SEATS: u8 = 3;

/// The most cards dealt to each seat that leave something to draw.
const HAND_CARDS_MAX: u8 = 16;

/// The smallest secret meld, four of one rank (rule 1.6): bounds how many fit a hand.
const SECRET_CARDS_MIN: u8 = 4;

/// One rule set. `Rules::kingdom` is the one that is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongitsRules"))]
pub struct Rules {
    /// Which way the cards go round (rule 2.3).
    pub deal: DealDirection,
    /// Cards dealt to each seat; the starter gets one more (rules 1.2, 2.3).
    pub hand_cards: u8,
    /// The stock's top card is drawn at once where nothing else is legal (rule 3.1).
    pub auto_draw: bool,
    /// A card that could be added to an exposed meld may be dumped (rule 3.6).
    pub dump_addable: bool,
    /// Whose additions to a seat's melds take its right to fight (rule 4.1).
    pub fight_blocked_by: Additions,
    /// A seat that is not open may answer a fight with a secret meld (rule 4.2).
    pub secret_may_challenge: bool,
    /// Who wins among challengers with equal deadwood (rule 4.4).
    pub challengers_tied: ChallengersTied,
    /// What happens when the stock is exhausted and all seats are burned (rule 5.3).
    pub all_burned: AllBurned,
    /// What a loser owes (rules 6.1 to 6.6).
    pub counts: Counts,
    /// How long a phase waits for its seats (rule 8.2).
    pub countdowns: Countdowns,
}

/// Which way the cards go round (rule 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DealDirection {
    /// Against the order of play.
    Clockwise,
    /// In the order of play.
    Counterclockwise,
}

/// Whose additions count (rule 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Additions {
    /// The owner's own too.
    Anyone,
    Opponents,
}

/// Who wins among challengers with equal deadwood (rule 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChallengersTied {
    FirstAfterFighter,
    LastAnswer,
}

/// Who wins when all seats are burned (rule 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllBurned {
    FewestPoints,
    Nobody,
}

/// What a loser owes, in counts (rules 6.1 to 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    pub normal: u32,
    pub tongits: u32,
    /// A card.
    pub special: u32,
    /// A meld.
    pub secret: u32,
    pub challenge: u32,
    pub burned: u32,
}

/// How long a phase waits, in milliseconds (rule 8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Countdowns {
    pub draw_ms: u32,
    pub play_ms: u32,
    pub fight_ms: u32,
}

impl Rules {
    /// The rule set of the product.
    pub const fn kingdom() -> Self {
        Self {
            deal: DealDirection::Clockwise,
            hand_cards: 12,
            auto_draw: true,
            dump_addable: false,
            fight_blocked_by: Additions::Anyone,
            secret_may_challenge: true,
            challengers_tied: ChallengersTied::FirstAfterFighter,
            all_burned: AllBurned::FewestPoints,
            counts: Counts {
                normal: 1,
                tongits: 1,
                special: 1,
                secret: 1,
                challenge: 2,
                burned: 1,
            },
            countdowns: Countdowns { draw_ms: 10_000, play_ms: 20_000, fight_ms: 10_000 },
        }
    }

    /// Whether a game can be dealt by these rules. What comes from a configuration must be asked.
    pub fn check(&self) -> Result<(), BadRules> {
        let Countdowns { draw_ms, play_ms, fight_ms } = self.countdowns;
        if !(1..=HAND_CARDS_MAX).contains(&self.hand_cards) {
            return Err(BadRules::HandCards);
        }
        if draw_ms == 0 || play_ms == 0 || fight_ms == 0 {
            return Err(BadRules::Countdown);
        }
        Ok(())
    }

    /// The most one loser can owe (rule 6.9): the normal count; the dearer of a showdown and a
    /// Tongits that burns; every special card; as many secret melds as fit the longest hand.
    pub fn counts_max(&self) -> u32 {
        let Counts { normal, tongits, special, secret, challenge, burned } = self.counts;
        let special_cards = Card::all().filter(|card| is_special(*card)).map(|_| 1).sum::<u32>();
        let secret_melds = u32::from((self.hand_cards + 1) / SECRET_CARDS_MIN);
        normal + challenge.max(tongits + burned) + special * special_cards + secret * secret_melds
    }
}

/// Aces and kings (rule 6.3).
pub const fn is_special(card: Card) -> bool {
    card.rank().index() == Rank::ACE.index() || card.rank().index() == Rank::KING.index()
}

/// Why no game can be dealt by a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRules {
    HandCards,
    Countdown,
}

impl fmt::Display for BadRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HandCards => write!(f, "hand_cards must be from 1 to {HAND_CARDS_MAX}"),
            Self::Countdown => f.write_str("a countdown must last at least a millisecond"),
        }
    }
}

impl core::error::Error for BadRules {}

#[cfg(test)]
mod tests {
    use super::{BadRules, Rules};

    /// Rule 6.9.
    #[test]
    fn the_most_a_loser_can_owe_in_kingdom_is_fourteen() {
        assert_eq!(Rules::kingdom().counts_max(), 14);
    }

    #[test]
    fn rules_that_cannot_be_dealt_are_refused() {
        assert_eq!(Rules::kingdom().check(), Ok(()));
        let rules = Rules { hand_cards: 17, ..Rules::kingdom() };
        assert_eq!(rules.check(), Err(BadRules::HandCards));
        let mut rules = Rules::kingdom();
        rules.countdowns.fight_ms = 0;
        assert_eq!(rules.check(), Err(BadRules::Countdown));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let mut rules = serde_json::to_value(Rules::kingdom()).unwrap();
        rules["auto_darw"] = true.into();
        assert!(serde_json::from_value::<Rules>(rules).is_err());
    }
}
