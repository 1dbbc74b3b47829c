//! The comparison of any two days or weeks, chosen by links or by dates of the house's zone.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bahay_api::operator::today::{ComparedPeriod, ComparisonQuery, PeriodComparison, PeriodUnit};
use jiff::ToSpan as _;
use jiff::civil::Date;
use maud::{Markup, html};

use super::figure_tables::{FigureColumn, draw_figures};
use super::query;
use crate::clock::{BoundedDate, Timestamp};
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, HouseZone, OperatorSession, SearchForm, field, page, select,
};
use crate::http::{Code, CodeExt as _, Problem, Services};

const HERE: &str = "/desk/today/compare";

/// The fields of the form with the reasons why they were refused.
struct ComparisonForm {
    unit: PeriodUnit,
    first: DayField,
    second: DayField,
}

/// A day as it was typed.
struct DayField {
    text: String,
    day: Result<BoundedDate, String>,
}

impl DayField {
    /// Parses a day. Returns `default` if the field is empty.
    fn parse(services: &Services, text: &str, default: Date) -> Self {
        let text = if text.is_empty() { default.to_string() } else { text.trim().to_owned() };
        let day = match text.parse::<BoundedDate>() {
            Ok(day) => match query::check_begun(services, day.into()) {
                Ok(()) => Ok(day),
                Err(error) => Err(format!("The day {error} ({}).", current_day(services))),
            },
            Err(error) => Err(format!("{error}.")),
        };
        Self { text, day }
    }

    fn draw(&self, name: &str, label: &str) -> Markup {
        let error = self.day.as_ref().err().map_or("", String::as_str);
        field(Field { kind: "date", value: &self.text, error, ..Field::required(name, label) })
    }
}

impl ComparisonForm {
    /// Parses the form. Without days it compares the current day or week with the one before.
    fn parse(services: &Services, form: &SearchForm) -> Result<Self, Problem> {
        let unit = match form.value("unit") {
            "" | "day" => PeriodUnit::Day,
            "week" => PeriodUnit::Week,
            _ => return Err(Code::QueryInvalid.with_detail("the field `unit` is invalid")),
        };
        let first = DayField::parse(services, form.value("first"), current_day(services));
        let last =
            first.day.as_ref().map_or_else(|_| current_day(services), |day| Date::from(*day));
        let before = subtract_days(last, length_days(unit));
        let second = DayField::parse(services, form.value("second"), before);
        Ok(Self { unit, first, second })
    }

    fn draw(&self) -> Markup {
        html! {
            form class="filter" method="get" action=(HERE) {
                (select("unit", "Compare", &[("day", "Days"), ("week", "Weeks")], unit_text(self.unit)))
                (self.first.draw("first", "First"))
                (self.second.draw("second", "Second"))
                button { "Compare" }
            }
            @if self.unit == PeriodUnit::Week {
                p { "A week lasts from Monday to Sunday; any of its days selects it." }
            }
        }
    }
}

pub(crate) async fn show_comparison(
    State(services): State<Services>,
    session: OperatorSession,
    FilterForm(form): FilterForm<SearchForm>,
) -> Result<Response, ErrorPage> {
    let form = ComparisonForm::parse(&services, &form)?;
    let body = |comparison: Markup| {
        html! {
            p { a href="/desk/today" { "Today so far" } }
            (period_links(&form, current_day(&services)))
            (form.draw())
            (comparison)
        }
    };
    let [Ok(first), Ok(second)] = [&form.first.day, &form.second.day] else {
        let page = page(&session, "Comparison", body(html! {}));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let query = ComparisonQuery { unit: Some(form.unit), first: *first, second: *second };
    let comparison = query::load_comparison(&services, query).await?;
    Ok(page(&session, "Comparison", body(draw_comparison(&session.zone, &comparison))))
}

fn draw_comparison(zone: &HouseZone, comparison: &PeriodComparison) -> Markup {
    let PeriodComparison { first, second, difference, .. } = comparison;
    let [first_name, second_name] = [first, second].map(period_name);
    let column = |name, figures, is_difference| FigureColumn { name, figures, is_difference };
    html! {
        p { "Amounts are in coins. The difference is the first period minus the second." }
        ul {
            @for (name, period) in [(&first_name, first), (&second_name, second)] {
                li {
                    (name) ": from " (zone.time(period.from)) " to " (zone.time(period.to))
                    ", " (format_hours(period))
                    @if !period.has_ended { " so far" }
                }
            }
        }
        (draw_figures(&[
            column(&first_name, &first.figures, false),
            column(&second_name, &second.figures, false),
            column("Difference", difference, true),
        ]))
    }
}

/// Draws links that select two periods.
fn period_links(form: &ComparisonForm, today: Date) -> Markup {
    let links = [
        ("Today and yesterday", PeriodUnit::Day, 0, 1),
        ("Today and a week ago", PeriodUnit::Day, 0, 7),
        ("Yesterday and the day before", PeriodUnit::Day, 1, 2),
        ("This week and last week", PeriodUnit::Week, 0, 7),
        ("Last week and the week before", PeriodUnit::Week, 7, 14),
    ];
    let chosen = (form.unit, form.first.text.as_str(), form.second.text.as_str());
    let links = links.map(|(name, unit, first, second)| {
        let [first, second] = [first, second].map(|days| subtract_days(today, days).to_string());
        let is_chosen = chosen == (unit, first.as_str(), second.as_str());
        let unit = unit_text(unit);
        (name, format!("{HERE}?unit={unit}&first={first}&second={second}"), is_chosen)
    });
    html! {
        nav class="choices" aria-label="Periods" {
            @for (name, url, is_chosen) in links {
                a href=(url) aria-current=[is_chosen.then_some("true")] { (name) }
            }
        }
    }
}

fn period_name(period: &ComparedPeriod) -> String {
    let ComparedPeriod { first_day, last_day, .. } = period;
    if first_day == last_day { first_day.clone() } else { format!("{first_day} to {last_day}") }
}

/// Formats the length of a period, of which a change of the clocks makes 23 or 25 hours.
fn format_hours(period: &ComparedPeriod) -> String {
    let [from, to] = [period.from, period.to].map(|at| Timestamp::from(at).ms());
    let minutes = (to - from) / 60_000;
    match (minutes / 60, minutes % 60) {
        (1, 0) => "1 hour".to_owned(),
        (hours, 0) => format!("{hours} hours"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn current_day(services: &Services) -> Date {
    services.standings.today(services.clock.now())
}

fn subtract_days(day: Date, days: i64) -> Date {
    day.checked_sub(days.days()).unwrap_or(day)
}

const fn length_days(unit: PeriodUnit) -> i64 {
    match unit {
        PeriodUnit::Day => 1,
        PeriodUnit::Week => 7,
    }
}

const fn unit_text(unit: PeriodUnit) -> &'static str {
    match unit {
        PeriodUnit::Day => "day",
        PeriodUnit::Week => "week",
    }
}
