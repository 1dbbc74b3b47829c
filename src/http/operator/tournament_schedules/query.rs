//! The part of schedules that the API and the desk share.

use bahay_api::operator::tournament_schedules::{
    CreateTournamentSchedule, SCHEDULE_TIMES_MAX, ScheduleDay, TournamentSchedule,
};
use jiff::civil::{Time, Weekday};

use crate::clock::Timestamp;
use crate::http::operator::tournaments::{FieldError, to_draft};
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem};
use crate::operators::Operator;
use crate::tournaments::{
    ScheduleDraft, ScheduleError, ScheduleTimes, TournamentDraft, TournamentSchedules,
};

/// The bounds of the time from the announcement to the start, in seconds. A shorter time could pass
/// between two runs of the job that announces.
const BEFORE_S: std::ops::RangeInclusive<u32> = 300..=2_592_000;

/// Returns a page of schedules, newest first.
pub(super) async fn list(
    schedules: &TournamentSchedules,
    request: &PageRequest<Operator>,
) -> Result<PageOf<TournamentSchedule>, Problem> {
    let read = |below, limit| schedules.list(below, limit);
    request.read("tournament schedules", read).await
}

/// Returns the schedule that a request asks for.
pub(super) fn to_schedule(
    now: Timestamp,
    request: CreateTournamentSchedule,
) -> Result<ScheduleDraft, FieldError> {
    let CreateTournamentSchedule { mut tournament, days, times, announce_before_s } = request;
    if tournament.starts_at.is_some() || tournament.starts_in_s.is_some() {
        let field = if tournament.starts_at.is_some() { "starts_at" } else { "starts_in_s" };
        return Err(FieldError::new(field, "the schedule has the starts"));
    }
    if tournament.code.is_some() {
        return Err(FieldError::new("code", "the tournaments of a schedule are public"));
    }
    if tournament.preset.starts_with("sit_and_go") {
        return Err(FieldError::new("preset", "a sit-and-go has no start"));
    }
    // The terms are checked with a start, which each tournament gets from the schedule.
    tournament.starts_in_s = Some(60);
    let TournamentDraft { mut terms, .. } = to_draft(now, tournament)?;
    terms.starts_at = None;
    if !(1..=7).contains(&days.len()) {
        return Err(FieldError::new("days", "there are 1 to 7 days"));
    }
    if !(1..=SCHEDULE_TIMES_MAX).contains(&times.len()) {
        return Err(FieldError::new("times", "there are 1 to 24 times"));
    }
    if !BEFORE_S.contains(&announce_before_s) {
        return Err(FieldError::new("announce_before_s", "it is five minutes to 30 days"));
    }
    let mut days: Vec<Weekday> = days.into_iter().map(to_weekday).collect();
    days.sort_unstable_by_key(|day| day.to_monday_zero_offset());
    days.dedup();
    let times = times.iter().map(|time| parse_time(time)).collect::<Option<Vec<Time>>>();
    let times = times.ok_or_else(|| FieldError::new("times", "a time is as in 20:00"))?;
    let mut times = times;
    times.sort_unstable();
    times.dedup();
    Ok(ScheduleDraft { terms, times: ScheduleTimes { days, times }, announce_before_s })
}

/// Parses a time of the day in hours and minutes.
fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

const fn to_weekday(day: ScheduleDay) -> Weekday {
    match day {
        ScheduleDay::Monday => Weekday::Monday,
        ScheduleDay::Tuesday => Weekday::Tuesday,
        ScheduleDay::Wednesday => Weekday::Wednesday,
        ScheduleDay::Thursday => Weekday::Thursday,
        ScheduleDay::Friday => Weekday::Friday,
        ScheduleDay::Saturday => Weekday::Saturday,
        ScheduleDay::Sunday => Weekday::Sunday,
    }
}

impl From<ScheduleError> for Problem {
    fn from(error: ScheduleError) -> Self {
        let code = match &error {
            ScheduleError::Unknown { .. } => Code::TournamentScheduleNotFound,
            ScheduleError::ApprovalRequired { .. } => Code::TournamentApprovalRequired,
            ScheduleError::Database(_) => {
                return match error {
                    ScheduleError::Database(error) => error.into(),
                    other => Self::internal(&other),
                };
            }
        };
        code.with_detail(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn times_of_the_day_are_parsed() {
        assert_eq!(parse_time("20:00"), Some(jiff::civil::time(20, 0, 0, 0)));
        for text in ["", "8:00", "24:00", "12:60", "20", "20:00:00", "+1:00"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
