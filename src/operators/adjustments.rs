//! How much adjustments may move: what one does, what all of one operator come to in a day, and what
//! all of one player do.
//!
//! The bounds of a day are held when somebody asks, and again when another approves, so that
//! requests cannot be saved up. A day is the 24 hours before. What is given and what is taken count
//! alike, so that one does not make room for the other; what was rejected does not count. Reversals
//! are bounded by what they take back.

use std::time::Duration;

use bahay_engine::coins::Coins;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;
use thiserror::Error;
use uuid::Uuid;

use super::sign_in::to_sql;
use crate::clock::{self, Timestamp};
use crate::ids::{OperatorId, PlayerId};

/// Over how long the bounds of a day go.
const DAY: Duration = Duration::from_hours(24);

/// How much adjustments may move, given and taken alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjustmentBounds {
    /// One of them.
    pub one_max: Coins,
    /// All that one operator asks for in a day.
    pub requester_day_max: Coins,
    /// All of one player in a day.
    pub player_day_max: Coins,
}

/// Whose adjustments are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundScope {
    Requester,
    Player,
}

/// The adjustments of a day would come to more than they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{}, adjustments come to at most {max} in 24 hours; {left} of it is left", match of {
    BoundScope::Requester => "asked for by one operator",
    BoundScope::Player => "for one player",
})]
pub struct DailyLimitError {
    pub of: BoundScope,
    pub max: Coins,
    pub left: Coins,
}

/// An adjustment that is asked for or approved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjustment {
    pub(super) requester: OperatorId,
    pub(super) player: PlayerId,
    pub(super) amount: Coins,
    /// Its id, or the attempt that makes it: by which it is not counted twice.
    pub(super) id: Uuid,
}

/// What is counted: whatever was asked for or booked in a day, or only what was booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundCheck {
    Requested,
    Booked,
}

impl AdjustmentBounds {
    /// Whether an adjustment is within what may be moved in a day. Holds the requester's row and
    /// the player's, so that two at once are counted one after the other.
    pub(super) async fn check_day_in_tx(
        &self,
        tx: &mut PgConnection,
        asked: Adjustment,
        stage: BoundCheck,
        now: Timestamp,
    ) -> Result<Result<(), DailyLimitError>, sqlx::Error> {
        let (of_requester, of_player) = sums(tx, asked, stage, now).await?;
        let bounds = [
            (BoundScope::Requester, self.requester_day_max, of_requester),
            (BoundScope::Player, self.player_day_max, of_player),
        ];
        let amount = asked.amount.hundredths().unsigned_abs();
        for (of, max, sum) in bounds {
            let left = max.hundredths().saturating_sub(sum).max(0);
            if amount > left.unsigned_abs() {
                return Ok(Err(DailyLimitError { of, max, left: Coins::from_hundredths(left) }));
            }
        }
        Ok(Ok(()))
    }
}

/// What the others of a day come to, in hundredths: of the requester, and of the player.
async fn sums(
    tx: &mut PgConnection,
    Adjustment { requester, player, id, .. }: Adjustment,
    stage: BoundCheck,
    now: Timestamp,
) -> Result<(i64, i64), sqlx::Error> {
    // The operator first, whoever asks or approves, so that nobody waits in a circle.
    sqlx::query!("select o.id from operators o where o.id = $1 for no key update", requester.0)
        .fetch_optional(&mut *tx)
        .await?;
    sqlx::query!("select p.id from players p where p.id = $1 for no key update", player.0)
        .fetch_optional(&mut *tx)
        .await?;
    let since: SqlTimestamp = to_sql(clock::before(now, DAY));
    let sums = sqlx::query!(
        r#"
        with of_day as (
            select c.requested_by, c.player, abs(c.amount) as amount
            from corrections c
            where c.kind = 'adjustment' and (c.requested_by = $1 or c.player = $2)
                and c.id <> $3 and c.attempt <> $3
                and case
                    when $5 then c.state = 'approved' and c.decided_at > $4
                    else c.state <> 'rejected' and (c.requested_at > $4 or c.decided_at > $4)
                end
        )
        select
            least(coalesce(sum(amount) filter (where requested_by = $1), 0), $6::int8)::int8
                as "of_requester!",
            least(coalesce(sum(amount) filter (where player = $2), 0), $6::int8)::int8
                as "of_player!"
        from of_day
        "#,
        requester.0,
        player.0,
        id,
        since as _,
        stage == BoundCheck::Booked,
        i64::MAX
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok((sums.of_requester, sums.of_player))
}
