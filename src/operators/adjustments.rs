//! Limits on the coins that adjustments move and that passes are worth: per adjustment, per
//! requesting operator and per player.
//!
//! The daily limits are enforced when a correction is requested and again when it is approved, so
//! that requests cannot be saved up. A day is the preceding 24 hours. Coins given and coins taken
//! count alike, so that one does not offset the other. Rejected and withdrawn requests do not count.
//! Reversals have no limit of their own: the amount of the reversed operation bounds them.

use std::time::Duration;

use bahay_engine::coins::Coins;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgExecutor};
use thiserror::Error;
use uuid::Uuid;

use crate::clock::{self, Timestamp};
use crate::db::to_sql;
use crate::ids::{OperatorId, PlayerId};

/// The window of the daily limits.
const DAY: Duration = Duration::from_hours(24);

/// The limits on adjustments, in coins, given and taken alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjustmentBounds {
    /// The largest single adjustment.
    pub one_max: Coins,
    /// The sum of all adjustments that one operator requests within 24 hours.
    pub requester_day_max: Coins,
    /// The sum of all adjustments of one player within 24 hours.
    pub player_day_max: Coins,
}

/// The group of adjustments to which a daily limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundScope {
    Requester,
    Player,
}

/// The error of an adjustment that would exceed a daily limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("adjustments {} are limited to {max} in 24 hours, of which {left} remain", match of {
    BoundScope::Requester => "requested by one operator",
    BoundScope::Player => "for one player",
})]
pub struct DailyLimitError {
    pub of: BoundScope,
    pub max: Coins,
    pub left: Coins,
}

/// An adjustment that is requested or approved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjustment {
    pub(super) requester: OperatorId,
    pub(super) player: PlayerId,
    pub(super) amount: Coins,
    /// The correction's id, or the idempotency key of the request, by which the adjustment itself
    /// is left out of the sum.
    pub(super) id: Uuid,
}

/// The adjustments that count towards a daily limit: at a request, everything requested or booked
/// within the day; at an approval, only what was booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundCheck {
    Requested,
    Booked,
}

impl AdjustmentBounds {
    /// Checks an adjustment against the daily limits of its requester and its player.
    ///
    /// Locks the requester's and the player's row until the caller's transaction ends, so that
    /// concurrent adjustments are counted one after the other.
    pub(super) async fn check_day_in_tx(
        &self,
        tx: &mut PgConnection,
        adjustment: Adjustment,
        check: BoundCheck,
        now: Timestamp,
    ) -> Result<Result<(), DailyLimitError>, sqlx::Error> {
        // The operator's row is locked first, on requests and on approvals alike, to prevent a
        // deadlock.
        let Adjustment { requester, player, .. } = adjustment;
        sqlx::query!("select o.id from operators o where o.id = $1 for no key update", requester.0)
            .fetch_optional(&mut *tx)
            .await?;
        sqlx::query!("select p.id from players p where p.id = $1 for no key update", player.0)
            .fetch_optional(&mut *tx)
            .await?;
        let checked = self.check_days(tx, &[adjustment], check, now).await?;
        Ok(checked.into_iter().collect())
    }

    /// Checks each adjustment as [`AdjustmentBounds::check_day_in_tx`] does, without locks and in one
    /// statement.
    pub(super) async fn check_days(
        &self,
        executor: impl PgExecutor<'_>,
        adjustments: &[Adjustment],
        check: BoundCheck,
        now: Timestamp,
    ) -> Result<Vec<Result<(), DailyLimitError>>, sqlx::Error> {
        let sums = read_sums(executor, adjustments, check, now).await?;
        let checked = adjustments.iter().zip(sums);
        Ok(checked.map(|(adjustment, sums)| self.check_sums(adjustment, sums)).collect())
    }

    /// Checks an adjustment, given the sums of the day's other adjustments.
    fn check_sums(&self, adjustment: &Adjustment, sums: DaySums) -> Result<(), DailyLimitError> {
        let bounds = [
            (BoundScope::Requester, self.requester_day_max, sums.of_requester),
            (BoundScope::Player, self.player_day_max, sums.of_player),
        ];
        let amount = adjustment.amount.hundredths().unsigned_abs();
        for (of, max, sum) in bounds {
            let left = max.hundredths().saturating_sub(sum).max(0);
            if amount > left.unsigned_abs() {
                return Err(DailyLimitError { of, max, left: Coins::from_hundredths(left) });
            }
        }
        Ok(())
    }
}

/// The sums of the day's other adjustments, in hundredths of a coin.
#[derive(Clone, Copy, Debug)]
struct DaySums {
    of_requester: i64,
    of_player: i64,
}

/// Returns the sums for each adjustment, in their order.
async fn read_sums(
    executor: impl PgExecutor<'_>,
    adjustments: &[Adjustment],
    check: BoundCheck,
    now: Timestamp,
) -> Result<Vec<DaySums>, sqlx::Error> {
    let since: SqlTimestamp = to_sql(clock::subtract(now, DAY));
    let requesters: Vec<_> = adjustments.iter().map(|one| one.requester.0).collect();
    let players: Vec<_> = adjustments.iter().map(|one| one.player.0).collect();
    let ids: Vec<_> = adjustments.iter().map(|one| one.id).collect();
    sqlx::query_as!(
        DaySums,
        r#"
        select s.of_requester as "of_requester!", s.of_player as "of_player!"
        from unnest($1::uuid[], $2::uuid[], $3::uuid[])
            with ordinality as a (requester, player, id, place)
        cross join lateral (
            select
                least(
                    coalesce(sum(abs(c.amount)) filter (where c.requested_by = a.requester), 0),
                    $6::int8
                )::int8 as of_requester,
                least(
                    coalesce(sum(abs(c.amount)) filter (where c.player = a.player), 0), $6::int8
                )::int8 as of_player
            from corrections c
            where c.kind in ('adjustment', 'pass') and (c.requested_by = a.requester or c.player = a.player)
                and c.id <> a.id and c.attempt <> a.id
                and case
                    when $5 then c.state = 'approved' and c.decided_at > $4
                    else c.state in ('open', 'approved')
                        and (c.requested_at > $4 or c.decided_at > $4)
                end
        ) s
        order by a.place
        "#,
        &requesters,
        &players,
        &ids,
        since as _,
        check == BoundCheck::Booked,
        i64::MAX
    )
    .fetch_all(executor)
    .await
}
