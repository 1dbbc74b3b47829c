//! Schedules, whose tournaments repeat on days of the week.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::operator::tournaments::AnnounceTournament;
use crate::values::{IdText, Time, TimeOfDayText};

/// The maximum number of times of a day.
pub const SCHEDULE_TIMES_MAX: usize = 24;

operations! {
    /// Create a schedule
    ///
    /// Each of its tournaments is announced a time before its start. The terms have neither a start
    /// nor a code, and no preset of a sit-and-go. The guarantees of the operator's schedules on one
    /// day of the week are limited as those of announcements. The detail of `tournament_unsound`
    /// states the field. For the role `admin`.
    CREATE_TOURNAMENT_SCHEDULE = Post "/v1/operator/tournament-schedules", Operators, Operator {
        headers RequiredKey,
        body CreateTournamentSchedule,
        201 json TournamentSchedule: "The schedule",
        refuses TournamentUnsound TournamentApprovalRequired,
    }

    /// List the schedules
    ///
    /// Newest first, without deleted ones. For operators of every role.
    LIST_TOURNAMENT_SCHEDULES = Get "/v1/operator/tournament-schedules", Operators, Operator {
        query PageQuery,
        200 page TournamentSchedule: "A page of schedules",
    }

    /// Pause a schedule
    ///
    /// It announces nothing until it is resumed; announced tournaments stay. For the role `admin`.
    PAUSE_TOURNAMENT_SCHEDULE = Post "/v1/operator/tournament-schedules/{id}/pause", Operators, Operator {
        path id: IdText = "The schedule",
        headers RequiredKey,
        200 json TournamentSchedule: "The paused schedule",
        refuses TournamentScheduleNotFound,
    }

    /// Resume a schedule
    ///
    /// For the role `admin`.
    RESUME_TOURNAMENT_SCHEDULE = Post "/v1/operator/tournament-schedules/{id}/resumption", Operators, Operator {
        path id: IdText = "The schedule",
        headers RequiredKey,
        200 json TournamentSchedule: "The schedule",
        refuses TournamentScheduleNotFound,
    }

    /// Delete a schedule
    ///
    /// Announced tournaments stay. For the role `admin`.
    DELETE_TOURNAMENT_SCHEDULE = Post "/v1/operator/tournament-schedules/{id}/deletion", Operators, Operator {
        path id: IdText = "The schedule",
        headers RequiredKey,
        204 empty (): "The schedule is deleted",
        refuses TournamentScheduleNotFound,
    }
}

bahay_base::text_enum! {
    /// A day of the week.
    #[derive(ToSchema)]
    pub enum ScheduleDay {
        Monday = "monday",
        Tuesday = "tuesday",
        Wednesday = "wednesday",
        Thursday = "thursday",
        Friday = "friday",
        Saturday = "saturday",
        Sunday = "sunday",
    }
}

/// A schedule to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTournamentSchedule {
    /// The terms of each tournament, without a start and a code.
    pub tournament: AnnounceTournament,
    /// The days of the week, in the house's time zone.
    #[schema(min_items = 1, max_items = 7)]
    pub days: Vec<ScheduleDay>,
    /// The times of the day in the house's time zone, such as `20:00`.
    #[schema(value_type = Vec<TimeOfDayText>, min_items = 1, max_items = 24)]
    pub times: Vec<String>,
    /// The time from the announcement to the start, in seconds: five minutes to 30 days.
    #[schema(minimum = 300, maximum = 2_592_000, example = 86_400)]
    pub announce_before_s: u32,
}

/// A schedule.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentSchedule {
    pub id: Uuid,
    /// The terms of each tournament, as the list of results has them, without a start.
    #[schema(value_type = Object)]
    pub terms: Value,
    pub days: Vec<ScheduleDay>,
    /// The times of the day in the house's time zone.
    #[schema(example = json!(["20:00"]))]
    pub times: Vec<String>,
    /// The time from the announcement to the start, in seconds.
    pub announce_before_s: u32,
    pub is_paused: bool,
    /// The next start; null while the schedule is paused.
    #[schema(required = true)]
    pub next_start: Option<Time>,
    /// The name of the operator who created it.
    #[schema(example = "ate.luz")]
    pub created_by: String,
    pub created_at: Time,
}
