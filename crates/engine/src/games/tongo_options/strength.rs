//! The strength of a hand with the face-up cards of a floor and the dice (rules 8.1 and 8.2).
//!
//! Cards and dice of different numbers never match, so each number is matched separately. Within a
//! number every hand card fits every floor card, and at most two dice show it. Therefore the best
//! matching needs no search: all cards of equal suit are paired, which costs no pair and gives the
//! most exact ones; the dice go to the highest suit among these, or among all hand cards if there
//! are none; the remaining cards are paired from the highest hand card down. Tests compare this
//! with a search through all matchings.

use serde::{Deserialize, Serialize};

use crate::games::list::List;
use crate::games::tongo_options::card::{Card, CardSet, NUMBERS, Suit};
use crate::games::tongo_options::rules::{FLOORS, SLOTS};

/// The class of a hand card and a floor card of one number, possibly with dice, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsClass"))]
pub enum Class {
    #[default]
    Pair,
    ExactPair,
    Chain,
    ExactChain,
    Four,
    ExactFour,
}

impl Class {
    /// Returns the classes of a hand card and a floor card of one number with this many dice that
    /// show it: for two suits, and for one.
    pub const fn with_dice(dice: u8) -> [Self; 2] {
        match dice {
            0 => [Self::Pair, Self::ExactPair],
            1 => [Self::Chain, Self::ExactChain],
            _ => [Self::Four, Self::ExactFour],
        }
    }
}

/// A hand card and its matching floor card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsMatch"))]
pub struct Match {
    pub class: Class,
    pub card: Card,
    pub floor: Card,
}

/// The matches of a hand with one floor, which has three cards, in descending order.
pub type Matches = List<Match, { SLOTS as usize }>;

/// The strength of a hand. A greater strength beats a smaller one; equal strengths are equal by
/// every rule but the order of the seats.
///
/// It consists of the classes of the matches in descending order, then their numbers, then their
/// suits. Comparing the classes one by one is equivalent to comparing the number of matches of each
/// class from the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strength(u32);

/// The lowest bit of the class of the highest match.
const CLASS_AT: u32 = 24;

impl Strength {
    /// The strength without any match.
    pub const NOTHING: Self = Self(0);

    /// Returns the class of the highest match.
    pub const fn class(self) -> Option<Class> {
        match self.0 >> CLASS_AT {
            0 => None,
            1 => Some(Class::Pair),
            2 => Some(Class::ExactPair),
            3 => Some(Class::Chain),
            4 => Some(Class::ExactChain),
            5 => Some(Class::Four),
            _ => Some(Class::ExactFour),
        }
    }

    /// Returns the strength of a hand with one floor.
    pub fn from_hand(hand: CardSet, floor: CardSet, dice: &DiceCounts) -> Self {
        // Most hands and floors have no number in common, and many have one.
        let mut common = hand.numbers() & floor.numbers();
        if common == 0 {
            return Self::NOTHING;
        }
        let mut keys = MatchKeys::default();
        while common != 0 {
            let number = 1 + common.trailing_zeros().to_le_bytes()[0];
            common &= common - 1;
            let own = hand.suits_of(number);
            let suits = floor.suits_of(number);
            match_number(own, suits, dice.count_of(number), |class, suit, _| {
                keys.insert(class, number, suit);
            });
        }
        keys.to_strength()
    }
}

/// Returns the matches that make the strength of a hand with one floor.
pub fn matches(hand: CardSet, floor: CardSet, dice: &DiceCounts) -> Matches {
    let mut found = Matches::new();
    for number in (1..=NUMBERS).rev() {
        let own = hand.suits_of(number);
        let suits = floor.suits_of(number);
        match_number(own, suits, dice.count_of(number), |class, suit, floor_suit| {
            let card = |bit: u8| {
                Card::new(number, SUITS_ASCENDING[usize::from(bit)]).expect("a number of a card")
            };
            found.push(Match { class, card: card(suit), floor: card(floor_suit) });
        });
    }
    found.sort_by_key(|one| core::cmp::Reverse((one.class, one.card.number())));
    found
}

/// Returns the best floor for a hand, the lowest among equal ones, with the strength there.
pub fn best_floor(
    hand: CardSet,
    floors: &[CardSet; FLOORS as usize],
    dice: &DiceCounts,
) -> (u8, Strength) {
    let mut best = (0, Strength::NOTHING);
    for (number, floor) in (0..).zip(floors) {
        let strength = Strength::from_hand(hand, *floor, dice);
        if strength > best.1 {
            best = (number, strength);
        }
    }
    best
}

/// The number of dice by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiceCounts([u8; NUMBERS as usize]);

impl DiceCounts {
    pub fn count_of(&self, number: u8) -> u8 {
        self.0[usize::from(number - 1)]
    }
}

impl FromIterator<u8> for DiceCounts {
    fn from_iter<I: IntoIterator<Item = u8>>(values: I) -> Self {
        let mut counts = Self::default();
        for value in values {
            counts.0[usize::from(value - 1)] += 1;
        }
        counts
    }
}

/// The suits in the bit order of [`CardSet::suits_of`].
const SUITS_ASCENDING: [Suit; 4] = [Suit::Clubs, Suit::Spades, Suit::Hearts, Suit::Diamonds];

/// Matches the cards of one number, given by their suits. Passes the class and the suits of the
/// hand card and the floor card of each match to `each`, the highest match first.
fn match_number(hand: u8, floor: u8, dice: u8, mut each: impl FnMut(Class, u8, u8)) {
    let mut exact = hand & floor;
    let mut hand = hand & !exact;
    let mut floor = floor & !exact;
    if dice > 0 && exact != 0 {
        let suit = take_highest(&mut exact);
        each(Class::with_dice(dice)[1], suit, suit);
    } else if dice > 0 && hand != 0 && floor != 0 {
        let suit = take_highest(&mut hand);
        let other = take_highest(&mut floor);
        each(Class::with_dice(dice)[0], suit, other);
    }
    while exact != 0 {
        let suit = take_highest(&mut exact);
        each(Class::ExactPair, suit, suit);
    }
    while hand != 0 && floor != 0 {
        let suit = take_highest(&mut hand);
        let other = take_highest(&mut floor);
        each(Class::Pair, suit, other);
    }
}

/// Clears the highest bit and returns its index.
fn take_highest(bits: &mut u8) -> u8 {
    let highest = 7 - bits.leading_zeros().to_le_bytes()[0];
    *bits &= !(1 << highest);
    highest
}

/// The matches of a strength in descending order, each as one number: class, number, suit.
#[derive(Default)]
struct MatchKeys([u16; SLOTS as usize]);

impl MatchKeys {
    fn insert(&mut self, class: Class, number: u8, suit: u8) {
        let mut key = (class as u16 + 1) << 6 | u16::from(number) << 2 | u16::from(suit);
        for place in &mut self.0 {
            if key > *place {
                core::mem::swap(&mut key, place);
            }
        }
    }

    fn to_strength(&self) -> Strength {
        let [mut classes, mut numbers, mut suits] = [0_u32; 3];
        for key in self.0 {
            classes = classes << 3 | u32::from(key >> 6);
            numbers = numbers << 4 | u32::from(key >> 2 & 0xF);
            suits = suits << 2 | u32::from(key & 3);
        }
        Strength(classes << 18 | numbers << 6 | suits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, DiceCounts, Strength, best_floor, matches};
    use crate::games::tongo_options::card::CardSet;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    fn dice(values: &[u8]) -> DiceCounts {
        values.iter().copied().collect()
    }

    /// Rules 8.1 and 8.2.
    #[test]
    fn strengths_are_ordered_by_the_rules() {
        // In ascending order of strength.
        let ladder: [(&str, &str, &[u8]); 12] = [
            ("AD 2D 3D 4D", "5D 6D 7D", &[1]),
            ("AD 2D 3D 4D", "AH 6D 7D", &[]),
            ("KC 2D 3D 4D", "KH 6D 7D", &[]),
            ("KD 2D 3D 4D", "KH 6D 7D", &[]),
            ("KD 2D 3D 4D", "KH 2H 7D", &[]),
            ("AC 2D 3D 4D", "AC 6D 7D", &[]),
            ("AC 2C 3C 4C", "AD 6D 7D", &[1]),
            ("AC 2C 3C 4C", "AD 2D 7D", &[1]),
            ("AC 2C 3C 4C", "AC 6D 7D", &[1]),
            ("AC KC 3C 4C", "AC KC 7D", &[1]),
            ("AC 2C 3C 4C", "AD 6D 7D", &[1, 1]),
            ("AC 2C 3C 4C", "AC 6D 7D", &[1, 1]),
        ];
        let strengths = ladder.map(|(hand, floor, values)| {
            Strength::from_hand(cards(hand), cards(floor), &dice(values))
        });
        for (place, pair) in strengths.windows(2).enumerate() {
            assert!(pair[0] < pair[1], "{:?} and {:?}", ladder[place], ladder[place + 1]);
        }
        assert_eq!(strengths[0], Strength::NOTHING);
    }

    /// Rule 8.2.
    #[test]
    fn the_lowest_of_equal_floors_is_the_best() {
        let floors = ["", "AH", "AH", "AS", "", "", "", ""].map(cards);
        let found = best_floor(cards("AD 2D 3D 4D"), &floors, &dice(&[]));
        assert_eq!(found, (1, Strength::from_hand(cards("AD"), cards("AH"), &dice(&[]))));
        assert_eq!(best_floor(cards("2D"), &floors, &dice(&[])), (0, Strength::NOTHING));
    }

    #[test]
    fn matches_are_listed_from_the_highest() {
        let found = matches(cards("7D 7H 7C KD"), cards("7H 7S KD"), &dice(&[7]));
        let listed: Vec<String> =
            found.iter().map(|one| format!("{:?} {} {}", one.class, one.card, one.floor)).collect();
        assert_eq!(listed, ["ExactChain 7H 7H", "ExactPair KD KD", "Pair 7D 7S"]);
        assert!(Class::ExactFour > Class::Four && Class::Four > Class::ExactChain);
    }
}
