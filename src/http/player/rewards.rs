//! Grants that players claim: the daily reward, and relief for players who have run out of coins.

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use bahay_api::player::rewards::{DailyClaimed, DailyReward, Relief, ReliefClaimed, Rewards};

use crate::auth::Player;
use crate::http::core::idempotency::IdempotentRequest;
use crate::http::{Code, CodeExt as _, Problem};
use crate::rate_limit::Address;
use crate::rewards::{self, DailyClaim, ReliefClaim, RewardError, RewardStatus, STREAK_DAYS};

// The documentation states a streak of seven days.
const _: () = assert!(STREAK_DAYS == 7);

impl From<RewardStatus> for Rewards {
    fn from(RewardStatus { daily, relief }: RewardStatus) -> Self {
        let relief = Relief {
            claimable: relief.is_claimable,
            floor: relief.floor.into(),
            amount: relief.amount.into(),
            left_today: relief.left_today,
        };
        Self { daily: daily.into(), relief }
    }
}

impl From<rewards::DailyReward> for DailyReward {
    fn from(daily: rewards::DailyReward) -> Self {
        Self {
            claimable: daily.is_claimable,
            claimable_at: daily.claimable_at.into(),
            streak_day: daily.streak_day,
            amount: daily.amount.into(),
        }
    }
}

pub(crate) async fn show_rewards(
    State(rewards): State<rewards::Rewards>,
    player: Player,
) -> Result<Json<Rewards>, Problem> {
    Ok(Json(rewards.status(player.id).await?.into()))
}

pub(crate) async fn claim_daily(
    State(rewards): State<rewards::Rewards>,
    player: Player,
    request: IdempotentRequest,
) -> Response {
    let work = async move |attempt| {
        let claimed = rewards.claim_daily(player.id, attempt).await?;
        let DailyClaim { amount, streak_day, wallet, next } = claimed;
        let amount = amount.into();
        let available = wallet.into();
        Ok(Json(DailyClaimed { amount, streak_day, available, next: next.into() }))
    };
    request.execute(&player, work).await
}

pub(crate) async fn claim_relief(
    State(rewards): State<rewards::Rewards>,
    player: Player,
    Extension(from): Extension<Address>,
    request: IdempotentRequest,
) -> Response {
    let work = async move |attempt| {
        let network = from.network().to_string();
        let claimed = rewards.claim_relief(player.id, Some(&network), attempt).await?;
        let ReliefClaim { amount, wallet, left_today } = claimed;
        Ok(Json(ReliefClaimed { amount: amount.into(), available: wallet.into(), left_today }))
    };
    request.execute(&player, work).await
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
