//! Forms that search a list, as people type into them: days and times of the house's zone, amounts in
//! coins.

use bahay_api::PageQuery;
use jiff::ToSpan as _;
use jiff::civil::Date;
use maud::{Markup, html};
use serde::de::DeserializeOwned;

use crate::components::{Field, field};
use crate::form_fields::{FieldError, FormFields, ParseFields};
use crate::house_zone::{HouseZone, PeriodBound};
use crate::parse::parse_non_negative_amount;
use bahay_base::clock::{self, Timestamp};

/// The field that selects the inputs of a period: days without it, times with [`MINUTE`].
const PRECISION: &str = "by";
const MINUTE: &str = "minute";

/// The fields of a search form that are filled in.
#[derive(Clone, Debug, Default)]
pub struct SearchForm(FormFields);

impl ParseFields for SearchForm {
    fn parse_fields(fields: FormFields) -> Result<Self, FieldError> {
        Ok(Self(fields))
    }
}

impl SearchForm {
    pub fn value(&self, name: &str) -> &str {
        self.0.iter().find(|(one, _)| one == name).map_or("", |(_, value)| value)
    }

    /// Returns the form with other values of some fields; an empty value removes the field. The
    /// cursor of the list is removed too.
    pub fn replace_fields(&self, changes: &[(&str, &str)]) -> Self {
        let is_kept = |name: &str| name != "cursor" && changes.iter().all(|(one, _)| *one != name);
        let kept = self.0.iter().filter(|(name, _)| is_kept(name)).cloned();
        let changed = changes.iter().filter(|(_, value)| !value.is_empty());
        let changed = changed.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Self(kept.chain(changed).collect())
    }

    /// Returns the fields that set conditions.
    pub fn conditions(&self) -> Vec<(&str, &str)> {
        let fields = self.0.iter().filter(|(name, _)| name != "cursor");
        fields.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Returns a URL with the conditions as its query.
    pub fn to_url(&self, path: &str) -> String {
        let query = serde_urlencoded::to_string(self.conditions()).unwrap_or_default();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Converts what an operator typed into the query of the API.
    pub fn to_query<F: DeserializeOwned>(
        &self,
        zone: &HouseZone,
    ) -> Result<PageQuery<F>, FieldError> {
        let mut parameters = Vec::new();
        for (name, value) in self.0.iter().filter(|(name, _)| name != PRECISION) {
            let value = value.trim();
            let time = |bound| {
                zone.parse_time(value, bound).map(|at| clock::to_jiff(at.into()).to_string())
            };
            let amount = || Some(parse_non_negative_amount(value)?.hundredths().to_string());
            let yes_or_no = || match value {
                "yes" => Some("true".to_owned()),
                "no" => Some("false".to_owned()),
                _ => None,
            };
            let (parameter, parsed, expected) = match name.as_str() {
                "from" => ("from", time(PeriodBound::From), "it is a day, such as 2026-03-01"),
                "to" => ("to", time(PeriodBound::To), "it is a day, such as 2026-03-01"),
                "least" => ("gross_min", amount(), "it is an amount in coins, such as 12.50"),
                "most" => ("gross_max", amount(), "it is an amount in coins, such as 12.50"),
                "pot" => ("took_pot", yes_or_no(), "choose yes or no"),
                "takeover" => ("taken_over", yes_or_no(), "choose yes or no"),
                _ => (name.as_str(), Some(value.to_owned()), ""),
            };
            let parsed = parsed.ok_or_else(|| FieldError::invalid(name, expected))?;
            parameters.push((parameter.to_owned(), parsed));
        }
        PageQuery::parse_fields(parameters)
    }

    /// Draws the fields of a period: its first and last day, or times if the form has some.
    pub fn period_fields(&self) -> Markup {
        let by_minute = self.is_by_minute();
        let kind = if by_minute { "datetime-local" } else { "date" };
        let input = |name, label| {
            field(Field { kind, value: self.value(name), ..Field::optional(name, label) })
        };
        html! {
            (input("from", "From"))
            (input("to", if by_minute { "Before" } else { "To" }))
            @if by_minute { input type="hidden" name=(PRECISION) value=(MINUTE); }
        }
    }

    /// Draws links that select a period, and the one that exchanges days for times. `here` is the
    /// path of the list, and `without` the name of a link to the form without a period.
    pub fn period_links(
        &self,
        here: &str,
        zone: &HouseZone,
        now: Timestamp,
        without: Option<&str>,
    ) -> Markup {
        let chosen = (self.value("from"), self.value("to"));
        let periods = periods(zone.day(now))
            .map(|(name, from, to)| (name, from.to_string(), to.to_string()))
            .into_iter()
            .chain(without.map(|name| (name, String::new(), String::new())));
        let precision = match self.is_by_minute() {
            true => (self.replace_fields(&[("from", ""), ("to", ""), (PRECISION, "")]), "By day"),
            false => {
                (self.replace_fields(&[("from", ""), ("to", ""), (PRECISION, MINUTE)]), "By time")
            }
        };
        html! {
            nav class="choices" aria-label="Period" {
                @for (name, from, to) in periods {
                    a href=(self.replace_fields(&[("from", &from), ("to", &to), (PRECISION, "")]).to_url(here))
                        aria-current=[(chosen == (from.as_str(), to.as_str())).then_some("true")] { (name) }
                }
                a href=(precision.0.to_url(here)) { (precision.1) }
            }
        }
    }

    fn is_by_minute(&self) -> bool {
        self.value(PRECISION) == MINUTE
            || ["from", "to"].iter().any(|name| self.value(name).contains('T'))
    }
}

/// Returns the periods that links select, with their first and last day.
fn periods(today: Date) -> [(&'static str, Date, Date); 5] {
    let days_ago = |days: i64| today.checked_sub(days.days()).unwrap_or(today);
    let month = today.first_of_month();
    let last_month = month.checked_sub(1.month()).unwrap_or(month);
    [
        ("Today", today, today),
        ("Yesterday", days_ago(1), days_ago(1)),
        ("Last 7 days", days_ago(6), today),
        ("This month", month, today),
        ("Last month", last_month, last_month.last_of_month()),
    ]
}

#[cfg(test)]
mod tests {
    use super::{HouseZone, SearchForm, periods};
    use bahay_api::operator::settlements::SettlementFilter;
    use jiff::civil::date;

    fn form(fields: &[(&str, &str)]) -> SearchForm {
        SearchForm(fields.iter().map(|&(name, value)| (name.into(), value.into())).collect())
    }

    #[test]
    fn the_search_form_is_parsed() {
        let zone = HouseZone::new("Asia/Manila".parse().unwrap());
        assert!(form(&[("pot", "perhaps")]).to_query::<SettlementFilter>(&zone).is_err());
        assert!(form(&[("from", "May")]).to_query::<SettlementFilter>(&zone).is_err());
        let typed = form(&[("room", "newbie"), ("pot", "yes"), ("least", " 1.5"), ("cursor", "x")]);
        assert_eq!(typed.to_url("/x"), "/x?room=newbie&pot=yes&least=+1.5");
        let query = typed.to_query::<SettlementFilter>(&zone).unwrap();
        assert_eq!((query.filter.took_pot, query.filter.gross_min), (Some(true), Some(150)));
        assert_eq!(query.cursor.as_deref(), Some("x"));
        let times = form(&[("by", "minute"), ("from", "2026-03-01T00:00")]);
        let days = form(&[("from", "2026-03-01")]);
        let [times, days] = [times, days].map(|form| form.to_query::<SettlementFilter>(&zone));
        assert_eq!(times.unwrap().filter, days.unwrap().filter);
    }

    #[test]
    fn fields_of_a_form_are_replaced() {
        let typed = form(&[("room", "newbie"), ("from", "2026-03-01"), ("cursor", "x")]);
        let changed = typed.replace_fields(&[("from", ""), ("order", "largest")]);
        assert_eq!(changed.to_url("/x"), "/x?room=newbie&order=largest");
    }

    #[test]
    fn periods_are_of_whole_days() {
        let first_of_march = periods(date(2028, 3, 1));
        let spelled = first_of_march.map(|(name, from, to)| format!("{name}: {from} {to}"));
        assert_eq!(
            spelled,
            [
                "Today: 2028-03-01 2028-03-01",
                "Yesterday: 2028-02-29 2028-02-29",
                "Last 7 days: 2028-02-24 2028-03-01",
                "This month: 2028-03-01 2028-03-01",
                "Last month: 2028-02-01 2028-02-29",
            ]
        );
    }
}
