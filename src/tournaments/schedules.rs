//! Schedules: terms whose tournaments repeat on days of the week at times of the house's zone.
//!
//! A job announces each tournament a duration of the schedule before its start. The row of the start
//! is inserted in the transaction of the announcement, and its primary key lets one of two nodes
//! announce it. A start that is past, because no node ran, is not announced. The guarantees count
//! towards the limit of the operator who created the schedule: above it, a start waits for a later
//! day.

use std::time::Duration;

use bahay_api::operator::tournament_schedules::{ScheduleDay, TournamentSchedule};
use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use bahay_engine::tournament::TournamentTerms;
use jiff::civil::{Time, Weekday};
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::guarantees::{AnnouncedGuarantee, GuaranteeLimit};
use super::schedule_times::ScheduleTimes;
use super::store::PAGE_MAX;
use super::{TournamentDraft, TournamentError, Tournaments, announce_under_id_in_tx, subject};
use crate::clock::{self, Timestamp};
use crate::db::{self, Page, from_sql, to_sql};
use crate::entropy;
use crate::ids::OperatorId;
use crate::operators::Administrator;
use crate::operators::audit::{self, Action, Actor, Channel};

/// The time from one search for tournaments to announce to the next.
pub const PERIOD: Duration = Duration::from_mins(1);

/// The time in which the next start of a schedule is looked for, in milliseconds: eight days.
const NEXT_WITHIN_MS: i64 = 8 * 24 * 60 * 60 * 1_000;

/// The schedules of tournaments. Clones share everything.
#[derive(Clone, Debug)]
pub struct TournamentSchedules {
    pool: PgPool,
    tournaments: Tournaments,
    limit: GuaranteeLimit,
}

/// A schedule to be created.
#[derive(Clone, Debug)]
pub struct ScheduleDraft {
    /// The terms of each tournament, without a start.
    pub terms: TournamentTerms,
    pub times: ScheduleTimes,
    /// The time from the announcement to the start, in seconds.
    pub announce_before_s: u32,
}

/// The reason why a schedule was not created or changed.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    #[error("there is no schedule {id}")]
    Unknown { id: Uuid },
    #[error(
        "guarantees above {above} coins on one day require the approval of another operator for each \
         tournament"
    )]
    ApprovalRequired { above: Coins },
    #[error("the database query failed: {0}")]
    Database(#[from] sqlx::Error),
}

/// A change of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleChange {
    Pause,
    Resume,
    Delete,
}

/// A schedule as it is stored.
struct StoredSchedule {
    id: Uuid,
    draft: ScheduleDraft,
    document: Value,
    is_paused: bool,
    created_by: OperatorId,
    creator_name: String,
    created_at: Timestamp,
}

impl TournamentSchedules {
    pub fn new(pool: PgPool, tournaments: Tournaments, limit: GuaranteeLimit) -> Self {
        Self { pool, tournaments, limit }
    }

    /// Creates a schedule under an id. A repeated creation changes nothing.
    pub async fn create(
        &self,
        by: &Administrator,
        id: Uuid,
        draft: &ScheduleDraft,
    ) -> Result<TournamentSchedule, ScheduleError> {
        let ScheduleDraft { terms, times, announce_before_s } = draft;
        let days: Vec<i16> =
            times.days.iter().map(|day| day.to_monday_one_offset().into()).collect();
        let minutes: Vec<i16> = times.times.iter().map(|time| to_minutes(*time)).collect();
        let mut tx = db::begin(&self.pool).await?;
        let inserted = sqlx::query!(
            "insert into tournament_schedules
                (id, terms, days, minutes, announce_before_s, created_by, created_at)
            values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (id) do nothing",
            id,
            Json(terms) as _,
            &days,
            &minutes,
            i32::try_from(*announce_before_s).unwrap_or(i32::MAX),
            by.id.0,
            to_sql(self.tournaments.now()) as _
        )
        .execute(&mut *tx)
        .await?;
        if inserted.rows_affected() > 0 {
            let now = self.tournaments.now();
            if self.limit.exceeds_by_schedules_in_tx(&mut tx, by.id, now).await? {
                return Err(ScheduleError::ApprovalRequired { above: self.limit.above() });
            }
            let action = Action::ScheduleCreated;
            let detail = json!({ "name": terms.name, "guarantee": terms.guarantee });
            audit::record_in_tx(&mut tx, by.actor(), action, Some(&schedule_subject(id)), detail)
                .await?;
        }
        tx.commit().await?;
        self.find(id).await
    }

    /// Pauses, resumes or deletes a schedule. Announced tournaments stay.
    pub async fn change(
        &self,
        by: &Administrator,
        id: Uuid,
        change: ScheduleChange,
    ) -> Result<(), ScheduleError> {
        let now = self.tournaments.now();
        let mut tx = db::begin(&self.pool).await?;
        let changed = sqlx::query!(
            "update tournament_schedules
            set is_paused = $2, deleted_at = case when $3 then $4::timestamptz end
            where id = $1 and deleted_at is null",
            id,
            change != ScheduleChange::Resume,
            change == ScheduleChange::Delete,
            to_sql(now) as _
        )
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(ScheduleError::Unknown { id });
        }
        let action = match change {
            ScheduleChange::Pause => Action::SchedulePaused,
            ScheduleChange::Resume => Action::ScheduleResumed,
            ScheduleChange::Delete => Action::ScheduleDeleted,
        };
        let subject = schedule_subject(id);
        audit::record_in_tx(&mut tx, by.actor(), action, Some(&subject), json!({})).await?;
        Ok(tx.commit().await?)
    }

    /// Returns a schedule that is not deleted.
    pub async fn find(&self, id: Uuid) -> Result<TournamentSchedule, ScheduleError> {
        let found = select(&self.pool, Some(id), Uuid::max(), 1).await?.pop();
        found.map(|found| self.to_body(found)).ok_or(ScheduleError::Unknown { id })
    }

    /// Returns a page of the schedules that are not deleted, newest first.
    pub async fn list(
        &self,
        below: Option<Uuid>,
        limit: u32,
    ) -> Result<Page<TournamentSchedule, Uuid>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let below = below.unwrap_or(Uuid::max());
        let rows = select(&self.pool, None, below, i64::from(limit) + 1).await?;
        let rows = rows.into_iter().map(|row| self.to_body(row)).collect();
        Ok(Page::from_rows(rows, limit, |last: &TournamentSchedule| last.id))
    }

    /// Announces the tournaments that are due by their schedules, each once.
    pub async fn announce_due(&self) -> Result<(), TournamentError> {
        let now = self.tournaments.now();
        let mut failed = None;
        for schedule in select(&self.pool, None, Uuid::max(), i64::MAX).await? {
            if schedule.is_paused {
                continue;
            }
            for start in self.due_starts(&schedule.draft, now) {
                match self.announce_once(&schedule, start).await {
                    Ok(()) => {}
                    // The limit of the day is used up: the start is announced on a later one.
                    Err(TournamentError::ApprovalRequired { .. }) => break,
                    Err(error) => {
                        tracing::warn!(schedule = %schedule.id, %error, "a tournament is not announced");
                        failed = Some(error);
                    }
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Returns the starts of a schedule that are to be announced by now.
    fn due_starts(&self, draft: &ScheduleDraft, now: Timestamp) -> Vec<Timestamp> {
        let until = now.ms() + 1_000 * i64::from(draft.announce_before_s);
        self.starts_until(draft, now, until)
    }

    fn starts_until(&self, draft: &ScheduleDraft, now: Timestamp, until_ms: i64) -> Vec<Timestamp> {
        let until = clock::to_jiff(Timestamp::from_ms(until_ms));
        let starts = draft.times.starts_between(self.limit.zone(), clock::to_jiff(now), until);
        starts.into_iter().map(clock::from_jiff).collect()
    }

    /// Announces the tournament of a start, unless it has been announced.
    async fn announce_once(
        &self,
        schedule: &StoredSchedule,
        start: Timestamp,
    ) -> Result<(), TournamentError> {
        let mut tx = db::begin(&self.pool).await?;
        let id = TournamentId(entropy::uuid());
        if !insert_start_in_tx(&mut tx, schedule.id, start, id).await? {
            return Ok(());
        }
        let terms = TournamentTerms { starts_at: Some(start), ..schedule.draft.terms.clone() };
        let operator = schedule.created_by;
        let amount = terms.guarantee;
        let detail = json!({ "name": terms.name, "guarantee": amount, "schedule": schedule.id });
        announce_under_id_in_tx(&mut tx, id, TournamentDraft { terms, code: None }).await?;
        let guarantee = AnnouncedGuarantee { tournament: id, operator, amount, is_scheduled: true };
        self.limit.count_in_tx(&mut tx, guarantee, self.tournaments.now()).await?;
        let by = Actor { operator: Some(operator), channel: Channel::Schedule, address: None };
        let action = Action::TournamentAnnounced;
        audit::record_in_tx(&mut tx, &by, action, Some(&subject(id)), detail).await?;
        tx.commit().await?;
        self.tournaments.inner.changed.notify_one();
        Ok(())
    }

    fn to_body(&self, stored: StoredSchedule) -> TournamentSchedule {
        let now = self.tournaments.now();
        let next = self.starts_until(&stored.draft, now, now.ms() + NEXT_WITHIN_MS);
        let StoredSchedule { id, draft, document, is_paused, creator_name, created_at, .. } =
            stored;
        let ScheduleDraft { times, announce_before_s, .. } = draft;
        TournamentSchedule {
            id,
            terms: document,
            days: times.days.iter().map(|day| day_name(*day)).collect(),
            times: times.times.iter().map(|time| time.strftime("%H:%M").to_string()).collect(),
            announce_before_s,
            is_paused,
            next_start: next.first().filter(|_| !is_paused).map(|start| (*start).into()),
            created_by: creator_name,
            created_at: created_at.into(),
        }
    }
}

/// Returns the subject of audit entries about a schedule.
fn schedule_subject(id: Uuid) -> String {
    format!("schedule:{id}")
}

/// Returns the name of a day in the API.
const fn day_name(day: Weekday) -> ScheduleDay {
    match day {
        Weekday::Monday => ScheduleDay::Monday,
        Weekday::Tuesday => ScheduleDay::Tuesday,
        Weekday::Wednesday => ScheduleDay::Wednesday,
        Weekday::Thursday => ScheduleDay::Thursday,
        Weekday::Friday => ScheduleDay::Friday,
        Weekday::Saturday => ScheduleDay::Saturday,
        Weekday::Sunday => ScheduleDay::Sunday,
    }
}

fn to_minutes(time: Time) -> i16 {
    i16::from(time.hour()) * 60 + i16::from(time.minute())
}

fn from_minutes(minutes: i16) -> Option<Time> {
    let hour = i8::try_from(minutes / 60).ok()?;
    Time::new(hour, i8::try_from(minutes % 60).ok()?, 0, 0).ok()
}

/// Inserts a start of a schedule. Returns false if its tournament has been announced.
async fn insert_start_in_tx(
    connection: &mut PgConnection,
    schedule: Uuid,
    start: Timestamp,
    tournament: TournamentId,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into tournament_starts (schedule, start, tournament) values ($1, $2, $3)
        on conflict (schedule, start) do nothing",
        schedule,
        to_sql(start) as _,
        tournament.0
    )
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() > 0)
}

async fn select(
    pool: &PgPool,
    only: Option<Uuid>,
    below: Uuid,
    limit: i64,
) -> Result<Vec<StoredSchedule>, sqlx::Error> {
    let query = || {
        sqlx::query!(
            r#"
            select s.id, s.terms as "terms: Json<TournamentTerms>", s.terms as "document: Value",
                s.days, s.minutes, s.announce_before_s, s.is_paused, s.created_by, o.name as creator,
                s.created_at as "created_at: SqlTimestamp"
            from tournament_schedules s
            join operators o on o.id = s.created_by
            where s.deleted_at is null and ($1::uuid is null or s.id = $1) and s.id < $2
            order by s.id desc
            limit $3
            "#,
            only,
            below,
            limit
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?.into_iter().map(|row| {
        let day = |day: &i16| Weekday::from_monday_one_offset(i8::try_from(*day).ok()?).ok();
        let days: Vec<Weekday> = row.days.iter().filter_map(day).collect();
        let times = row.minutes.iter().filter_map(|minutes| from_minutes(*minutes)).collect();
        StoredSchedule {
            id: row.id,
            draft: ScheduleDraft {
                terms: row.terms.0,
                times: ScheduleTimes { days, times },
                announce_before_s: u32::try_from(row.announce_before_s).unwrap_or_default(),
            },
            document: row.document,
            is_paused: row.is_paused,
            created_by: OperatorId(row.created_by),
            creator_name: row.creator,
            created_at: from_sql(row.created_at),
        }
    });
    Ok(rows.collect())
}
