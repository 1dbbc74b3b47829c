//! Limits on winnings, as values without I/O.
//!
//! A host chooses the players of a private table, so a person with many accounts could lose the
//! coins of all of them to one account there, at any speed. The winnings at private tables are
//! therefore limited: within a day to a floor, and beyond it to the service fees that the player
//! has paid in rooms, where the matcher chooses the players. Each fee counts once, within seven
//! days: moving coins costs the same amount in fees, so farming does not pay.
//!
//! In rooms the matcher chooses the players, but accounts of several networks may still meet. So
//! the winnings of a day are limited there too, far above the results of honest play: from one
//! other player, who is then not met again that day, and from all others together.
//!
//! The ledger applies both limits when it opens a game, and the lobby before it seats players;
//! `bahay-lab farm` simulates attackers against the same functions. docs/LEDGER.md has the
//! arithmetic.

use std::collections::BTreeMap;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;

/// The period in which a player may win the floor, in addition to the fees.
pub const DAY: Duration = Duration::from_hours(24);

/// The number of days for which a fee counts.
pub const DAYS: usize = 7;

/// The maximum winnings from one other player in rooms within a day, less the losses to that
/// player, in whole stakes. A whole stake is the most that a seat can lose in a game: 14 bets in
/// Tong-its. The sum of a hundred games between the same two players, one of whom is better, stays
/// below this.
pub const PAIR_STAKES_MAX: i64 = 10;

/// The maximum winnings from all others in rooms within a day, less the losses, in whole stakes.
pub const DAY_STAKES_MAX: i64 = 60;

/// A player's winnings from each other player in rooms within a day, less the losses, in
/// thousandths of each game's whole stake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Winnings(BTreeMap<PlayerId, i64>);

impl Winnings {
    pub fn add(&mut self, other: PlayerId, thousandths: i64) {
        let won = self.0.entry(other).or_default();
        *won = won.saturating_add(thousandths);
    }

    /// Returns whether the player has reached the limit of winnings from this other player.
    pub fn is_pair_limit_reached(&self, other: PlayerId) -> bool {
        self.0.get(&other).is_some_and(|won| *won >= PAIR_STAKES_MAX * 1_000)
    }

    /// Returns whether the player has reached the limit of winnings in rooms.
    pub fn is_day_limit_reached(&self) -> bool {
        self.0.values().fold(0, |sum: i64, won| sum.saturating_add(*won)) >= DAY_STAKES_MAX * 1_000
    }

    /// Returns the players whom this one may not meet for now, because one of the two has reached
    /// the limit of winnings from the other.
    pub fn partners_at_bound(&self) -> impl Iterator<Item = PlayerId> {
        let is_at_bound = |(_, won): &(&PlayerId, &i64)| won.abs() >= PAIR_STAKES_MAX * 1_000;
        self.0.iter().filter(is_at_bound).map(|(other, _)| *other)
    }
}

impl FromIterator<(PlayerId, i64)> for Winnings {
    fn from_iter<I: IntoIterator<Item = (PlayerId, i64)>>(won: I) -> Self {
        Self(won.into_iter().collect())
    }
}

/// The limit of a house for winnings at private tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The winnings of a day that need no fees.
    pub floor: Coins,
}

/// A player's recent results at private tables and fees in rooms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentResults {
    /// The net results of settled games at private tables, with POTs and without antes; negative
    /// for losses. The first element covers the last 24 hours, each further one the 24 hours
    /// before.
    pub won: [Coins; DAYS],
    /// The fees of the games won in rooms, in all these days.
    pub fees: Coins,
    /// The most that open games at private tables can bring.
    pub at_stake: Coins,
}

impl Default for Allowance {
    /// Returns a floor of 300 coins: days of play among friends at a bet of one coin, where a game
    /// brings at most 28 and a POT. It is below the average daily reward of 343 coins, so farming
    /// brings less than a daily claim.
    fn default() -> Self {
        Self { floor: Coins::from_hundredths(300 * 100) }
    }
}

impl Allowance {
    /// Returns what the player may still win at private tables: the floor and the fees, less the
    /// winnings above the floor on earlier days, the winnings of the last 24 hours, and the
    /// possible gains in open games. Losses of the last 24 hours can be won back. The result is
    /// negative if the player has won more under an earlier limit.
    pub fn remaining(&self, recent: &RecentResults) -> Coins {
        let RecentResults { won: [today, before @ ..], fees, at_stake } = recent;
        let beyond = |won: &Coins| won.hundredths().saturating_sub(self.floor.hundredths()).max(0);
        let used = before.iter().map(beyond).fold(0, i64::saturating_add);
        let right = self.floor.hundredths().saturating_add(fees.hundredths());
        let used = used.saturating_add(today.hundredths()).saturating_add(at_stake.hundredths());
        Coins::from_hundredths(right.saturating_sub(used))
    }
}

/// Returns the most that a game can bring to one seat: all other stakes, and the POT with this
/// game's antes.
pub fn max_gain(stakes_of_others: impl IntoIterator<Item = Coins>, pot: Coins) -> Coins {
    let stakes = stakes_of_others.into_iter().map(Coins::hundredths);
    Coins::from_hundredths(stakes.fold(pot.hundredths(), i64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Coins, PlayerId, RecentResults, Winnings, max_gain};
    use uuid::Uuid;

    fn whole(coins: i64) -> Coins {
        Coins::from_whole(coins).unwrap()
    }

    fn left(won: [i64; 7], fees: i64, at_stake: i64) -> i64 {
        let fees = whole(fees);
        let at_stake = whole(at_stake);
        let recent = RecentResults { won: won.map(whole), fees, at_stake };
        Allowance { floor: whole(300) }.remaining(&recent).hundredths() / 100
    }

    #[test]
    fn a_day_has_its_floor_and_fees_count_once() {
        for (won, fees, at_stake, expected) in [
            ([0; 7], 0, 0, 300),
            ([120, 0, 0, 0, 0, 0, 0], 0, 0, 180),
            ([300, 300, 300, 300, 300, 300, 300], 0, 0, 0),
            ([0, 300, 300, 300, 300, 300, 300], 0, 0, 300),
            // Losses of the last 24 hours can be won back; earlier losses cannot.
            ([-50, 0, 0, 0, 0, 0, 0], 0, 0, 350),
            ([0, -50, 0, 0, 0, 0, 0], 0, 0, 300),
            ([0; 7], 500, 0, 800),
            ([0, 800, 0, 0, 0, 0, 0], 500, 0, 300),
            ([0, 500, 0, 450, 0, 0, 0], 500, 0, 450),
            // The possible gain of an open game counts as won.
            ([100, 0, 0, 0, 0, 0, 0], 0, 150, 50),
            ([400, 0, 0, 0, 0, 0, 0], 0, 0, -100),
        ] {
            assert_eq!(left(won, fees, at_stake), expected, "{won:?} {fees} {at_stake}");
        }
    }

    #[test]
    fn a_game_brings_at_most_all_other_stakes_and_the_pot() {
        assert_eq!(max_gain([whole(14), whole(9)], whole(6)), whole(29));
        assert_eq!(max_gain([], Coins::ZERO), Coins::ZERO);
        let huge = Coins::from_hundredths(i64::MAX);
        assert_eq!(max_gain([huge, huge], huge), huge);
    }

    #[test]
    fn winnings_in_rooms_are_bounded_for_each_other_player_and_for_the_day() {
        let others: Vec<_> = (0..7).map(|id| PlayerId(Uuid::from_u128(id))).collect();
        let mut winnings: Winnings = others.iter().map(|other| (*other, 8_000)).collect();
        assert!(!winnings.is_day_limit_reached() && winnings.partners_at_bound().next().is_none());
        winnings.add(others[0], 1_999);
        assert!(!winnings.is_pair_limit_reached(others[0]));
        winnings.add(others[0], 1);
        assert!(
            winnings.is_pair_limit_reached(others[0]) && !winnings.is_pair_limit_reached(others[1])
        );
        winnings.add(others[1], 2_000);
        assert!(winnings.is_day_limit_reached());
        winnings.add(others[2], -18_000);
        assert!(!winnings.is_day_limit_reached() && !winnings.is_pair_limit_reached(others[2]));
        // The loser of so much does not meet the winner any more either.
        assert_eq!(winnings.partners_at_bound().collect::<Vec<_>>(), others[..3]);
    }
}
