//! The coins that the house may still give its bots.
//!
//! In any 24 hours all bots together lose at most the bound, whatever rooms, bets, multipliers, rule
//! sets and accounts somebody plays them with: a grant is made only if what the bots have lost in
//! the 24 hours before it, what they hold already and the grant together stay within the bound, and
//! a bot loses nothing but what it holds. Coins that bots win count as theirs.

use bahay_engine::coins::Coins;

use crate::ledger::HouseBotCoins;

/// A bot that has too little for a room is given so many times what the room asks for.
const FILLED_TIMES: i64 = 20;

/// The part of the purse that one bot gets beyond what its room asks for, so that one bot in a dear
/// room leaves something for others.
const SHARE: i64 = 8;

/// Private tables leave this part of the bound to rooms: whoever empties what is left for them keeps
/// no bot from those who wait in a room.
const LEFT_TO_ROOMS: i64 = 2;

/// The kind of table that a bot is to play at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Rooms,
    /// A table whose host chooses the bet and the other players.
    PrivateTable,
}

/// The rest of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BotPurse {
    left: Coins,
}

impl BotPurse {
    /// Returns what is left of a bound of a day, given what bots lost in it and what they hold.
    pub(super) fn new(day_max: Coins, coins: HouseBotCoins, purpose: Purpose) -> Self {
        let HouseBotCoins { lost, held } = coins;
        let kept = match purpose {
            Purpose::Rooms => Coins::ZERO,
            Purpose::PrivateTable => Coins::from_hundredths(day_max.hundredths() / LEFT_TO_ROOMS),
        };
        let left = day_max.checked_sub(kept).and_then(|left| left.checked_sub(lost));
        let left = left.and_then(|left| left.checked_sub(held));
        Self { left: left.unwrap_or_default().max(Coins::ZERO) }
    }

    /// Returns true if so many bots without coins can be given what a room asks for.
    pub(super) fn covers(&self, needed: Coins, bots: usize) -> bool {
        let bots = i64::try_from(bots).unwrap_or(i64::MAX);
        needed.hundredths().checked_mul(bots).is_some_and(|sum| sum <= self.left.hundredths())
    }

    /// Takes out the grant for a bot that has `available` and needs more, `most` at most to be let
    /// into the room. `None` when too little is left, or the bot needs nothing.
    pub(super) fn take_grant(
        &mut self,
        needed: Coins,
        available: Coins,
        most: Coins,
    ) -> Option<Coins> {
        let least = needed.checked_sub(available).filter(|least| *least > Coins::ZERO)?;
        let wanted = needed.hundredths().saturating_mul(FILLED_TIMES).min(most.hundredths());
        let wanted = Coins::from_hundredths(wanted).checked_sub(available)?;
        let share = Coins::from_hundredths(self.left.hundredths() / SHARE);
        let grant = wanted.min(share).max(least);
        self.left = self.left.checked_sub(grant).filter(|left| !left.is_negative())?;
        Some(grant)
    }
}

#[cfg(test)]
mod tests {
    use super::{BotPurse, Coins, HouseBotCoins, Purpose};

    fn coins(whole: i64) -> Coins {
        Coins::from_whole(whole).unwrap()
    }

    fn purse(max: i64, lost: i64, held: i64) -> BotPurse {
        let bots = HouseBotCoins { lost: coins(lost), held: coins(held) };
        BotPurse::new(coins(max), bots, Purpose::Rooms)
    }

    #[test]
    fn grants_end_with_the_purse() {
        let mut full = purse(20_000, 0, 0);
        let most = coins(1_000_000);
        assert_eq!(full.take_grant(coins(50), Coins::ZERO, most), Some(coins(1_000)));
        // Dearer than a share: what is needed, and no more.
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
    fn what_was_lost_and_what_is_held_count() {
        assert!(purse(20_000, 5_000, 5_000).covers(coins(5_000), 2));
        assert!(!purse(20_000, 5_000, 5_000).covers(coins(5_001), 2));
        assert!(!purse(20_000, 15_000, 6_000).covers(coins(1), 1));
        // Won by bots and swept.
        assert!(purse(20_000, -1_000, 0).covers(coins(21_000), 1));
        assert!(!purse(20_000, 0, 0).covers(Coins::from_hundredths(i64::MAX), 2));
    }

    #[test]
    fn private_tables_leave_half_of_the_bound_to_rooms() {
        let purse = |lost, purpose| {
            let bots = HouseBotCoins { lost: coins(lost), held: Coins::ZERO };
            BotPurse::new(coins(20_000), bots, purpose)
        };
        assert!(purse(9_990, Purpose::PrivateTable).covers(coins(10), 1));
        assert!(!purse(9_990, Purpose::PrivateTable).covers(coins(11), 1));
        assert!(!purse(15_000, Purpose::PrivateTable).covers(coins(1), 1));
        assert!(purse(15_000, Purpose::Rooms).covers(coins(5_000), 1));
    }

    /// Takes all that bots hold as often as they are given more, in rooms of many prices.
    #[test]
    fn nobody_wins_more_than_the_bound() {
        let max = coins(20_000);
        let mut lost = Coins::ZERO;
        for round in 0..10_000 {
            let held = HouseBotCoins { lost, held: Coins::ZERO };
            let mut purse = BotPurse::new(max, held, Purpose::Rooms);
            let needed = coins(1 + round % 700);
            let granted = purse.take_grant(needed, Coins::ZERO, coins(1_000_000));
            lost = lost.checked_add(granted.unwrap_or_default()).unwrap();
            assert!(lost <= max, "{lost} after {round}");
        }
        assert!(lost > max.checked_sub(coins(1)).unwrap(), "{lost}");
    }
}
