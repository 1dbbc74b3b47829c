//! The coins that the house may still grant its bots.
//!
//! In any 24 hours all bots together lose at most the limit, whatever rooms, bets, multipliers,
//! rule sets and accounts they meet: a grant is made only if the losses of the 24 hours before it,
//! the coins that bots hold, and the grant together stay within the limit, and a bot can lose only
//! what it holds. Coins that bots win belong to them.

use bahay_engine::coins::Coins;

/// The multiple of the room's minimum to which a bot's wallet is filled.
const FILL_FACTOR: i64 = 20;

/// The divisor of the purse that bounds one grant beyond the room's minimum, so that one bot in an
/// expensive room leaves coins for others.
const SHARE: i64 = 8;

/// The divisor of the limit that private tables leave to rooms: emptying the purse of private
/// tables keeps no bot from players who wait in a room.
const ROOMS_SHARE: i64 = 2;

/// The use of the purse, by the kind of table that a bot joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PursePurpose {
    Rooms,
    /// A table whose host chooses the bet and the other players.
    PrivateTable,
}

/// The remaining part of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotPurse {
    left: Coins,
}

impl BotPurse {
    /// Returns the rest of a daily limit, given the losses of bots in that period and the coins
    /// that they hold.
    pub fn new(day_max: Coins, lost: Coins, held: Coins, purpose: PursePurpose) -> Self {
        let kept = match purpose {
            PursePurpose::Rooms => Coins::ZERO,
            PursePurpose::PrivateTable => {
                Coins::from_hundredths(day_max.hundredths() / ROOMS_SHARE)
            }
        };
        let left = day_max.checked_sub(kept).and_then(|left| left.checked_sub(lost));
        let left = left.and_then(|left| left.checked_sub(held));
        Self { left: left.unwrap_or_default().max(Coins::ZERO) }
    }

    /// Returns true if the purse covers this many bots without coins at the minimum of a room.
    pub fn covers(&self, needed: Coins, bots: usize) -> bool {
        let bots = i64::try_from(bots).unwrap_or(i64::MAX);
        needed.hundredths().checked_mul(bots).is_some_and(|sum| sum <= self.left.hundredths())
    }

    /// Deducts a grant from the purse for a bot that holds `available` and needs at least `needed`
    /// and at most `most` coins, and returns its amount. Returns `None` if the purse is too small
    /// or the bot needs nothing.
    pub fn take_grant(&mut self, needed: Coins, available: Coins, most: Coins) -> Option<Coins> {
        let least = needed.checked_sub(available).filter(|least| *least > Coins::ZERO)?;
        let wanted = needed.hundredths().saturating_mul(FILL_FACTOR).min(most.hundredths());
        let wanted = Coins::from_hundredths(wanted).checked_sub(available)?;
        let share = Coins::from_hundredths(self.left.hundredths() / SHARE);
        let grant = wanted.min(share).max(least);
        self.left = self.left.checked_sub(grant).filter(|left| !left.is_negative())?;
        Some(grant)
    }
}

#[cfg(test)]
mod tests {
    use super::{BotPurse, Coins, PursePurpose};

    fn coins(whole: i64) -> Coins {
        Coins::from_whole(whole).unwrap()
    }

    fn purse(max: i64, lost: i64, held: i64) -> BotPurse {
        BotPurse::new(coins(max), coins(lost), coins(held), PursePurpose::Rooms)
    }

    #[test]
    fn grants_end_with_the_purse() {
        let mut full = purse(20_000, 0, 0);
        let most = coins(1_000_000);
        assert_eq!(full.take_grant(coins(50), Coins::ZERO, most), Some(coins(1_000)));
        // Above one share of the purse the grant is the minimum.
        assert_eq!(full.take_grant(coins(15_000), coins(1), most), Some(coins(14_999)));
        assert_eq!(full.take_grant(coins(4_002), Coins::ZERO, most), None);
        assert_eq!(full.take_grant(coins(4_001), Coins::ZERO, most), Some(coins(4_001)));
        assert_eq!(full.take_grant(coins(1), Coins::ZERO, most), None);
    }

    #[test]
    fn a_grant_stays_within_what_the_room_admits() {
        let grant = purse(20_000, 0, 0).take_grant(coins(50), coins(10), coins(60));
        assert_eq!(grant, Some(coins(50)));
    }

    #[test]
    fn lost_and_held_coins_count_against_the_bound() {
        assert!(purse(20_000, 5_000, 5_000).covers(coins(5_000), 2));
        assert!(!purse(20_000, 5_000, 5_000).covers(coins(5_001), 2));
        assert!(!purse(20_000, 15_000, 6_000).covers(coins(1), 1));
        // Coins that bots won and that were swept.
        assert!(purse(20_000, -1_000, 0).covers(coins(21_000), 1));
        assert!(!purse(20_000, 0, 0).covers(Coins::from_hundredths(i64::MAX), 2));
    }

    #[test]
    fn private_tables_leave_half_of_the_bound_to_rooms() {
        let purse = |lost, purpose| BotPurse::new(coins(20_000), coins(lost), Coins::ZERO, purpose);
        assert!(purse(9_990, PursePurpose::PrivateTable).covers(coins(10), 1));
        assert!(!purse(9_990, PursePurpose::PrivateTable).covers(coins(11), 1));
        assert!(!purse(15_000, PursePurpose::PrivateTable).covers(coins(1), 1));
        assert!(purse(15_000, PursePurpose::Rooms).covers(coins(5_000), 1));
    }

    /// Empties the wallets of bots as often as they are filled, in rooms with many minimums.
    #[test]
    fn nobody_wins_more_than_the_bound() {
        let max = coins(20_000);
        let mut lost = Coins::ZERO;
        for round in 0..10_000 {
            let mut purse = BotPurse::new(max, lost, Coins::ZERO, PursePurpose::Rooms);
            let needed = coins(1 + round % 700);
            let granted = purse.take_grant(needed, Coins::ZERO, coins(1_000_000));
            lost = lost.checked_add(granted.unwrap_or_default()).unwrap();
            assert!(lost <= max, "{lost} after {round}");
        }
        assert!(lost > max.checked_sub(coins(1)).unwrap(), "{lost}");
    }
}
