//! Responses that browsers save as a CSV file.

use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use jiff::tz::TimeZone;

use crate::clock::{self, Timestamp};

/// Returns a response with a CSV file (RFC 4180) that has a header line. The name is plain ASCII
/// without quotes.
pub(crate) fn csv_response(name: &str, body: impl Into<Body>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (CONTENT_DISPOSITION, disposition.as_str()),
    ];
    (headers, body.into()).into_response()
}

/// Returns the name of a file with the days of its period's bounds in a time zone, such as
/// `settlements_2026-03-01_2026-03-31.csv`. `to` is excluded from the period.
pub(crate) fn name_csv_file(
    name: &str,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    zone: &TimeZone,
) -> String {
    let last = to.map(|to| Timestamp::from_ms(to.ms().saturating_sub(1)));
    let days = [from, last]
        .into_iter()
        .flatten()
        .map(|at| clock::to_jiff(at).to_zoned(zone.clone()).strftime("_%Y-%m-%d").to_string());
    format!("{name}{}.csv", days.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{TimeZone, Timestamp, name_csv_file};

    #[test]
    fn a_file_is_named_by_the_first_and_the_last_day() {
        let manila = TimeZone::get("Asia/Manila").unwrap();
        let at = |text: &str| {
            Some(Timestamp::from_ms(text.parse::<jiff::Timestamp>().unwrap().as_millisecond()))
        };
        let from = at("2026-02-28T16:00:00Z");
        let to = at("2026-03-31T16:00:00Z");
        assert_eq!(name_csv_file("x", from, to, &manila), "x_2026-03-01_2026-03-31.csv");
        assert_eq!(name_csv_file("x", from, None, &manila), "x_2026-03-01.csv");
        assert_eq!(name_csv_file("x", None, None, &manila), "x.csv");
    }
}
