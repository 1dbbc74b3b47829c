//! The comparison of two days or two weeks of the house's zone.
//!
//! A day lasts from one midnight to the next by the clocks of the zone, so it has 23 or 25 hours if
//! they change. A period that has not ended is counted up to the time of the report.

use bahay_api::operator::today::{ComparedPeriod, PeriodComparison, PeriodUnit};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::clock::Timestamp;
use crate::reports::booked::Interval;
use crate::reports::days::{PeriodDays, add_days};
use crate::reports::periods::period_figures::subtract_figures;
use crate::reports::{ReportError, Reports};

/// Returns the day, or the week from Monday to Sunday that contains it.
fn days_of(day: Date, unit: PeriodUnit) -> PeriodDays {
    match unit {
        PeriodUnit::Day => PeriodDays { first: day, last: day },
        PeriodUnit::Week => {
            let first = add_days(day, -i64::from(day.weekday().to_monday_zero_offset()));
            PeriodDays { first, last: add_days(first, 6) }
        }
    }
}

impl Reports {
    /// Compares the days, or the weeks, that contain two days. Neither may begin after `now`. The
    /// zone is that of the projection of pairs.
    pub async fn compare_periods(
        &self,
        unit: PeriodUnit,
        days: [Date; 2],
        zone: &TimeZone,
        now: Timestamp,
    ) -> Result<PeriodComparison, ReportError> {
        let [first, second] = days.map(|day| days_of(day, unit));
        let first = self.compared_period(first, zone, now).await?;
        let second = self.compared_period(second, zone, now).await?;
        Ok(PeriodComparison {
            unit,
            time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
            difference: subtract_figures(&first.figures, &second.figures)?,
            first,
            second,
        })
    }

    async fn compared_period(
        &self,
        days: PeriodDays,
        zone: &TimeZone,
        now: Timestamp,
    ) -> Result<ComparedPeriod, ReportError> {
        let whole = days.interval(zone);
        let counted = Interval { from: whole.from, to: whole.to.min(now).max(whole.from) };
        Ok(ComparedPeriod {
            first_day: days.first.to_string(),
            last_day: days.last.to_string(),
            from: counted.from.into(),
            to: counted.to.into(),
            has_ended: whole.to <= now,
            figures: self.period_figures(days, counted).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{PeriodUnit, days_of};
    use jiff::civil::{Date, date};
    use jiff::tz::TimeZone;

    fn bounds(zone: &str, day: Date, unit: PeriodUnit) -> (String, i64) {
        let zone = TimeZone::get(zone).unwrap();
        let interval = days_of(day, unit).interval(&zone);
        let from = crate::clock::to_jiff(interval.from).to_string();
        (from, (interval.to.ms() - interval.from.ms()) / 60_000)
    }

    #[test]
    fn days_and_weeks_have_the_hours_of_their_zone() {
        for (zone, day, unit, from, minutes) in [
            ("Asia/Manila", date(2026, 3, 1), PeriodUnit::Day, "2026-02-28T16:00:00Z", 24 * 60),
            ("Asia/Kolkata", date(2026, 3, 1), PeriodUnit::Day, "2026-02-28T18:30:00Z", 24 * 60),
            ("Europe/Berlin", date(2026, 3, 29), PeriodUnit::Day, "2026-03-28T23:00:00Z", 23 * 60),
            ("Europe/Berlin", date(2026, 10, 25), PeriodUnit::Day, "2026-10-24T22:00:00Z", 25 * 60),
            // The clocks of Lord Howe Island change by half an hour.
            (
                "Australia/Lord_Howe",
                date(2026, 4, 5),
                PeriodUnit::Day,
                "2026-04-04T13:00:00Z",
                24 * 60 + 30,
            ),
            // Sunday belongs to the week of the Monday before.
            (
                "Europe/Berlin",
                date(2026, 3, 29),
                PeriodUnit::Week,
                "2026-03-22T23:00:00Z",
                (7 * 24 - 1) * 60,
            ),
            (
                "Europe/Berlin",
                date(2026, 10, 19),
                PeriodUnit::Week,
                "2026-10-18T22:00:00Z",
                (7 * 24 + 1) * 60,
            ),
        ] {
            assert_eq!(bounds(zone, day, unit), (from.to_owned(), minutes), "{zone} {day}");
        }
    }
}
