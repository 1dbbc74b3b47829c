//! Rewards: the daily one, and relief for those who have run out of coins.

use axum::extract::{FromRef, State};
use axum::response::Response;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Player;
use crate::rate_limit::Address;
use crate::rewards::{
    DailyClaim, DailyReward, ReliefClaim, ReliefStatus, RewardError, RewardStatus, Rewards, STREAK_DAYS,
};

use super::idempotency::{IdempotentRequest, OptionalKeyHeader};
use super::{Code, Coins, Problem, ProblemBody, Services, Time};

/// What I may claim.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Rewards)]
pub(super) struct RewardsBody {
    daily: DailyBody,
    relief: ReliefBody,
}

/// The next claim of the daily reward.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DailyReward)]
pub(super) struct DailyBody {
    /// Whether it can be claimed now.
    claimable: bool,
    /// When it can be claimed: the beginning of a day in the player's time zone. In the past, if
    /// it can be claimed now.
    claimable_at: Time,
    /// Its place in the streak. After the seventh day, and after a day that was missed, the
    /// streak begins again.
    #[schema(minimum = 1, maximum = 7)]
    streak_day: u8,
    amount: Coins,
}

impl From<Daily> for DailyBody {
    fn from(daily: Daily) -> Self {
        Self {
            claimable: daily.is_claimable,
            claimable_at: daily.claimable_at.into(),
            streak_day: daily.streak_day,
            amount: daily.amount.into(),
        }
    }
}

/// Coins for a wallet that has run nearly empty.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Relief)]
pub(super) struct ReliefBody {
    /// Whether it can be claimed now.
    claimable: bool,
    /// It is for players who have less than this, what is held included.
    floor: Coins,
    amount: Coins,
    /// How often it can still be claimed on this day of the player's time zone.
    left_today: u8,
}

impl From<Relief> for ReliefBody {
    fn from(relief: Relief) -> Self {
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
/// What can be claimed now, and when the next daily reward can be.
#[utoipa::path(
    get,
    path = "/v1/me/rewards",
    tag = "me",
    security(("access_token" = [])),
    responses((status = 200, description = "The rewards", body = RewardsBody))
)]
pub(super) async fn show_rewards(
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

/// A daily reward that was given.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DailyClaimed)]
pub(super) struct DailyClaimedBody {
    /// What was given.
    amount: Coins,
    #[schema(minimum = 1, maximum = 7)]
    streak_day: u8,
    /// What can be spent after it.
    available: Coins,
    /// The claim after it.
    next: DailyBody,
}

/// Claim the daily reward
///
/// Once a day of the player's own time zone (see `PATCH /v1/me`), however many requests race. A
/// claim on the day after the last one goes on with the streak. Moving to another time zone never
/// gives a day twice.
#[utoipa::path(
    post,
    path = "/v1/me/rewards/daily",
    tag = "me",
    security(("access_token" = [])),
    params(OptionalKeyHeader),
    responses(
        (status = 200, description = "It was given", body = DailyClaimedBody),
        (
            status = 409,
            description = "`welcome_due`: the welcome comes first, see signing in as a guest. \
                `daily_claimed`: the detail says when the next is due. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(super) async fn claim_daily(
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

/// Relief that was given.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReliefClaimed)]
pub(super) struct ReliefClaimedBody {
    /// What was given.
    amount: Coins,
    /// What can be spent after it.
    available: Coins,
    left_today: u8,
}

/// Claim relief
///
/// For players who have less than the floor, what is held in games included; a few times a day.
#[utoipa::path(
    post,
    path = "/v1/me/rewards/relief",
    tag = "me",
    security(("access_token" = [])),
    params(OptionalKeyHeader),
    responses(
        (status = 200, description = "It was given", body = ReliefClaimedBody),
        (
            status = 409,
            description = "`relief_not_due`: there are coins left. `relief_used_up`: the detail \
                says when there is more. `network_used_up`: so many were given to players of the \
                same network today as may be. Or `idempotency_key_in_use`",
            body = ProblemBody,
            content_type = "application/problem+json"
        )
    )
)]
pub(super) async fn claim_relief(
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

// The documents above say seven.
const _: () = assert!(STREAK_DAYS == 7);

impl FromRef<Services> for Rewards {
    fn from_ref(services: &Services) -> Self {
        services.rewards.clone()
    }
}

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
