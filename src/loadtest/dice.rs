//! Chance from a seed: the same seed gives each player the same habits and the same times to think.
//! What the server draws is its own, so two runs are alike and not the same.

use std::time::Duration;

use super::{Options, Spread};

/// Times to think as people have them, in thousandths of the mean: the middles of twenty equal
/// parts of a logarithmic normal distribution with a deviation of 0.6, scaled to a mean of one.
const PEOPLE: [u64; 20] = [
    257, 352, 419, 476, 529, 581, 632, 684, 737, 792, 851, 914, 983, 1_060, 1_149, 1_255, 1_390,
    1_574, 1_882, 2_483,
];

/// A generator of numbers: splitmix64.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64, player: u32) -> Self {
        let mut dice = Self(seed ^ u64::from(player).wrapping_mul(0xd6e8_feb8_6659_fd93));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below this number. The bias of a remainder is of no account here.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn between(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(least + self.below(most.saturating_sub(least) + 1))
    }

    pub(super) fn milliseconds(&mut self, least: u64, most: u64) -> Duration {
        self.between(least * 1_000, most * 1_000)
    }

    pub(super) fn think(&mut self, mean_ms: u64, spread: Spread) -> Duration {
        let mean_us = mean_ms.saturating_mul(1_000);
        match spread {
            Spread::Steady => Duration::from_micros(mean_us),
            Spread::Even => self.between(mean_us / 2, mean_us.saturating_mul(3) / 2),
            Spread::People => {
                let part = usize::try_from(self.below(PEOPLE.len() as u64)).unwrap_or(0);
                Duration::from_micros(mean_us.saturating_mul(PEOPLE[part]) / 1_000)
            }
        }
    }
}

/// What kind of player somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    Steady,
    Slow,
    Dropping,
    Idle,
}

impl Habit {
    pub(super) fn of(dice: &mut Dice, options: &Options) -> Self {
        let mut drawn = dice.below(100);
        let shares = [
            (options.slow, Self::Slow),
            (options.dropping, Self::Dropping),
            (options.idle, Self::Idle),
        ];
        for (share, habit) in shares {
            if drawn < u64::from(share) {
                return habit;
            }
            drawn -= u64::from(share);
        }
        Self::Steady
    }
}

#[cfg(test)]
mod tests {
    use super::{Dice, PEOPLE, Spread};

    #[test]
    fn times_to_think_have_the_mean_that_was_asked_for() {
        let of_the_table = PEOPLE.iter().sum::<u64>() / PEOPLE.len() as u64;
        assert!((940..=1_060).contains(&of_the_table), "{of_the_table}");
        for spread in [Spread::Steady, Spread::Even, Spread::People] {
            let mut dice = Dice::new(7, 1);
            let sum_us: u128 = (0..10_000).map(|_| dice.think(500, spread).as_micros()).sum();
            let mean_us = sum_us / 10_000;
            assert!((460_000..=540_000).contains(&mean_us), "{spread:?}: {mean_us}");
        }
    }

    #[test]
    fn a_seed_gives_each_player_numbers_of_its_own() {
        let numbers = |seed, player| {
            let mut dice = Dice::new(seed, player);
            [dice.below(1 << 40), dice.below(1 << 40)]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }
}
