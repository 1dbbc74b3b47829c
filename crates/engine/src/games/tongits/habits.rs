//! How players are seen to play, as chances: which card they dump, whether they lay what they could,
//! whether they take a discard, whether they fight. It is what a bot takes others' cards to be
//! likely by (`belief`).
//!
//! The numbers were counted and fitted by `examples/tongits_habits.rs` to games of `greedy` and
//! `quick` players, and this file only holds and applies them. They are logarithms of chances, of
//! which [`ONE`] make one; what cannot be is [`NEVER`].

use crate::cards::{Card, CardSet};
use crate::games::tongits::lanes::Lanes;
use crate::games::tongits::meld::{points, same_rank};

/// What one is, in natural logarithms.
pub const ONE: i32 = 64;

/// So unlikely is what the rules do not allow, or a player never did.
pub(super) const NEVER: i32 = -8 * ONE;

/// Kinds of cards of a hand.
pub const KINDS: usize = 24;

/// Deadwood that is told apart, where it is asked who fights: in steps of three points.
pub const DEADWOODS: usize = 14;

/// What was counted.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// How much likelier than others a card of this kind is dumped.
    pub kinds: [i32; KINDS],
    /// The same by its points.
    pub points: [i32; 11],
    /// A turn ends without a meld laid, although the hand still has one: by whether the seat is open
    /// and whether a secret one is among them.
    pub keeps_meld: [[i32; 2]; 2],
    /// A card that the table takes is kept.
    pub keeps_addable: i32,
    /// Who could chow or fight draws instead, by whether it is open.
    pub declines: [i32; 2],
    /// Who may fight does, by how many others are open and by its deadwood.
    pub fights: [[i32; DEADWOODS]; 3],
    /// Who may fight does not.
    pub waits: [[i32; DEADWOODS]; 3],
}

/// Place of a hand's deadwood in the tables.
pub fn deadwood_step(deadwood: u32) -> usize {
    (deadwood as usize).div_ceil(3).min(DEADWOODS - 1)
}

/// What cards a hand holds beside each card: made once for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    hand: Lanes,
    runs: Lanes,
}

impl Neighbours {
    pub fn of(hand: CardSet) -> Self {
        let hand = Lanes::from_cards(hand);
        Self { hand, runs: hand.in_runs() }
    }

    /// The kind of a card of the hand: how many of its rank are there, whether it is in a run, and
    /// what stands next to it in its suit.
    pub fn kind_of(&self, card: Card) -> usize {
        let (Some(rank), Some(suit)) = (card.rank(), card.suit()) else { return 0 };
        let mates = same_rank(card).intersection(self.hand.cards()).len() - 1;
        let place = 16 * suit.index() + rank.index();
        if self.runs.0 >> place & 1 == 1 {
            return 20 + mates;
        }
        // Bits 0 to 4: two below to two above, in the suit.
        let around = u128::from(self.hand.0) << 2 >> place;
        let near = (around >> 1 & 1) + (around >> 3 & 1);
        let far = (around & 1) + (around >> 4 & 1);
        // No two neighbours beside each other: it would be a run.
        let beside = match (near, far) {
            (0, 0) => 0,
            (0, 1) => 1,
            (0, _) => 2,
            (_, 0) => 3,
            (..) => 4,
        };
        5 * mates + beside
    }

    pub fn has_meld(&self) -> bool {
        self.runs.0 != 0 || self.hand.ranks_of_three() != 0
    }
}

impl Habits {
    /// The logarithm of the chance that this card is dumped, and no other of those that may be.
    pub(super) fn dumps(&self, hand: CardSet, may_be: CardSet, card: Card) -> i32 {
        let neighbours = Neighbours::of(hand);
        let score =
            |card: Card| self.kinds[neighbours.kind_of(card)] + self.points[points(card) as usize];
        let own = score(card);
        let sum: u64 = may_be.iter().map(|other| power(score(other) - own)).sum();
        -logarithm(sum)
    }
}

/// What is so likely, of 65,536 times.
pub(super) fn times_in_65_536(of: i32) -> u64 {
    power(of)
}

/// What one is, in [`power`]s.
const POWER_BITS: u32 = 16;

/// `e` to the power, the power in parts of [`ONE`].
fn power(of: i32) -> u64 {
    // As a power of two, in 64 parts: 1,477 / 1,024 is the binary logarithm of e.
    let parts = of * 1_477 / 1_024;
    let whole = parts.div_euclid(64);
    let part = u64::try_from(parts.rem_euclid(64)).expect("a remainder is not negative");
    // Between two powers of two a straight line, which is at most a sixteenth too high.
    let mantissa = (1 << POWER_BITS) + (part << POWER_BITS) / 64;
    let shift = whole.unsigned_abs();
    if whole >= 0 { mantissa << shift.min(30) } else { mantissa >> shift.min(40) }
}

/// The natural logarithm in parts of [`ONE`] of a number of [`power`]s.
fn logarithm(of: u64) -> i32 {
    let of = of.max(1);
    let whole = of.ilog2();
    let part = (u128::from(of) << 6 >> whole) % 64;
    let parts = i64::from(whole) * 64 + i64::try_from(part).expect("it is below 64");
    let parts = parts - i64::from(POWER_BITS) * 64;
    // 710 / 1,024 is the natural logarithm of two.
    i32::try_from(parts * 710 / 1_024).expect("a number of 64 bits has a small logarithm")
}

/// Counted in 20,000 games.
pub(super) static SEEN: Habits = Habits {
    kinds: [
        164, 84, -3, 20, -42, 5, -58, -125, -103, -176, -313, -316, -318, -373, -330, -479, -355,
        -231, -399, -296, -324, -385, -468, -294,
    ],
    points: [0, -355, -241, -190, -152, -104, -63, -16, 31, 65, 94],
    keeps_meld: [[-179, -3], [-3, -3]],
    keeps_addable: -93,
    declines: [-197, -184],
    fights: [
        [-44, -44, -44, -23, -5, -3, -6, -4, -1, -1, -1, -1, -6, -2],
        [-44, -8, -6, -7, -13, -12, -14, -21, -27, -35, -47, -61, -72, -102],
        [-44, -14, -21, -28, -35, -42, -51, -59, -67, -76, -90, -101, -118, -174],
    ],
    waits: [
        [-44, -44, -44, -77, -169, -209, -159, -177, -242, -255, -266, -274, -150, -234],
        [-44, -140, -157, -145, -110, -115, -105, -82, -69, -55, -42, -31, -25, -15],
        [-44, -102, -81, -66, -55, -47, -39, -32, -28, -23, -18, -15, -11, -4],
    ],
};

#[cfg(test)]
mod tests {
    use super::{ONE, SEEN, times_in_65_536};
    use crate::cards::CardSet;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    #[test]
    fn the_chances_of_all_dumps_are_about_one() {
        for hand in ["KS 2C 3C 9D 9H 5S", "AC 2C 3C 4C 7D", "7C 7D 7H 8H 9H TH JS QS", "2D"] {
            let hand = cards(hand);
            let chance = |card| times_in_65_536(SEEN.dumps(hand, hand, card));
            let sum: u64 = hand.iter().map(chance).sum();
            assert!((57_000..75_000).contains(&sum), "{hand}: {sum}");
        }
    }

    #[test]
    fn what_stands_alone_and_is_dear_is_dumped_first() {
        let hand = cards("KS 2C 3C 4C 9D 9H");
        let chance = |text: &str| SEEN.dumps(hand, hand, text.parse().unwrap());
        assert!(chance("KS") > chance("9D") && chance("9D") > chance("2C"));
    }

    #[test]
    fn powers_are_those_of_e() {
        for (of, times) in [(0, 65_536), (-ONE, 24_109), (-2 * ONE, 8_869), (-8 * ONE, 22)] {
            let found = times_in_65_536(of);
            assert!(found * 100 >= times * 93 && found * 100 <= times * 115, "{of}: {found}");
        }
    }
}
