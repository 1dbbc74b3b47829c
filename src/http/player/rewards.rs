//! Grants that players claim: the daily reward, and relief for players who have run out of coins.

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Player;
use crate::rate_limit::Address;
use crate::rewards::{
    DailyClaim, DailyReward, ReliefClaim, ReliefStatus, RewardError, RewardStatus, Rewards,
    STREAK_DAYS,
};

use crate::http::core::idempotency::{IdempotentRequest, OptionalKeyHeader};
use crate::http::{Code, CodeExt as _, Coins, Problem, ProblemBody, Time};

/// The rewards of a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Rewards)]
pub(crate) struct RewardsBody {
    daily: DailyBody,
    relief: ReliefBody,
}

/// The next claim of the daily reward.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DailyReward)]
pub(crate) struct DailyBody {
    /// True if the reward can be claimed now.
    claimable: bool,
    /// The time from which the reward can be claimed, which is the beginning of a day in the
    /// player's time zone. In the past if the reward can be claimed now.
    claimable_at: Time,
    /// The day's number in the streak. The streak restarts after the seventh day and after a missed
    /// day.
    #[schema(minimum = 1, maximum = 7)]
    streak_day: u8,
    amount: Coins,
}

impl From<DailyReward> for DailyBody {
    fn from(daily: DailyReward) -> Self {
        Self {
            claimable: daily.is_claimable,
            claimable_at: daily.claimable_at.into(),
            streak_day: daily.streak_day,
            amount: daily.amount.into(),
        }
    }
}

/// Coins for a nearly empty wallet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Relief)]
pub(crate) struct ReliefBody {
    /// True if relief can be claimed now.
    claimable: bool,
    /// The balance below which a player may claim relief, held coins included.
    floor: Coins,
    amount: Coins,
    /// The number of claims left on this day of the player's time zone.
    left_today: u8,
}

impl From<ReliefStatus> for ReliefBody {
    fn from(relief: ReliefStatus) -> Self {
        Self {
            claimable: relief.is_claimable,
            floor: relief.floor.into(),
            amount: relief.amount.into(),
            left_today: relief.left_today,
        }
    }
}

/// Show my rewards
///
/// Shows which rewards can be claimed now, and the time of the next daily reward.
#[utoipa::path(
    get,
    path = "/v1/me/rewards",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The rewards", body = RewardsBody))
)]
pub(crate) async fn show_rewards(
    State(rewards): State<Rewards>,
    player: Player,
) -> Result<Json<RewardsBody>, Problem> {
    Ok(Json(rewards.status(player.id).await?.into()))
}

impl From<RewardStatus> for RewardsBody {
    fn from(standing: RewardStatus) -> Self {
        let RewardStatus { daily, relief } = standing;
        Self { daily: daily.into(), relief: relief.into() }
    }
}

/// A claimed daily reward.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DailyClaimed)]
pub(crate) struct DailyClaimedBody {
    /// The granted amount.
    amount: Coins,
    #[schema(minimum = 1, maximum = 7)]
    streak_day: u8,
    /// The amount that can be spent afterwards.
    available: Coins,
    /// The next claim.
    next: DailyBody,
}

/// Claim the daily reward
///
/// Possible once a day in the player's time zone (see `PATCH /v1/me`), regardless of concurrent
/// requests. A claim on the day after the previous one continues the streak. A change of the time
/// zone never grants the same day twice.
#[utoipa::path(
    post,
    path = "/v1/me/rewards/daily",
    tag = "me",
    security(("access_token" = [])),
    params(OptionalKeyHeader),
    responses(
        (status = 200, description = "The reward was granted", body = DailyClaimedBody),
        (
            status = 409,
            description = "`welcome_due`: the welcome grant is due first, see signing in as a \
                guest. `daily_claimed`: the detail states the time of the next reward. Or \
                `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn claim_daily(
    State(rewards): State<Rewards>,
    player: Player,
    request: IdempotentRequest,
) -> Response {
    let work = async move |attempt| {
        let claimed = rewards.claim_daily(player.id, attempt).await?;
        let DailyClaim { amount, streak_day, wallet, next } = claimed;
        let amount = amount.into();
        let available = wallet.into();
        Ok(Json(DailyClaimedBody { amount, streak_day, available, next: next.into() }))
    };
    request.execute(&player, work).await
}

/// Claimed relief.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReliefClaimed)]
pub(crate) struct ReliefClaimedBody {
    /// The granted amount.
    amount: Coins,
    /// The amount that can be spent afterwards.
    available: Coins,
    left_today: u8,
}

/// Claim relief
///
/// Possible for players whose balance, coins held in games included, is below the floor; a limited
/// number of times a day.
#[utoipa::path(
    post,
    path = "/v1/me/rewards/relief",
    tag = "me",
    security(("access_token" = [])),
    params(OptionalKeyHeader),
    responses(
        (status = 200, description = "The reward was granted", body = ReliefClaimedBody),
        (
            status = 409,
            description = "`relief_not_due`: the player has enough coins. `relief_used_up`: the \
                detail states the time of the next relief. `network_used_up`: the day's limit of \
                reliefs for players of the same network is reached. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(crate) async fn claim_relief(
    State(rewards): State<Rewards>,
    player: Player,
    Extension(from): Extension<Address>,
    request: IdempotentRequest,
) -> Response {
    let work = async move |attempt| {
        let network = from.network().to_string();
        let claimed = rewards.claim_relief(player.id, Some(&network), attempt).await?;
        let ReliefClaim { amount, wallet, left_today } = claimed;
        let amount = amount.into();
        let available = wallet.into();
        Ok(Json(ReliefClaimedBody { amount, available, left_today }))
    };
    request.execute(&player, work).await
}

// The documentation above states a streak of seven days.
const _: () = assert!(STREAK_DAYS == 7);

impl From<RewardError> for Problem {
    fn from(error: RewardError) -> Self {
        let code = match &error {
            RewardError::DailyClaimed { .. } => Code::DailyClaimed,
            RewardError::ReliefNotDue { .. } => Code::ReliefNotDue,
            RewardError::ReliefUsedUp { .. } => Code::ReliefUsedUp,
            RewardError::NetworkUsedUp { .. } => Code::NetworkUsedUp,
            RewardError::WelcomeDue { .. } => Code::WelcomeDue,
            RewardError::Unavailable { .. } => return Self::unavailable(&error),
            RewardError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
