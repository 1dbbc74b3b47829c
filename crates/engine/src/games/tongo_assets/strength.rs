//! The rank of a hand (rule 5) including wilds, computed without trying substitutions.
//!
//! A hand is two words of 49 bits, one for each copy, and a number of wilds. A group is the mask of
//! the seven assets of one number or of one colour. A class requires a number of cards of a group;
//! wilds replace the missing ones, and one more wild may replace a card to reach a higher number or
//! colour. The tests compare this with every substitution.

use core::cmp::{Ordering, Reverse};

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::card::{CardSet, Colour, NUMBERS, TYPES};
use crate::games::tongo_assets::rules::HAND_MAX;

/// The classes of hands in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsClass"))]
pub enum Class {
    #[default]
    Nothing,
    /// Two cards of one number or colour.
    Reserve,
    /// Five cards of one number or colour.
    Treasury,
    /// Two different pairs of identical cards.
    MaterialContinuum,
    /// A Monopoly or a Full Consortium with wilds.
    Consortium,
    /// Seven cards of one number or colour without wilds.
    FullConsortium,
    /// 1 to 7 of one colour, or one number in all seven colours, without wilds.
    Monopoly,
    /// All seven numbers and all seven colours, one each, without wilds.
    FullMonopoly,
}

impl Class {
    pub const ALL: [Self; 8] = [
        Self::Nothing,
        Self::Reserve,
        Self::Treasury,
        Self::MaterialContinuum,
        Self::Consortium,
        Self::FullConsortium,
        Self::Monopoly,
        Self::FullMonopoly,
    ];

    /// Returns the class's display name.
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Reserve => "a Reserve",
            Self::Treasury => "a Treasury",
            Self::MaterialContinuum => "a Material Continuum",
            Self::Consortium => "a Consortium",
            Self::FullConsortium => "a Full Consortium",
            Self::Monopoly => "a Monopoly",
            Self::FullMonopoly => "a Full Monopoly",
        }
    }
}

/// The rank of a hand, with its criteria in order of precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsReading"))]
pub struct HandRank {
    pub class: Class,
    /// The highest number among the cards of the class; 0 for nothing.
    pub number: u8,
    /// The best colour in which these cards have that number.
    pub colour: Option<Colour>,
    /// The number of wilds among these cards; fewer are better.
    pub wilds: u8,
}

impl HandRank {
    /// Returns the best rank of a hand.
    pub fn from_hand(hand: CardSet) -> Self {
        NaturalCards::from_hand(hand).best_rank()
    }
}

impl Ord for HandRank {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |reading: &Self| {
            let colour = reading.colour.map(|colour| Reverse(colour.index()));
            (reading.class, reading.number, colour, Reverse(reading.wilds))
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for HandRank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the maximum number of cards of one number or colour, including wilds, as a measure of
/// progress.
pub fn largest_group(hand: CardSet) -> u8 {
    let natural = NaturalCards::from_hand(hand);
    groups().map(|group| natural.count(group)).max().unwrap_or(0) + natural.wilds
}

/// The mask of the types of assets, each with the bit colour × 7 + number − 1.
const TYPE_BITS: u64 = (1 << TYPES) - 1;

/// The mask of red, the best colour.
const RED: u64 = colour_bits(0);

/// Returns the mask of a colour.
const fn colour_bits(colour: u8) -> u64 {
    ((1 << NUMBERS) - 1) << (colour * NUMBERS)
}

/// Returns the mask of a number, counted from 0.
const fn number_bits(number: u8) -> u64 {
    let mut bits = 0;
    let mut colour = 0;
    while colour < NUMBERS {
        bits |= 1 << (colour * NUMBERS + number);
        colour += 1;
    }
    bits
}

/// Iterates over the masks of all colours and numbers.
fn groups() -> impl Iterator<Item = u64> {
    (0..NUMBERS).flat_map(|place| [colour_bits(place), number_bits(place)])
}

/// A hand without its wilds, and their number.
#[derive(Clone, Copy, Debug)]
struct NaturalCards {
    first: u64,
    second: u64,
    wilds: u8,
}

impl NaturalCards {
    const fn from_hand(hand: CardSet) -> Self {
        let (first, second) = hand.copies();
        Self { first, second, wilds: hand.wilds().count() }
    }

    const fn all_types(self) -> u64 {
        self.first | self.second
    }

    const fn count(self, group: u64) -> u8 {
        let first = (self.first & group).count_ones();
        let second = (self.second & group).count_ones();
        (first + second).to_le_bytes()[0]
    }

    fn best_rank(self) -> HandRank {
        let naturals = self.count(TYPE_BITS);
        let seven = naturals + self.wilds >= HAND_MAX;
        let seven = if seven && self.wilds == 0 {
            self.full_monopoly().or_else(|| self.seven_natural())
        } else if seven {
            self.rank_of_group(Class::Consortium, HAND_MAX)
        } else {
            None
        };
        seven
            .or_else(|| self.material_continuum())
            .or_else(|| self.rank_of_group(Class::Treasury, 5))
            .or_else(|| self.rank_of_group(Class::Reserve, 2))
            .unwrap_or_default()
    }

    /// Ranks seven cards with every number once and every colour once.
    fn full_monopoly(self) -> Option<HandRank> {
        let is_full = groups().all(|group| self.count(group) == 1);
        is_full.then(|| natural_rank(Class::FullMonopoly, self.all_types()))
    }

    /// Ranks seven cards of one group: a Monopoly if all differ.
    fn seven_natural(self) -> Option<HandRank> {
        let group = groups().find(|group| self.count(*group) == HAND_MAX)?;
        let all_differ = self.all_types() & group == group;
        let class = if all_differ { Class::Monopoly } else { Class::FullConsortium };
        Some(natural_rank(class, self.all_types()))
    }

    /// Ranks two different types that both occur twice: the first type from the top for which the
    /// wilds suffice.
    fn material_continuum(self) -> Option<HandRank> {
        let pairs = self.first & self.second;
        let singles = self.first ^ self.second;
        if self.wilds == 0 && pairs.count_ones() < 2 {
            return None;
        }
        for number in (0..NUMBERS).rev() {
            for colour in Colour::ALL {
                let one = 1_u64 << (colour.index() * NUMBERS + number);
                let other = cheapest_pair_cost(pairs & !one, singles & !one);
                let wilds = cheapest_pair_cost(pairs & one, singles & one) + other;
                if wilds <= self.wilds {
                    let class = Class::MaterialContinuum;
                    let number = number + 1;
                    return Some(HandRank { class, number, colour: Some(colour), wilds });
                }
            }
        }
        None
    }

    /// Returns the best rank of `wanted` cards of one number or one colour.
    fn rank_of_group(self, class: Class, wanted: u8) -> Option<HandRank> {
        let mut best = None;
        for place in 0..NUMBERS {
            best = best.max(self.rank_of_number(class, wanted, place)).max(self.rank_of_colour(
                class,
                wanted,
                Colour::ALL[usize::from(place)],
            ));
        }
        best
    }

    fn rank_of_number(self, class: Class, wanted: u8, number: u8) -> Option<HandRank> {
        let group = number_bits(number);
        let missing = self.wilds_needed(group, wanted)?;
        let natural_best = best_colour(self.all_types() & group);
        let has_red = self.all_types() & group & RED != 0;
        let wilds = if has_red || self.wilds == 0 { missing } else { missing.max(1) };
        let colour = if wilds > 0 { Some(Colour::Red) } else { natural_best };
        Some(HandRank { class, number: number + 1, colour, wilds })
    }

    fn rank_of_colour(self, class: Class, wanted: u8, colour: Colour) -> Option<HandRank> {
        let group = colour_bits(colour.index());
        let missing = self.wilds_needed(group, wanted)?;
        let highest = highest_number(self.all_types() & group);
        let wilds = if highest == NUMBERS || self.wilds == 0 { missing } else { missing.max(1) };
        let number = if wilds > 0 { NUMBERS } else { highest };
        Some(HandRank { class, number, colour: Some(colour), wilds })
    }

    /// Returns the number of wilds needed for `wanted` cards of a group; `None` if there are too
    /// few wilds.
    fn wilds_needed(self, group: u64, wanted: u8) -> Option<u8> {
        let missing = wanted.saturating_sub(self.count(group));
        (missing <= self.wilds).then_some(missing)
    }
}

/// Returns the number of wilds for the cheapest pair, given the types that occur twice and once.
const fn cheapest_pair_cost(pairs: u64, singles: u64) -> u8 {
    if pairs != 0 {
        0
    } else if singles != 0 {
        1
    } else {
        2
    }
}

/// Returns the rank without wilds in which all these types take part.
fn natural_rank(class: Class, types: u64) -> HandRank {
    let number = highest_number(types);
    let colour = best_colour(types & number_bits(number.saturating_sub(1)));
    HandRank { class, number, colour, wilds: 0 }
}

/// Returns the highest number among these types; 0 for none.
fn highest_number(types: u64) -> u8 {
    (0..NUMBERS)
        .rev()
        .find(|number| types & number_bits(*number) != 0)
        .map_or(0, |number| number + 1)
}

/// Returns the best colour among these types.
fn best_colour(types: u64) -> Option<Colour> {
    Colour::ALL.into_iter().find(|colour| types & colour_bits(colour.index()) != 0)
}

#[cfg(test)]
mod tests {
    use super::{Class, HandRank};
    use crate::games::tongo_assets::card::{CardSet, Colour};

    fn rank_of(text: &str) -> (Class, u8, Option<Colour>, u8) {
        let hand: CardSet = text.split(' ').map(|card| card.parse().unwrap()).collect();
        let HandRank { class, number, colour, wilds } = HandRank::from_hand(hand);
        (class, number, colour, wilds)
    }

    /// Rule 5.
    #[test]
    fn hands_are_read_as_the_rules_page_says() {
        use Class::{
            Consortium, FullConsortium, FullMonopoly, MaterialContinuum, Monopoly, Nothing,
            Reserve, Treasury,
        };
        use Colour::{Black, Blue, Green, Red};
        for (hand, expected) in [
            ("1Ra 2Ba 3Ya 4Ga 5Pa 6Oa 7Ka", (FullMonopoly, 7, Some(Black), 0)),
            ("1Ra 2Ra 3Ra 4Ra 5Ra 6Ra 7Rb", (Monopoly, 7, Some(Red), 0)),
            ("3Ra 3Ba 3Ya 3Ga 3Pa 3Oa 3Ka", (Monopoly, 3, Some(Red), 0)),
            ("3Ba 3Bb 3Ya 3Ga 3Pa 3Oa 3Ka", (FullConsortium, 3, Some(Blue), 0)),
            ("1Ga 1Gb 2Ga 2Gb 4Ga 5Ga 6Ga", (FullConsortium, 6, Some(Green), 0)),
            ("1Ra 2Ra 3Ra 4Ra 5Ra 6Ra W0", (Consortium, 7, Some(Red), 1)),
            ("3Ba 3Bb 3Ya 3Ga 3Pa 3Oa W0", (Consortium, 3, Some(Red), 1)),
            ("4Ga W0 W1 W2 W3 W4 W5", (Consortium, 7, Some(Green), 6)),
            ("7Ga W0 W1 W2 W3 W4 W5", (Consortium, 7, Some(Red), 6)),
            ("1Ra 1Ba W0 W1 W2 W3 W4", (Consortium, 1, Some(Red), 5)),
            ("W0 W1 W2 W3 W4 W5 W6", (Consortium, 7, Some(Red), 7)),
            ("7Ra 7Rb 3Ba 3Bb 1Ka 2Ya 5Pa", (MaterialContinuum, 7, Some(Red), 0)),
            ("7Ra 3Ba 3Bb W0 1Ka 2Ya 5Pa", (MaterialContinuum, 7, Some(Red), 1)),
            ("2Ra 3Ba W0 W1", (MaterialContinuum, 3, Some(Blue), 2)),
            ("2Ra W0 W1 W2", (MaterialContinuum, 7, Some(Red), 3)),
            ("1Ra 2Ba W0 W1 W2 W3 W4", (MaterialContinuum, 7, Some(Red), 3)),
            ("1Ra 2Ra 3Ra 4Ra 5Ra 6Ba 6Ya", (Treasury, 5, Some(Red), 0)),
            ("1Ra 2Ra 3Ra 4Ra W0", (Treasury, 7, Some(Red), 1)),
            ("7Ba 1Ba 2Ba 3Ba 4Ba W0", (Treasury, 7, Some(Blue), 0)),
            ("7Ba 6Ya", (Nothing, 0, None, 0)),
            ("7Ba 6Ba", (Reserve, 7, Some(Blue), 0)),
            ("6Ba W0", (Reserve, 7, Some(Blue), 1)),
            ("W0", (Nothing, 0, None, 0)),
            ("W0 W1", (Reserve, 7, Some(Red), 2)),
        ] {
            assert_eq!(rank_of(hand), expected, "{hand}");
        }
    }

    #[test]
    fn a_better_class_wins_then_number_colour_and_fewer_wilds() {
        let better = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| {
                HandRank::from_hand(text.split(' ').map(|card| card.parse().unwrap()).collect())
            });
            assert!(one > other, "{one:?} {other:?}");
        };
        better("7Ba 6Ba", "6Ra 5Ra");
        better("7Ra 6Ra", "7Ba 6Ba");
        better("7Ra 6Ra", "6Ra W0");
        better("1Ra 2Ra 3Ra 4Ra 5Ra", "7Ra 7Ba");
    }
}
