//! What one player may win at private tables: a value, and what it is decided by, without I/O.
//!
//! Who sits at a private table is chosen by its host, so whoever has many accounts can lose the
//! coins of all of them to one at such tables, as fast as it likes. What that one may win there is
//! therefore bounded: in a day by a floor, and beyond it by the service fees that it has paid in
//! rooms, where the matcher chooses. Each fee counts once, within seven days: to move so many coins
//! costs as many coins of fees, and farming does not pay.
//!
//! In rooms the matcher chooses, and accounts of several networks may still meet there. So what one
//! player may win of others in a day is bounded there too, far beyond what honest play comes to: of
//! one other player, with whom it does not meet any more that day, and of all together.
//!
//! The ledger applies both bounds when it opens a game, and the lobby before it seats players; `bahay
//! farm` plays attackers against the same functions. docs/LEDGER.md has the arithmetic.

use std::collections::BTreeMap;
use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;

/// In so long a player may win the floor, beside what its fees allow.
pub const DAY: Duration = Duration::from_hours(24);

/// For so many days a fee gives a right.
pub const DAYS: usize = 7;

/// The most whole stakes that a player wins of one other player in rooms within a day, less what it
/// loses to it. A whole stake is the most that a seat can lose in a game, 14 bets in Tong-its. In a
/// hundred games of the same two, of whom one is the better player, the sum is below that.
pub const PAIR_STAKES_MAX: i64 = 10;

/// The most whole stakes that a player wins of all others in rooms within a day, less what it loses.
pub const DAY_STAKES_MAX: i64 = 60;

/// The coins that a player has won of each other one in rooms within a day, less those lost to it, in
/// thousandths of a whole stake of each game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Winnings(BTreeMap<PlayerId, i64>);

impl Winnings {
    pub fn add(&mut self, other: PlayerId, thousandths: i64) {
        let won = self.0.entry(other).or_default();
        *won = won.saturating_add(thousandths);
    }

    /// Returns whether the player may win no more of this one for now.
    pub fn is_pair_limit_reached(&self, other: PlayerId) -> bool {
        self.0.get(&other).is_some_and(|won| *won >= PAIR_STAKES_MAX * 1_000)
    }

    /// Returns whether the player may win no more in rooms for now.
    pub fn is_day_limit_reached(&self) -> bool {
        self.0.values().fold(0, |sum: i64, won| sum.saturating_add(*won)) >= DAY_STAKES_MAX * 1_000
    }

    /// Returns the players whom this one may not meet for now: one has won the bound of the other.
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

/// The bound of a house.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// What a player who has paid no fees may win in a day.
    pub floor: Coins,
}

/// What a player has won at private tables and paid in rooms lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentResults {
    /// What settled games at private tables changed for it, the POT among it, the antes aside; below
    /// zero where it lost. In the last 24 hours first, then in those before, and so on.
    pub won: [Coins; DAYS],
    /// The fees of the games that it won in rooms, in all these days.
    pub fees: Coins,
    /// The most that games bring it which are still open at private tables.
    pub at_stake: Coins,
}

impl Default for Allowance {
    /// 300 coins: days of play among friends at a bet of one coin, where a game brings 28 and a POT at
    /// the most, and less than the daily reward comes to, which is 343 coins on average. So whoever
    /// farms gets less for its work than for claiming once a day.
    fn default() -> Self {
        Self { floor: Coins::from_hundredths(300 * 100) }
    }
}

impl Allowance {
    /// How much the player may still win at private tables: the floor and the fees, less what was won
    /// beyond the floor on days before, what was won in the last 24 hours, and what may be won in
    /// games that are open. Below zero for one who has won more, by an earlier bound. What was lost in
    /// the last 24 hours can be won back.
    pub fn remaining(&self, recent: &RecentResults) -> Coins {
        let RecentResults { won: [today, before @ ..], fees, at_stake } = recent;
        let beyond = |won: &Coins| won.hundredths().saturating_sub(self.floor.hundredths()).max(0);
        let used = before.iter().map(beyond).fold(0, i64::saturating_add);
        let right = self.floor.hundredths().saturating_add(fees.hundredths());
        let used = used.saturating_add(today.hundredths()).saturating_add(at_stake.hundredths());
        Coins::from_hundredths(right.saturating_sub(used))
    }
}

/// The most that a game brings to one seat: all stakes but its own, and the POT with the antes of
/// this game.
pub fn max_gain(stakes_of_others: impl IntoIterator<Item = Coins>, pot: Coins) -> Coins {
    let stakes = stakes_of_others.into_iter().map(Coins::hundredths);
    Coins::from_hundredths(stakes.fold(pot.hundredths(), i64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Coins, RecentResults, PlayerId, Winnings, max_gain};
    use uuid::Uuid;

    fn whole(coins: i64) -> Coins {
        Coins::from_whole(coins).unwrap()
    }

    fn left(won: [i64; 7], fees: i64, at_stake: i64) -> i64 {
        let (fees, at_stake) = (whole(fees), whole(at_stake));
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
            // What was lost in the last 24 hours can be won back; what was lost before is lost.
            ([-50, 0, 0, 0, 0, 0, 0], 0, 0, 350),
            ([0, -50, 0, 0, 0, 0, 0], 0, 0, 300),
            ([0; 7], 500, 0, 800),
            ([0, 800, 0, 0, 0, 0, 0], 500, 0, 300),
            ([0, 500, 0, 450, 0, 0, 0], 500, 0, 450),
            // A game that is still open counts as won.
            ([100, 0, 0, 0, 0, 0, 0], 0, 150, 50),
            ([400, 0, 0, 0, 0, 0, 0], 0, 0, -100),
        ] {
            assert_eq!(left(won, fees, at_stake), expected, "{won:?} {fees} {at_stake}");
        }
    }

    #[test]
    fn the_most_of_a_game_is_what_all_others_stake_and_the_pot() {
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
        assert!(winnings.is_pair_limit_reached(others[0]) && !winnings.is_pair_limit_reached(others[1]));
        winnings.add(others[1], 2_000);
        assert!(winnings.is_day_limit_reached());
        winnings.add(others[2], -18_000);
        assert!(!winnings.is_day_limit_reached() && !winnings.is_pair_limit_reached(others[2]));
        // A loser of so much meets the winner no more either.
        assert_eq!(winnings.partners_at_bound().collect::<Vec<_>>(), others[..3]);
    }
}
