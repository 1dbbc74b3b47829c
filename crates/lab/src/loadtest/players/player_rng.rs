//! Seeded randomness of the players: a seed gives each player the same habit and the same think
//! times. The server draws its deals itself, so two runs are similar and not identical.

use std::time::Duration;

use crate::loadtest::{Options, Spread};

/// Think times as people have them, in thousandths of the mean: the middles of twenty equal parts
/// of a log-normal distribution with a deviation of 0.6, scaled to a mean of one.
const PEOPLE: [u64; 20] = [
    257, 352, 419, 476, 529, 581, 632, 684, 737, 792, 851, 914, 983, 1_060, 1_149, 1_255, 1_390,
    1_574, 1_882, 2_483,
];

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub(in crate::loadtest) struct PlayerRng(u64);

impl PlayerRng {
    pub(in crate::loadtest) fn new(seed: u64, player: u32) -> Self {
        let mut rng = Self(seed ^ u64::from(player).wrapping_mul(0xd6e8_feb8_6659_fd93));
        rng.next_u64();
        rng
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Draws a number below `bound`. The modulo bias is negligible here.
    pub(in crate::loadtest) fn draw_below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }

    fn draw_between(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(least + self.draw_below(most.saturating_sub(least) + 1))
    }

    pub(in crate::loadtest) fn draw_millis(&mut self, least: u64, most: u64) -> Duration {
        self.draw_between(least * 1_000, most * 1_000)
    }

    pub(in crate::loadtest) fn draw_think_time(
        &mut self,
        mean_ms: u64,
        spread: Spread,
    ) -> Duration {
        let mean_us = mean_ms.saturating_mul(1_000);
        match spread {
            Spread::Steady => Duration::from_micros(mean_us),
            Spread::Even => self.draw_between(mean_us / 2, mean_us.saturating_mul(3) / 2),
            Spread::People => {
                let part = usize::try_from(self.draw_below(PEOPLE.len() as u64)).unwrap_or(0);
                Duration::from_micros(mean_us.saturating_mul(PEOPLE[part]) / 1_000)
            }
        }
    }
}

/// The habit of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::loadtest) enum Habit {
    Steady,
    Slow,
    Dropping,
    Idle,
}

impl Habit {
    pub(in crate::loadtest) fn draw(rng: &mut PlayerRng, options: &Options) -> Self {
        let mut drawn = rng.draw_below(100);
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
    use super::{PEOPLE, PlayerRng, Spread};

    #[test]
    fn think_times_have_the_requested_mean() {
        let table_mean = PEOPLE.iter().sum::<u64>() / PEOPLE.len() as u64;
        assert!((940..=1_060).contains(&table_mean), "{table_mean}");
        for spread in [Spread::Steady, Spread::Even, Spread::People] {
            let mut rng = PlayerRng::new(7, 1);
            let times = (0..10_000).map(|_| rng.draw_think_time(500, spread));
            let sum_us: u128 = times.map(|time| time.as_micros()).sum();
            let mean_us = sum_us / 10_000;
            assert!((460_000..=540_000).contains(&mean_us), "{spread:?}: {mean_us}");
        }
    }

    #[test]
    fn a_seed_gives_each_player_numbers_of_its_own() {
        let numbers = |seed, player| {
            let mut rng = PlayerRng::new(seed, player);
            [rng.draw_below(1 << 40), rng.draw_below(1 << 40)]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }
}
