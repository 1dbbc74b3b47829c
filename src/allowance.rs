//! What one player may win at private tables: a value, and what it is decided by, without I/O.
//!
//! Who sits at a private table is chosen by its host, so whoever has many accounts can lose the
//! coins of all of them to one at such tables, as fast as it likes. What that one may win there is
//! therefore bounded: in a day by a floor, and beyond it by the service fees that it has paid in
//! rooms, where the matcher chooses. Each fee counts once, within seven days: to move so many coins
//! costs as many coins of fees, and farming does not pay.
//!
//! The ledger asks before it opens a game, and whoever seats players asks before that; `bahay farm`
//! plays attackers against the same functions. docs/LEDGER.md has the arithmetic.

use std::time::Duration;

use bahay_engine::coins::Coins;

/// In so long a player may win the floor, beside what its fees allow.
pub const DAY: Duration = Duration::from_hours(24);

/// For so many days a fee gives a right.
pub const DAYS: usize = 7;

/// The bound of a house.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// What a player who has paid no fees may win in a day.
    pub floor: Coins,
}

/// What a player has won at private tables and paid in rooms lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately {
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
    pub fn left(&self, lately: &Lately) -> Coins {
        let Lately { won: [today, before @ ..], fees, at_stake } = lately;
        let beyond = |won: &Coins| won.hundredths().saturating_sub(self.floor.hundredths()).max(0);
        let used = before.iter().map(beyond).fold(0, i64::saturating_add);
        let right = self.floor.hundredths().saturating_add(fees.hundredths());
        let used = used.saturating_add(today.hundredths()).saturating_add(at_stake.hundredths());
        Coins::from_hundredths(right.saturating_sub(used))
    }
}

/// The most that a game brings to one seat: all stakes but its own, and the POT with the antes of
/// this game.
pub fn most(stakes_of_others: impl IntoIterator<Item = Coins>, pot: Coins) -> Coins {
    let stakes = stakes_of_others.into_iter().map(Coins::hundredths);
    Coins::from_hundredths(stakes.fold(pot.hundredths(), i64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Coins, Lately, most};

    fn whole(coins: i64) -> Coins {
        Coins::from_whole(coins).unwrap()
    }

    fn left(won: [i64; 7], fees: i64, at_stake: i64) -> i64 {
        let (fees, at_stake) = (whole(fees), whole(at_stake));
        let lately = Lately { won: won.map(whole), fees, at_stake };
        Allowance { floor: whole(300) }.left(&lately).hundredths() / 100
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
        assert_eq!(most([whole(14), whole(9)], whole(6)), whole(29));
        assert_eq!(most([], Coins::ZERO), Coins::ZERO);
        let huge = Coins::from_hundredths(i64::MAX);
        assert_eq!(most([huge, huge], huge), huge);
    }
}
