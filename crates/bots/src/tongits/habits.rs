//! A statistical model of players, as log-probabilities: which card they dump, whether they lay a
//! meld that they hold, whether they take a discard, and whether they fight. `belief` uses it to
//! weigh the hands of the others.
//!
//! `habit_tables` holds the parameters of `greedy` and `quick` players; this module applies them.
//! Values are natural logarithms in units of 1 / [`ONE`]; an impossible action has [`NEVER`].

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::games::tongits::analysis::{Lanes, for_each_chow};
use bahay_engine::games::tongits::deadwood;

/// One, as a natural logarithm.
pub const ONE: i32 = 64;

/// The log-probability of an action that the rules forbid or that a player was never seen to take.
pub(super) const NEVER: i32 = -8 * ONE;

/// The number of kinds of cards within a hand.
const KINDS: usize = 24;

/// The number of stages of a game, by the size of the stock.
pub const STAGES: usize = 3;

/// The number of weights for ranks: one set for each stage and for open and closed seats.
const RANKS: usize = 2 * STAGES * 13;

/// The numbers of classes of unseen cards that would complete a set, and a run.
const SET_OUTS: usize = 3;
const RUN_OUTS: usize = 5;

/// The numbers of classes of visible cards of the same rank, and of visible cards close to it in
/// its suit.
const MATES_SEEN: usize = 4;
const NEAR_SEEN: usize = 5;

/// The number of traits that describe a card in the model of dumps. Each trait selects one weight.
pub const TRAITS: usize = 6;

/// The offset of each trait's weights.
const FROM: [usize; TRAITS] = [
    0,
    KINDS,
    KINDS + RANKS,
    KINDS + RANKS + SET_OUTS,
    KINDS + RANKS + SET_OUTS + RUN_OUTS,
    KINDS + RANKS + SET_OUTS + RUN_OUTS + MATES_SEEN,
];

/// The number of weights of all traits.
pub const DUMP_WEIGHTS: usize = FROM[TRAITS - 1] + NEAR_SEEN;

/// The number of classes of deadwood in the model of fights, in steps of three points.
pub const DEADWOODS: usize = 14;

/// The number of classes of the deadwood that a chow removes: none, fewer than ten points, or more.
pub const GAINS: usize = 3;

/// The number of set bits of each five-bit value.
const ONES: [u8; 32] = {
    let mut ones = [0; 32];
    let mut bits = 1;
    while bits < ones.len() {
        ones[bits] = ones[bits / 2] + bits.to_le_bytes()[0] % 2;
        bits += 1;
    }
    ones
};

fn count_five_bits(five_bits: u64) -> usize {
    let [bits, ..] = five_bits.to_le_bytes();
    usize::from(ONES[usize::from(bits)])
}

/// The parameters of one kind of player.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// The weight of each trait in the log-probability of a dump.
    pub dumps: [i32; DUMP_WEIGHTS],
    /// Ending a turn without laying a meld although the hand holds one: by stage, by whether the
    /// seat is open, and by whether a secret meld is among them.
    pub keeps_meld: [[[i32; 2]; 2]; STAGES],
    /// Keeping a card that the table would take.
    pub keeps_addable: i32,
    /// Drawing instead of chowing, by whether the seat is open and by the deadwood that a chow
    /// removes.
    pub declines: [[i32; GAINS]; 2],
    /// Chowing, by the same.
    pub chows: [[i32; GAINS]; 2],
    /// Fighting if allowed, by stage, by the number of other open seats, and by the deadwood.
    pub fights: [[[i32; DEADWOODS]; 3]; STAGES],
    /// Not fighting although allowed, by the same.
    pub waits: [[[i32; DEADWOODS]; 3]; STAGES],
}

/// Returns the class of a hand's deadwood.
pub fn deadwood_bucket(deadwood: u32) -> usize {
    (deadwood as usize).div_ceil(3).min(DEADWOODS - 1)
}

/// Returns the stage of a game with this many cards in the stock.
pub const fn stage(stock: u8) -> usize {
    match stock {
        0..=4 => 0,
        5..=9 => 1,
        _ => 2,
    }
}

/// Returns the class of the deadwood that the best chow removes.
pub fn gain_bucket(hand: CardSet, discard: Card) -> usize {
    let now = deadwood(hand);
    let mut gain = 0;
    for_each_chow(hand, discard, |cards| {
        gain = gain.max(now.saturating_sub(deadwood(hand.difference(cards))));
    });
    match gain {
        0 => 0,
        1..=9 => 1,
        _ => 2,
    }
}

/// The cards near each card of a hand, in it and on the table, precomputed for all cards of the
/// hand.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    hand: Lanes,
    runs: Lanes,
    /// The cards visible to all seats.
    seen: Lanes,
    /// The unseen cards that complete a run with two cards of the hand.
    run_outs: u64,
    ranks: usize,
}

impl Neighbours {
    /// Precomputes the neighbourhoods of a hand. `seen` are the cards visible to all seats, `stock`
    /// is the size of the stock.
    pub fn new(hand: CardSet, seen: CardSet, stock: u8, is_open: bool) -> Self {
        let hand = Lanes::from_cards(hand);
        let seen = Lanes::from_cards(seen);
        let cards = hand.0;
        let up = cards << 1;
        let down = cards >> 1;
        let completing = up & cards << 2 | up & down | down & cards >> 2;
        Self {
            hand,
            runs: hand.run_cards(),
            seen,
            run_outs: completing & Lanes::ALL & !cards & !seen.0,
            ranks: (2 * stage(stock) + usize::from(is_open)) * 13,
        }
    }

    /// Returns the indices of the weights of a card of the hand.
    pub fn traits_of(&self, card: Card) -> [usize; TRAITS] {
        let (Some(rank), Some(suit)) = (card.rank(), card.suit()) else { return FROM };
        let place = 16 * suit.index() + rank.index();
        let of_rank = |cards: Lanes| cards.count_of_rank(u32::from(rank.index())) as usize;
        let mates = of_rank(self.hand) - 1;
        let mates_seen = of_rank(self.seen);
        // Bits 0 to 4 stand for two ranks below to two ranks above, in the suit. The three highest
        // bits of a lane stand for no card.
        let around = |cards: u64| cards << 2 >> place & 0b11111;
        let kind = if self.runs.0 >> place & 1 == 1 {
            20 + mates
        } else {
            let around = around(self.hand.0);
            let near = (around >> 1 & 1) + (around >> 3 & 1);
            let far = (around & 1) + (around >> 4 & 1);
            // Two adjacent neighbours cannot occur, because they would form a run.
            5 * mates
                + match (near, far) {
                    (0, 0) => 0,
                    (0, 1) => 1,
                    (0, _) => 2,
                    (_, 0) => 3,
                    (..) => 4,
                }
        };
        let set_outs = if mates == 0 { 0 } else { 3 - mates.min(3) - mates_seen.min(3 - mates) };
        let run_outs = count_five_bits(around(self.run_outs));
        let near_seen = count_five_bits(around(self.seen.0));
        [
            kind,
            FROM[1] + self.ranks + usize::from(rank.index()),
            FROM[2] + set_outs.min(SET_OUTS - 1),
            FROM[3] + run_outs.min(RUN_OUTS - 1),
            FROM[4] + mates_seen.min(MATES_SEEN - 1),
            FROM[5] + near_seen.min(NEAR_SEEN - 1),
        ]
    }

    pub(super) fn has_meld_without(&self, card: Card) -> bool {
        let left = Lanes::from_cards(self.hand.cards().without(card));
        left.run_cards().0 != 0 || left.ranks_of_three() != 0
    }
}

impl Habits {
    /// Returns the log-probability that this card is dumped, among those that may be.
    pub(super) fn dump_log_probability(
        &self,
        neighbours: &Neighbours,
        may_be: CardSet,
        card: Card,
    ) -> i32 {
        let own = self.score(neighbours, card);
        let score = |card| self.score(neighbours, card);
        let sum: u64 = may_be.iter().map(|other| exp_fixed(score(other) - own)).sum();
        -ln_fixed(sum)
    }

    /// Returns the unnormalized log-probability of dumping this card.
    pub(super) fn score(&self, neighbours: &Neighbours, card: Card) -> i32 {
        neighbours.traits_of(card).iter().map(|place| self.dumps[*place]).sum()
    }
}

/// The number of fractional bits of [`exp_fixed`].
const POWER_BITS: u32 = 16;

/// Returns the exponential of `exponent`, which is in units of 1 / [`ONE`], with [`POWER_BITS`]
/// fractional bits.
pub(super) fn exp_fixed(exponent: i32) -> u64 {
    // The conversion to a power of two in 64ths: 1,477 / 1,024 is the binary logarithm of e.
    let parts = exponent * 1_477 / 1_024;
    let whole = parts.div_euclid(64);
    let part = u64::try_from(parts.rem_euclid(64)).expect("a remainder is not negative");
    // Linear interpolation between powers of two exceeds the true value by at most a sixteenth.
    let mantissa = (1 << POWER_BITS) + (part << POWER_BITS) / 64;
    let shift = whole.unsigned_abs();
    if whole >= 0 { mantissa << shift.min(30) } else { mantissa >> shift.min(40) }
}

/// Returns the natural logarithm of a number with [`POWER_BITS`] fractional bits, in units of 1 /
/// [`ONE`].
fn ln_fixed(number: u64) -> i32 {
    let number = number.max(1);
    let whole = number.ilog2();
    let part = (u128::from(number) << 6 >> whole) % 64;
    let parts = i64::from(whole) * 64 + i64::try_from(part).expect("a remainder is below 64");
    let parts = parts - i64::from(POWER_BITS) * 64;
    // 710 / 1,024 is the natural logarithm of two.
    i32::try_from(parts * 710 / 1_024).expect("a number of 64 bits has a small logarithm")
}

#[cfg(test)]
mod tests {
    use super::{DUMP_WEIGHTS, FROM, Habits, Neighbours, ONE, count_five_bits, exp_fixed};
    use crate::tongits::habit_tables::{GREEDY, QUICK};
    use bahay_engine::cards::CardSet;

    fn cards(text: &str) -> CardSet {
        text.split_whitespace().map(|card| card.parse().unwrap()).collect()
    }

    /// Returns the log-probability of dumping a card in the middle of a game, with no visible
    /// cards.
    fn log_probability(habits: &Habits, hand: CardSet, card: &str) -> i32 {
        let neighbours = Neighbours::new(hand, CardSet::EMPTY, 8, false);
        habits.dump_log_probability(&neighbours, hand, card.parse().unwrap())
    }

    #[test]
    fn dump_probabilities_sum_to_about_one() {
        for hand in ["KS 2C 3C 9D 9H 5S", "AC 2C 3C 4C 7D", "7C 7D 7H 8H 9H TH JS QS", "2D"] {
            let hand = cards(hand);
            for habits in [&GREEDY, &QUICK] {
                let neighbours = Neighbours::new(hand, CardSet::EMPTY, 8, false);
                let chance = |card| exp_fixed(habits.dump_log_probability(&neighbours, hand, card));
                let sum: u64 = hand.iter().map(chance).sum();
                assert!((57_000..75_000).contains(&sum), "{hand}: {sum}");
            }
        }
    }

    #[test]
    fn isolated_high_cards_are_dumped_first() {
        let hand = cards("KS 2C 3C 4C 9D 9H");
        let chance = |text: &str| log_probability(&GREEDY, hand, text);
        assert!(chance("KS") > chance("9D") && chance("9D") > chance("2C"));
    }

    #[test]
    fn each_trait_uses_its_own_weights() {
        let hand = cards("AC 2C 3C KC QC KD KH KS 5D 7D");
        for stock in [0, 7, 20] {
            for (seen, is_open) in [(CardSet::EMPTY, false), (cards("4C 6D 5H 5S 5C JC"), true)] {
                let neighbours = Neighbours::new(hand, seen, stock, is_open);
                for card in hand.iter() {
                    let ends = FROM.into_iter().skip(1).chain([DUMP_WEIGHTS]);
                    for ((place, from), end) in
                        neighbours.traits_of(card).into_iter().zip(FROM).zip(ends)
                    {
                        assert!((from..end).contains(&place), "{card}: {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn five_bit_counts_are_correct() {
        for bits in 0..32_u64 {
            assert_eq!(count_five_bits(bits), bits.count_ones() as usize);
        }
    }

    #[test]
    fn exp_fixed_approximates_the_exponential() {
        for (of, times) in [(0, 65_536), (-ONE, 24_109), (-2 * ONE, 8_869), (-8 * ONE, 22)] {
            let found = exp_fixed(of);
            assert!(found * 100 >= times * 93 && found * 100 <= times * 115, "{of}: {found}");
        }
    }
}
