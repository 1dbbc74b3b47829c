//! Grants that players claim: the daily reward, and relief for players who have run out of coins.

use serde::Serialize;
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::{Coins, Time};

operations! {
    /// Show my rewards
    ///
    /// Shows which rewards can be claimed now, and the time of the next daily reward.
    SHOW_REWARDS = Get "/v1/me/rewards", Me, Player {
        200 json Rewards: "The rewards",
    }

    /// Claim the daily reward
    ///
    /// Possible once a day in the player's time zone (see `PATCH /v1/me`), regardless of concurrent
    /// requests. A claim on the day after the previous one continues the streak. A change of the
    /// time zone never grants the same day twice. The detail of `daily_claimed` states the time of
    /// the next reward. For `welcome_due`, see signing in as a guest.
    CLAIM_DAILY = Post "/v1/me/rewards/daily", Me, Player {
        headers OptionalKey,
        200 json DailyClaimed: "The reward was granted",
        refuses WelcomeDue DailyClaimed,
    }

    /// Claim relief
    ///
    /// Possible for players whose balance, coins held in games included, is below the floor; a
    /// limited number of times a day for the player, and for players of the same network. The
    /// detail of `relief_used_up` states the time of the next relief.
    CLAIM_RELIEF = Post "/v1/me/rewards/relief", Me, Player {
        headers OptionalKey,
        200 json ReliefClaimed: "The reward was granted",
        refuses ReliefNotDue ReliefUsedUp NetworkUsedUp,
    }
}

/// The rewards of a player.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rewards {
    pub daily: DailyReward,
    pub relief: Relief,
}

/// The next claim of the daily reward.
#[derive(Debug, Serialize, ToSchema)]
pub struct DailyReward {
    /// True if the reward can be claimed now.
    pub claimable: bool,
    /// The time from which the reward can be claimed, which is the beginning of a day in the
    /// player's time zone. In the past if the reward can be claimed now.
    pub claimable_at: Time,
    /// The day's number in the streak. The streak restarts after the seventh day and after a missed
    /// day.
    #[schema(minimum = 1, maximum = 7)]
    pub streak_day: u8,
    pub amount: Coins,
}

/// Coins for a nearly empty wallet.
#[derive(Debug, Serialize, ToSchema)]
pub struct Relief {
    /// True if relief can be claimed now.
    pub claimable: bool,
    /// The balance below which a player may claim relief, held coins included.
    pub floor: Coins,
    pub amount: Coins,
    /// The number of claims left on this day of the player's time zone.
    pub left_today: u8,
}

/// A claimed daily reward.
#[derive(Debug, Serialize, ToSchema)]
pub struct DailyClaimed {
    /// The granted amount.
    pub amount: Coins,
    #[schema(minimum = 1, maximum = 7)]
    pub streak_day: u8,
    /// The amount that can be spent afterwards.
    pub available: Coins,
    /// The next claim.
    pub next: DailyReward,
}

/// Claimed relief.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReliefClaimed {
    /// The granted amount.
    pub amount: Coins,
    /// The amount that can be spent afterwards.
    pub available: Coins,
    pub left_today: u8,
}
