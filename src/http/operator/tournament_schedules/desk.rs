//! Schedules at the desk: the list, and the form that creates one.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::tournament_schedules::{
    CreateTournamentSchedule, ScheduleDay, TournamentSchedule,
};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query::{self, to_schedule};
use crate::entropy;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, OperatorForm, OperatorSession, badge, button, field, page, pager,
    table_of,
};
use crate::http::operator::tournaments::{AnnouncementForm, FieldError, draw_terms, label_of};
use crate::http::{Cursors, PageQuery, PageRequest, Path, Problem, Query};
use crate::tournaments::{ScheduleChange, ScheduleDraft, TournamentSchedules, Tournaments};

const HERE: &str = "/desk/tournament-schedules";

/// The number of schedules on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(schedules): State<TournamentSchedules>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery>,
) -> Result<Response, ErrorPage> {
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list(&schedules, &request).await?;
    let is_administrator = session.operator.require_administrator().is_ok();
    let body = html! {
        @if is_administrator {
            p { a class="button" href={ (HERE) "/new" } { "Create a schedule" } }
        }
        (table_of("Schedules, newest first", &listed.items, &[
            ("Name", &|one| html! { (one.terms["name"].as_str().unwrap_or_default()) }),
            ("Days", &|one| html! { (describe_days(&one.days)) }),
            ("Times", &|one| html! { (one.times.join(", ")) }),
            ("Announced before", &|one| html! { (one.announce_before_s / 60) " min" }),
            ("State", &|one| if one.is_paused { badge("waiting", "paused") } else { badge("good", "active") }),
            ("Next start", &|one| html! {
                @if let Some(start) = one.next_start { (session.zone.time(start)) } @else { "–" }
            }),
            ("Created by", &|one| html! { (one.created_by) }),
            ("Change", &|one| draw_buttons(&session, is_administrator, one)),
        ]))
        (pager(HERE, &[], listed.next_cursor.as_deref()))
        p { a href="/desk/tournaments" { "All tournaments" } }
    };
    Ok(page(&session, "Schedules of tournaments", body))
}

fn describe_days(days: &[ScheduleDay]) -> String {
    if days.len() == ScheduleDay::ALL.len() {
        return "every day".to_owned();
    }
    let names: Vec<&str> = days.iter().map(|day| day.as_str()).collect();
    names.join(", ")
}

fn draw_buttons(
    session: &OperatorSession,
    is_administrator: bool,
    schedule: &TournamentSchedule,
) -> Markup {
    let here = format!("{HERE}/{}", schedule.id);
    html! {
        @if is_administrator {
            @if schedule.is_paused {
                (button(session, &format!("{here}/resumption"), "Resume", ""))
            } @else {
                (button(session, &format!("{here}/pause"), "Pause", ""))
            }
            " "
            (button(session, &format!("{here}/deletion"), "Delete", "Delete this schedule? Announced tournaments stay."))
        }
    }
}

/// The fields of the form as they were typed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ScheduleForm {
    /// The names of the days, separated by spaces or commas; every day if empty.
    days: String,
    /// The times, separated by spaces or commas.
    times: String,
    /// The time from the announcement to the start, in hours.
    before: String,
    #[serde(flatten)]
    tournament: AnnouncementForm,
}

impl ScheduleForm {
    fn to_draft(
        &self,
        session: &OperatorSession,
        tournaments: &Tournaments,
    ) -> Result<ScheduleDraft, FieldError> {
        let is_gap = |letter: char| letter == ',' || letter.is_whitespace();
        let words = |text: &str| -> Vec<String> {
            let words = text.split(is_gap).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let mut days = Vec::new();
        for word in words(&self.days) {
            let day = ScheduleDay::ALL
                .iter()
                .find(|day| word.len() >= 3 && day.as_str().starts_with(word.as_str()));
            days.push(*day.ok_or_else(|| FieldError::new("days", "a day is as in friday"))?);
        }
        if days.is_empty() {
            days = ScheduleDay::ALL.to_vec();
        }
        let hours = self.before.trim().parse::<u32>();
        let hours =
            hours.map_err(|_| FieldError::new("before", "it is a whole number of hours"))?;
        let request = CreateTournamentSchedule {
            tournament: self.tournament.to_request(&session.zone)?,
            days,
            times: words(&self.times),
            announce_before_s: hours.saturating_mul(3_600),
        };
        to_schedule(tournaments.now(), request)
    }

    fn draw_hidden(&self) -> Markup {
        html! {
            @for (name, value) in [("days", &self.days), ("times", &self.times), ("before", &self.before)] {
                input type="hidden" name=(name) value=(value);
            }
            (self.tournament.draw_hidden())
        }
    }
}

pub(crate) async fn form(
    State(tournaments): State<Tournaments>,
    session: OperatorSession,
    Query(form): Query<ScheduleForm>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let checked = form.tournament.is_filled().then(|| form.to_draft(&session, &tournaments));
    let refused = checked.as_ref().and_then(|checked| checked.as_ref().err());
    let error = |name: &str| match refused {
        Some(refused) if refused.field == name => refused.message.as_str(),
        _ => "",
    };
    let before_error =
        if error("before").is_empty() { error("announce_before_s") } else { error("before") };
    let body = html! {
        @if let Some(Ok(draft)) = &checked { (draw_preview(&session, &form, draft)) }
        @if let Some(FieldError { field, message }) = refused {
            p class="alert" role="alert" { "Nothing was created. " (label_of(field)) ": " (message) "." }
        }
        h2 { "Days and terms" }
        form method="get" action={ (HERE) "/new" } {
            (field(Field {
                value: &form.days, error: error("days"),
                hint: "Such as friday, sunday; every day if empty.",
                ..Field::optional("days", "Days")
            }))
            (field(Field {
                value: &form.times, error: error("times"),
                hint: "Such as 12:30, 20:00, in the house's zone.",
                ..Field::required("times", "Times")
            }))
            (field(Field {
                value: &form.before, error: before_error, inputmode: "numeric",
                hint: "Hours from the announcement to the start.",
                ..Field::required("before", "Announced before")
            }))
            (form.tournament.draw_fields(refused))
            button class="main" { "Show the schedule in full" }
        }
        p { "Nothing is created before you have confirmed it. Leave start and code empty." }
    };
    Ok(page(&session, "Create a schedule", body))
}

/// Draws a schedule in full with the form that confirms it.
fn draw_preview(session: &OperatorSession, form: &ScheduleForm, draft: &ScheduleDraft) -> Markup {
    let times: Vec<String> =
        draft.times.times.iter().map(|time| time.strftime("%H:%M").to_string()).collect();
    let hours = draft.announce_before_s / 3_600;
    html! {
        h2 { "The schedule in full" }
        p {
            "On " (draft.times.days.len()) " days a week at " (times.join(", ")) ", each announced "
            (hours) @if hours == 1 { " hour" } @else { " hours" } " before its start."
        }
        (draw_terms(&session.zone, &draft.terms, None))
        form method="post" action=(HERE) {
            (session.form_token())
            // The idempotency key of the form: a form that is sent twice creates one schedule.
            input type="hidden" name="attempt" value=(entropy::uuid());
            (form.draw_hidden())
            button class="main" { "Create this schedule" }
        }
    }
}

/// The form that confirms a schedule.
#[derive(Debug, Deserialize)]
pub(crate) struct ConfirmationForm {
    attempt: Uuid,
    #[serde(flatten)]
    schedule: ScheduleForm,
}

pub(crate) async fn create(
    State(tournaments): State<Tournaments>,
    State(schedules): State<TournamentSchedules>,
    OperatorForm { session, input }: OperatorForm<ConfirmationForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let draft = input.schedule.to_draft(&session, &tournaments).map_err(Problem::from)?;
    schedules.create(&by, input.attempt, &draft).await?;
    Ok(Redirect::to(HERE))
}

pub(crate) async fn pause(
    State(schedules): State<TournamentSchedules>,
    Path(schedule): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    change(&schedules, &session, schedule, ScheduleChange::Pause).await
}

pub(crate) async fn resume(
    State(schedules): State<TournamentSchedules>,
    Path(schedule): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    change(&schedules, &session, schedule, ScheduleChange::Resume).await
}

pub(crate) async fn delete(
    State(schedules): State<TournamentSchedules>,
    Path(schedule): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    change(&schedules, &session, schedule, ScheduleChange::Delete).await
}

async fn change(
    schedules: &TournamentSchedules,
    session: &OperatorSession,
    schedule: Uuid,
    change: ScheduleChange,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    schedules.change(&by, schedule, change).await?;
    Ok(Redirect::to(HERE))
}
