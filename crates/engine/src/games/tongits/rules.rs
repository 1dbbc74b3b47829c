//! The rule sets of Tong-its as values: every parameter and switch of docs/rules/tongits.md in
//! which two rule sets may differ. [`Preset`] has the named ones; an operator may change fields
//! within the limits of [`Rules::check`].
//!
//! Not included: the shape of a meld and the points of a card (rules 1.4, 1.6, 1.9), which define
//! the game and are constants beside the code that depends on them; and bets, fee, POT, crowns and
//! the prepare countdown, which belong to the table.

use core::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cards::{Card, CardSet, Rank};
use crate::document::Document;
use crate::game::{GameRules, RulesError, SeatRange};

/// The game's name in records, rooms and catalogues.
pub(super) const NAME: &str = "tongits";

/// The number of seats at a table of Tong-its (rule 1.1).
pub const SEATS: u8 = 3;

/// The maximum hand size that leaves a stock.
const HAND_CARDS_MAX: u8 = 16;

/// The number of cards in the smallest secret meld, four of one rank (rule 1.6); it bounds the
/// number of secret melds in a hand.
const SECRET_CARDS_MIN: u8 = 4;

/// The number of ranks in a suit and so the length of the longest run.
const RUN_CARDS_MAX: u8 = 13;

/// The maximum count. A higher one is a typing error, and sums of allowed counts cannot overflow.
const COUNT_MAX: u32 = 10_000;

/// A rule set. `Rules::kingdom` is the product's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongitsRules"))]
pub struct Rules {
    /// The direction of the deal (rule 2.3).
    pub deal: DealDirection,
    /// The number of cards dealt to each seat; the starter gets one more (rules 1.2, 2.3).
    pub hand_cards: u8,
    /// `true` if the deck has two jokers (rule 11.1).
    pub jokers: bool,
    /// `true` if the table draws at once for a seat that can do nothing else (rule 3.1).
    pub auto_draw: bool,
    /// `true` if a card that could be added to an exposed meld may be dumped (rule 3.6).
    pub dump_addable: bool,
    /// The number of cards in the shortest run that is a secret meld; 0 if no run is one (rule
    /// 1.6).
    pub secret_run_min: u8,
    /// `true` if a secret meld may be laid face down (rule 3.4).
    pub bahay: bool,
    /// `true` if the drawn fourth card on an own set of three makes a secret meld (rule 10.2).
    pub sagasa: bool,
    /// `true` if Tongits as a seat's very first action takes the POT (rule 10.3).
    pub spread: bool,
    /// The seats whose additions to a seat's melds take its right to fight (rule 4.1).
    pub fight_blocked_by: Additions,
    /// `true` if a seat that is not open may answer a fight with a secret meld (rule 4.2).
    pub secret_may_challenge: bool,
    /// The winner among challengers with equal deadwood (rule 4.4).
    pub challengers_tied: ChallengersTied,
    /// `true` if a fight at zero deadwood wins at once (rule 11.2).
    pub zero_count_fight: bool,
    /// `true` if losers owe for the points by which they exceed the winner (rule 11.3).
    pub variable_payout: bool,
    /// The result if the stock is exhausted and all seats are burned (rule 5.3).
    pub all_burned: AllBurned,
    /// The debts of a loser (rules 6.1 to 6.6, or 10.1).
    pub counts: Counts,
    /// The time limit of each phase (rule 8.2).
    pub countdowns: Countdowns,
}

/// The direction of the deal (rule 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DealDirection {
    /// Against the order of play.
    Clockwise,
    /// In the order of play.
    Counterclockwise,
}

/// The seats whose additions count (rule 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Additions {
    /// All seats, including the owner of the meld.
    Anyone,
    Opponents,
}

/// The winner among challengers with equal deadwood (rule 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChallengersTied {
    FirstAfterFighter,
    LastAnswer,
}

/// The winner if all seats are burned (rule 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllBurned {
    FewestPoints,
    Nobody,
}

/// The debts of a loser, in counts. The two variants are distinguished by their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Counts {
    /// The sum of the items that make up the win.
    Items(ItemCounts),
    /// A number for each ending.
    Endings(EndingCounts),
}

// serde would decode a copy of the value by code that nothing else uses.
impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counts = Document::deserialize(deserializer)?;
        let items = counts.clone().read().map(Self::Items);
        let counts = items.or_else(|_| counts.read().map(Self::Endings));
        counts.map_err(|_| D::Error::custom("counts are those of items, or those of endings"))
    }
}

/// The debts of a loser by item, in counts (rules 6.1 to 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemCounts {
    pub normal: u32,
    pub tongits: u32,
    /// Per special card.
    pub special: u32,
    /// Per secret meld.
    pub secret: u32,
    pub challenge: u32,
    pub burned: u32,
}

/// The debts of a loser by ending, in counts (rules 10.1, 11.2, 11.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndingCounts {
    /// For Tongits and for a Spread.
    pub tongits: u32,
    /// For a fight that nobody challenged.
    pub fight: u32,
    /// For a fight that somebody challenged, whoever won it.
    pub challenge: u32,
    pub stock: u32,
    pub zero_count_fight: u32,
    /// Additionally owed by a burned loser, unless the winner is burned too.
    pub burned: u32,
    /// Per secret meld, after Tongits and Spread only.
    pub secret: u32,
    /// The number of points per additional count of a variable payout.
    pub variable_points: u32,
}

/// The time limits of the phases, in milliseconds (rule 8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Countdowns {
    pub draw_ms: u32,
    pub play_ms: u32,
    pub fight_ms: u32,
}

/// A named rule set, with its requirements for the table's POT (rule 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub rules: Rules,
    /// The number of consecutive wins that take the POT.
    pub hits_to_win: u8,
    /// The additional counts that each loser owes for the second consecutive win; 0 if that win
    /// takes the POT.
    pub second_hit_bonus: u32,
}

impl Preset {
    pub const ALL: [Self; 3] = [
        Self { name: "kingdom", rules: Rules::kingdom(), hits_to_win: 2, second_hit_bonus: 0 },
        Self { name: "classic", rules: Rules::classic(), hits_to_win: 3, second_hit_bonus: 1 },
        Self { name: "joker", rules: Rules::joker(), hits_to_win: 3, second_hit_bonus: 1 },
    ];
}

impl GameRules for Rules {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn seats(&self) -> SeatRange {
        SeatRange::exactly(SEATS)
    }

    /// Returns the maximum debt of one loser, in counts (rule 6.9). The bonus for a second hit
    /// belongs to the table and is not included.
    fn counts_max(&self, _seats: u8) -> u32 {
        let secret_melds = u32::from((self.hand_cards + 1) / SECRET_CARDS_MIN);
        match &self.counts {
            Counts::Items(counts) => self.items_max(counts, secret_melds),
            Counts::Endings(counts) => self.endings_max(counts, secret_melds),
        }
    }

    fn may_have_short_stakes(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), RulesError> {
        let endings = match &self.counts {
            Counts::Items(_) => None,
            Counts::Endings(endings) => Some(endings),
        };
        let secret_run = self.secret_run_min == 0
            || (SECRET_CARDS_MIN..=RUN_CARDS_MAX).contains(&self.secret_run_min);
        let variable_points = endings.map_or(1, |endings| endings.variable_points);
        let are_bounded = self.counts.all_counts().into_iter().all(|count| count <= COUNT_MAX);
        let last = *self.countdown_ms().start() > 0;
        let has_endings = endings.is_some();
        let sagasa = "sagasa needs counts by ending, as classic has them";
        let zero_count_fight = "zero_count_fight needs counts by ending, as classic has them";
        let variable_payout = "variable_payout needs counts by ending, as classic has them";
        let require = RulesError::require;
        RulesError::require_in_range("hand_cards", self.hand_cards, 1..=HAND_CARDS_MAX)?;
        require(secret_run, "secret_run_min", "secret_run_min must be 0 or from 4 to 13")?;
        require(!self.sagasa || has_endings, "sagasa", sagasa)?;
        require(!self.zero_count_fight || has_endings, "zero_count_fight", zero_count_fight)?;
        require(!self.variable_payout || has_endings, "variable_payout", variable_payout)?;
        require(are_bounded, "counts", "counts must be at most 10000 each")?;
        RulesError::require_in_range("counts.variable_points", variable_points, 1..=COUNT_MAX)?;
        require(last, "countdowns", "countdowns must last at least a millisecond each")
    }

    fn countdown_ms(&self) -> RangeInclusive<u32> {
        let Countdowns { draw_ms, play_ms, fight_ms } = self.countdowns;
        draw_ms.min(play_ms).min(fight_ms)..=draw_ms.max(play_ms).max(fight_ms)
    }
}

impl Rules {
    /// Returns the product's rule set.
    pub const fn kingdom() -> Self {
        Self {
            deal: DealDirection::Clockwise,
            hand_cards: 12,
            jokers: false,
            auto_draw: true,
            dump_addable: false,
            secret_run_min: 5,
            bahay: false,
            sagasa: false,
            spread: false,
            fight_blocked_by: Additions::Anyone,
            secret_may_challenge: true,
            challengers_tied: ChallengersTied::FirstAfterFighter,
            zero_count_fight: false,
            variable_payout: false,
            all_burned: AllBurned::FewestPoints,
            counts: Counts::Items(ItemCounts {
                normal: 1,
                tongits: 1,
                special: 1,
                secret: 1,
                challenge: 2,
                burned: 1,
            }),
            countdowns: Countdowns { draw_ms: 10_000, play_ms: 20_000, fight_ms: 10_000 },
        }
    }

    /// Returns the rules of the game as commonly played without special cards (rules 10.1 to 10.4).
    pub const fn classic() -> Self {
        Self {
            deal: DealDirection::Counterclockwise,
            dump_addable: true,
            secret_run_min: 0,
            bahay: true,
            sagasa: true,
            spread: true,
            fight_blocked_by: Additions::Opponents,
            secret_may_challenge: false,
            challengers_tied: ChallengersTied::LastAnswer,
            counts: Counts::Endings(EndingCounts {
                tongits: 3,
                fight: 1,
                challenge: 3,
                stock: 1,
                zero_count_fight: 3,
                burned: 1,
                secret: 3,
                variable_points: 10,
            }),
            ..Self::kingdom()
        }
    }

    /// Returns `classic` with two jokers, zero-count fight and variable payout (chapter 11).
    pub const fn joker() -> Self {
        Self { jokers: true, zero_count_fight: true, variable_payout: true, ..Self::classic() }
    }

    /// Returns the deck (rules 1.12, 11.1).
    pub const fn deck(&self) -> CardSet {
        if self.jokers { CardSet::ALL } else { CardSet::STANDARD }
    }

    /// Returns the number of cards in the deck.
    pub const fn deck_count(&self) -> u8 {
        if self.jokers { Card::COUNT } else { Card::STANDARD_COUNT }
    }

    /// Sums the normal count, the higher of a showdown and a Tongits that burns, every special
    /// card, and as many secret melds as fit the longest hand.
    fn items_max(&self, counts: &ItemCounts, secret_melds: u32) -> u32 {
        let ItemCounts { normal, tongits, special, secret, challenge, burned } = *counts;
        let special_cards = Card::all().filter(|card| is_special(*card)).map(|_| 1).sum::<u32>();
        let special_cards = special_cards.min(u32::from(self.hand_cards) + 1);
        normal + challenge.max(tongits + burned) + special * special_cards + secret * secret_melds
    }

    /// Returns the debt for the most expensive ending.
    fn endings_max(&self, counts: &EndingCounts, secret_melds: u32) -> u32 {
        let EndingCounts { tongits, fight, challenge, stock, zero_count_fight, .. } = *counts;
        let EndingCounts { burned, secret, variable_points, .. } = *counts;
        let variable =
            |points: u32| if self.variable_payout { points / variable_points } else { 0 };
        // A burned hand has no four of one rank, and its leftover cards have no three. A
        // participant in a showdown has laid at least three cards, or holds four that are secret.
        let burned_more = burned + variable(points_max(self.hand_cards, 3));
        let shown_more = variable(points_max(self.hand_cards.saturating_sub(3), 2));
        let zero = if self.zero_count_fight { zero_count_fight + burned_more } else { 0 };
        (tongits + burned + secret * secret_melds)
            .max(fight + burned)
            .max(challenge + burned.max(shown_more))
            .max(stock + burned_more)
            .max(zero)
    }
}

impl Counts {
    fn all_counts(&self) -> [u32; 7] {
        match *self {
            Self::Items(ItemCounts { normal, tongits, special, secret, challenge, burned }) => {
                [normal, tongits, special, secret, challenge, burned, 0]
            }
            Self::Endings(EndingCounts {
                tongits,
                fight,
                challenge,
                stock,
                zero_count_fight,
                burned,
                secret,
                variable_points: _,
            }) => [tongits, fight, challenge, stock, zero_count_fight, burned, secret],
        }
    }
}

/// Returns the maximum points of `cards` cards with at most `same` of one rank.
fn points_max(cards: u8, same: u8) -> u32 {
    let mut left = cards;
    let mut sum = 0;
    for rank in (0..RUN_CARDS_MAX).rev() {
        let taken = left.min(same);
        left -= taken;
        sum += u32::from(taken) * u32::from((rank + 1).min(10));
    }
    sum
}

/// Returns whether a card is an ace or a king (rule 6.3); a joker never is (rule 11.1).
pub const fn is_special(card: Card) -> bool {
    match card.rank() {
        Some(rank) => rank.index() == Rank::ACE.index() || rank.index() == Rank::KING.index(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Rules};
    use crate::game::GameRules;
    use crate::games::tests::{InvalidField, check_invalid_fields};

    /// Rule 6.9; the table's terms add the bonus for a second hit.
    #[test]
    fn the_most_a_loser_can_owe() {
        assert_eq!(Rules::kingdom().counts_max(3), 14);
        assert_eq!(Rules::classic().counts_max(3), 13);
        assert_eq!(Rules::joker().counts_max(3), 16);
        let with = |change: fn(&mut Rules)| {
            let mut rules = Rules::joker();
            change(&mut rules);
            rules.counts_max(3)
        };
        assert_eq!(with(|rules| rules.zero_count_fight = false), 14, "stock exhausted, burned");
        assert_eq!(with(|rules| rules.variable_payout = false), 13, "Tongits, three secrets");
        assert_eq!(with(|rules| rules.jokers = false), 16);
        assert_eq!(with(|rules| rules.counts = Rules::kingdom().counts), 14);
    }

    #[test]
    fn invalid_rules_are_rejected_with_the_field_name() {
        let changes: &[InvalidField<Rules>] = &[
            ("hand_cards", |rules| rules.hand_cards = 17),
            ("hand_cards", |rules| rules.hand_cards = 0),
            ("secret_run_min", |rules| rules.secret_run_min = 3),
            ("secret_run_min", |rules| rules.secret_run_min = 14),
            ("sagasa", |rules| rules.sagasa = true),
            ("zero_count_fight", |rules| rules.zero_count_fight = true),
            ("variable_payout", |rules| rules.variable_payout = true),
            ("counts", |rules| {
                if let Counts::Items(counts) = &mut rules.counts {
                    counts.normal = u32::MAX;
                }
            }),
            ("counts", |rules| {
                rules.counts = Rules::classic().counts;
                if let Counts::Endings(counts) = &mut rules.counts {
                    counts.secret = 10_001;
                }
            }),
            ("counts.variable_points", |rules| {
                rules.counts = Rules::classic().counts;
                if let Counts::Endings(counts) = &mut rules.counts {
                    counts.variable_points = 0;
                }
            }),
            ("countdowns", |rules| rules.countdowns.fight_ms = 0),
            ("countdowns", |rules| rules.countdowns.draw_ms = 0),
        ];
        for error in check_invalid_fields(Rules::kingdom(), changes) {
            assert!(error.message.starts_with(&*error.field), "{error}");
        }
    }
}
