//! The starts of a schedule: days of the week and times of the day in the house's time zone.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// The days and the times at which the tournaments of a schedule start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleTimes {
    pub days: Vec<Weekday>,
    pub times: Vec<Time>,
}

impl ScheduleTimes {
    /// Returns the starts after one instant and until another one, in order. A time that a change of
    /// the clocks repeats is the first of the two; one that it skips is later by the skipped
    /// duration. Two times of a day at the same instant are one start.
    pub fn starts_between(
        &self,
        zone: &TimeZone,
        after: Timestamp,
        until: Timestamp,
    ) -> Vec<Timestamp> {
        let day_of = |at: Timestamp| at.to_zoned(zone.clone()).date();
        let last = day_of(until);
        let next = |day: &Date| day.checked_add(1.day()).ok();
        // A start that a change of the clocks moves may be on the day after its own.
        let first = day_of(after).checked_sub(1.day()).unwrap_or_else(|_| day_of(after));
        let days = std::iter::successors(Some(first), next).take_while(|day| *day <= last);
        let days = days.filter(|day| self.days.contains(&day.weekday()));
        let instant = |day: Date, time: Time| {
            Some(day.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp())
        };
        let starts =
            days.flat_map(|day| self.times.iter().filter_map(move |time| instant(day, *time)));
        let mut starts: Vec<Timestamp> =
            starts.filter(|start| *start > after && *start <= until).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Weekday, time};

    use super::{ScheduleTimes, TimeZone, Timestamp};

    fn starts(
        days: &[Weekday],
        times: &[(i8, i8)],
        zone: &str,
        from: &str,
        to: &str,
    ) -> Vec<String> {
        let times = times.iter().map(|(hour, minute)| time(*hour, *minute, 0, 0)).collect();
        let schedule = ScheduleTimes { days: days.to_vec(), times };
        let zone = TimeZone::get(zone).unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let starts = schedule.starts_between(&zone, at(from), at(to));
        starts.iter().map(Timestamp::to_string).collect()
    }

    #[test]
    fn starts_are_at_the_times_of_the_zone_on_the_days_of_the_week() {
        let sunday = Weekday::Sunday;
        let from = "2026-03-01T00:00:00Z";
        let of_a_week = starts(
            &[Weekday::Friday, sunday],
            &[(20, 0), (12, 30)],
            "Asia/Manila",
            from,
            "2026-03-08T00:00:00Z",
        );
        let expected = [
            "2026-03-01T04:30:00Z",
            "2026-03-01T12:00:00Z",
            "2026-03-06T04:30:00Z",
            "2026-03-06T12:00:00Z",
        ];
        assert_eq!(of_a_week, expected);
        // The first bound is excluded, the second one is not.
        let edges = |from, to| starts(&[sunday], &[(20, 0)], "Asia/Manila", from, to);
        assert_eq!(edges("2026-03-01T12:00:00Z", "2026-03-02T00:00:00Z").len(), 0);
        assert_eq!(edges("2026-03-01T00:00:00Z", "2026-03-01T12:00:00Z").len(), 1);
    }

    #[test]
    fn a_change_of_the_clocks_neither_drops_nor_repeats_a_start() {
        let every_day = |times: &[(i8, i8)], from: &str, to: &str| {
            let days = [Weekday::Saturday, Weekday::Sunday, Weekday::Monday];
            starts(&days, times, "Europe/Berlin", from, to)
        };
        // The evening stays at its hour by the clock.
        let spring = every_day(&[(20, 0)], "2026-03-28T00:00:00Z", "2026-03-30T23:00:00Z");
        let expected = ["2026-03-28T19:00:00Z", "2026-03-29T18:00:00Z", "2026-03-30T18:00:00Z"];
        assert_eq!(spring, expected);
        // 02:30 does not exist on 29 March, and exists twice on 25 October.
        let skipped = every_day(&[(2, 30)], "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z");
        assert_eq!(skipped, ["2026-03-29T01:30:00Z"]);
        let repeated = every_day(&[(2, 30)], "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z");
        assert_eq!(repeated, ["2026-10-25T00:30:00Z"]);
        // A skipped time and the time to which it moves are one start.
        let both = every_day(&[(2, 30), (3, 30)], "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z");
        assert_eq!(both, ["2026-03-29T01:30:00Z"]);
    }
}
