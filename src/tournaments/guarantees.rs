//! The limit of the guarantees that one operator announces alone on a day of the house: above it,
//! another operator approves the tournament (`requests`).
//!
//! A guarantee counts on the day of the announcement, directly or by a schedule that the operator
//! created, and also if the tournament is cancelled. Direct announcements leave what the operator's
//! schedules need on their fullest day, so that none of them has to wait. The operator's row is
//! locked, so that concurrent announcements are counted one after the other.

use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use jiff::tz::TimeZone;
use jiff_sqlx::ToSqlx as _;
use sqlx::{PgConnection, PgExecutor};

use super::TournamentError;
use crate::clock::{self, Timestamp};
use crate::ids::OperatorId;

/// The limit, with the time zone of the house's days.
#[derive(Clone, Debug)]
pub struct GuaranteeLimit {
    above: Coins,
    zone: TimeZone,
}

/// The tournament whose guarantee counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnnouncedGuarantee {
    pub(super) tournament: TournamentId,
    pub(super) operator: OperatorId,
    pub(super) amount: Coins,
    /// True if a schedule announces it.
    pub(super) is_scheduled: bool,
}

/// The guarantees of an operator, in hundredths of a coin.
#[derive(Clone, Copy, Debug)]
struct OperatorGuarantees {
    /// Those announced on the day.
    announced: i64,
    /// The part of them that no schedule announced.
    direct: i64,
    /// The sum that the schedules announce for their fullest day of the week.
    scheduled: i64,
}

impl OperatorGuarantees {
    /// Returns the sum beside which a direct announcement has to fit.
    const fn beside_direct(self) -> i64 {
        let reserved = self.direct.saturating_add(self.scheduled);
        if self.announced > reserved { self.announced } else { reserved }
    }
}

impl GuaranteeLimit {
    pub const fn new(above: Coins, zone: TimeZone) -> Self {
        Self { above, zone }
    }

    /// Returns the sum of a day above which a second operator approves.
    pub const fn above(&self) -> Coins {
        self.above
    }

    /// Returns the house's time zone.
    pub const fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns whether a direct announcement with this guarantee requires a second operator.
    pub(super) async fn requires_approval(
        &self,
        executor: impl PgExecutor<'_>,
        operator: OperatorId,
        amount: Coins,
        now: Timestamp,
    ) -> Result<bool, sqlx::Error> {
        if amount.is_zero() {
            return Ok(false);
        }
        let sums = self.read_sums(executor, operator, now).await?;
        Ok(self.is_exceeded(sums.beside_direct(), amount))
    }

    /// Counts the guarantee of a tournament that is announced in the caller's transaction.
    ///
    /// # Errors
    /// [`TournamentError::ApprovalRequired`] if the operator's limit of the day does not cover it.
    pub(super) async fn count_in_tx(
        &self,
        connection: &mut PgConnection,
        guarantee: AnnouncedGuarantee,
        now: Timestamp,
    ) -> Result<(), TournamentError> {
        let AnnouncedGuarantee { tournament, operator, amount, is_scheduled } = guarantee;
        if amount.is_zero() {
            return Ok(());
        }
        lock_operator_in_tx(connection, operator).await?;
        let sums = self.read_sums(&mut *connection, operator, now).await?;
        let beside = if is_scheduled { sums.announced } else { sums.beside_direct() };
        if self.is_exceeded(beside, amount) {
            return Err(TournamentError::ApprovalRequired { above: self.above });
        }
        sqlx::query!(
            "insert into tournament_guarantees (tournament, operator, day, amount, is_scheduled)
            values ($1, $2, $3, $4, $5)",
            tournament.0,
            operator.0,
            self.day_of(now).to_sqlx() as _,
            amount.hundredths(),
            is_scheduled
        )
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Returns whether the operator's schedules, with one that the caller's transaction has inserted,
    /// announce more for a day of the week than the limit.
    pub(super) async fn exceeds_by_schedules_in_tx(
        &self,
        connection: &mut PgConnection,
        operator: OperatorId,
        now: Timestamp,
    ) -> Result<bool, sqlx::Error> {
        lock_operator_in_tx(connection, operator).await?;
        let sums = self.read_sums(connection, operator, now).await?;
        Ok(self.is_exceeded(sums.scheduled, Coins::ZERO))
    }

    fn is_exceeded(&self, beside: i64, amount: Coins) -> bool {
        beside.saturating_add(amount.hundredths()) > self.above.hundredths()
    }

    fn day_of(&self, at: Timestamp) -> jiff::civil::Date {
        clock::to_jiff(at).to_zoned(self.zone.clone()).date()
    }

    async fn read_sums(
        &self,
        executor: impl PgExecutor<'_>,
        operator: OperatorId,
        now: Timestamp,
    ) -> Result<OperatorGuarantees, sqlx::Error> {
        sqlx::query_as!(
            OperatorGuarantees,
            r#"
            select coalesce(sum(g.amount), 0)::bigint as "announced!",
                coalesce(sum(g.amount) filter (where not g.is_scheduled), 0)::bigint as "direct!",
                (
                    select coalesce(max(n.sum), 0)
                    from (
                        select sum((s.terms ->> 'guarantee')::bigint * cardinality(s.minutes)) as sum
                        from tournament_schedules s
                        cross join unnest(s.days) as d (day)
                        where s.created_by = $1 and s.deleted_at is null
                        group by d.day
                    ) n
                )::bigint as "scheduled!"
            from tournament_guarantees g
            where g.operator = $1 and g.day = $2
            "#,
            operator.0,
            self.day_of(now).to_sqlx() as _
        )
        .fetch_one(executor)
        .await
    }
}

async fn lock_operator_in_tx(
    connection: &mut PgConnection,
    operator: OperatorId,
) -> Result<(), sqlx::Error> {
    sqlx::query!("select o.id from operators o where o.id = $1 for no key update", operator.0)
        .fetch_optional(connection)
        .await
        .map(|_| ())
}
