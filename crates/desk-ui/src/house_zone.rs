//! The house's zone: the time zone in which pages display times and operators type them. It is that
//! of the leaderboards' days (`BAHAY_BOARD_TIME_ZONE`).

use jiff::civil::{Date, DateTime};
use jiff::{ToSpan as _, Zoned};
use maud::{Markup, html};

use bahay_base::clock::{self, BoundedTimestamp, Timestamp};
use bahay_base::zone::Zone;

/// The house's time zone.
#[derive(Clone, Debug)]
pub struct HouseZone(Zone);

/// The end of a period that a text without a time of day means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodBound {
    /// The beginning of the day.
    From,
    /// The beginning of the day after: the day is part of the period.
    To,
}

impl HouseZone {
    pub const fn new(zone: Zone) -> Self {
        Self(zone)
    }

    /// Returns the IANA name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Draws a time, to the second.
    pub fn time(&self, at: impl Into<Timestamp>) -> Markup {
        let at = clock::to_jiff(at.into());
        let text = self.zoned(at).strftime("%Y-%m-%d %H:%M:%S").to_string();
        html! { time datetime=(format!("{at:.3}")) { (text) } }
    }

    /// Formats the times of day at which the hours of a day begin, to the minute. Times that a
    /// change of the clocks repeats have their offset from UTC.
    pub fn label_hours(&self, starts: &[Timestamp]) -> Vec<String> {
        let format = |text: &str| -> Vec<String> {
            let zoned = starts.iter().map(|at| self.zoned(clock::to_jiff(*at)));
            zoned.map(|at| at.strftime(text).to_string()).collect()
        };
        let times = format("%H:%M");
        let is_repeated = |time: &String| times.iter().filter(|one| *one == time).count() > 1;
        let with_offset = format("%H:%M %:z").into_iter();
        let labels = times.iter().zip(with_offset);
        labels.map(|(time, long)| if is_repeated(time) { long } else { time.clone() }).collect()
    }

    /// Returns the minute past the hour at which the hours of UTC begin in the zone, unless it is 0.
    /// The first hour does not count, because it begins with the day.
    pub fn minute_of_hours(&self, starts: &[Timestamp]) -> Option<i8> {
        let minutes = starts.iter().skip(1).map(|at| self.zoned(clock::to_jiff(*at)).minute());
        minutes.max().filter(|minute| *minute != 0)
    }

    /// Returns the day of an instant.
    pub fn day(&self, at: impl Into<Timestamp>) -> Date {
        self.zoned(clock::to_jiff(at.into())).date()
    }

    fn zoned(&self, at: jiff::Timestamp) -> Zoned {
        at.to_zoned(self.0.time_zone().clone())
    }

    /// Parses a day, or a time without a zone, as browsers send them. A time that a change of the
    /// clocks skips or repeats is that of the offset before the change.
    pub fn parse_time(&self, text: &str, bound: PeriodBound) -> Option<BoundedTimestamp> {
        let text = text.trim();
        let at: DateTime = match (text.contains('T'), bound) {
            (true, _) => text.parse().ok()?,
            (false, PeriodBound::From) => text.parse::<Date>().ok()?.into(),
            (false, PeriodBound::To) => {
                text.parse::<Date>().ok()?.checked_add(1.day()).ok()?.into()
            }
        };
        let at = at.to_zoned(self.0.time_zone().clone()).ok()?.timestamp();
        BoundedTimestamp::new(clock::from_jiff(at)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{HouseZone, PeriodBound};
    use bahay_base::clock::Timestamp;

    fn manila() -> HouseZone {
        HouseZone::new("Asia/Manila".parse().unwrap())
    }

    #[test]
    fn times_are_displayed_in_the_house_zone() {
        let at = Timestamp::from_ms(1_772_366_400_000);
        let drawn = manila().time(at).into_string();
        assert_eq!(drawn, "<time datetime=\"2026-03-01T12:00:00.000Z\">2026-03-01 20:00:00</time>");
        let in_the_evening = Timestamp::from_ms(1_772_366_400_000 + 4 * 3_600_000);
        assert_eq!(manila().day(in_the_evening).to_string(), "2026-03-02");
    }

    #[test]
    fn hours_are_labelled_by_the_clocks_of_the_zone() {
        let starts = |texts: &[&str]| -> Vec<Timestamp> {
            let parse = |text: &&str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
            texts.iter().map(parse).map(Timestamp::from_ms).collect()
        };
        let hours = starts(&["2026-02-28T16:00:00Z", "2026-02-28T17:00:00Z"]);
        assert_eq!(manila().label_hours(&hours), ["00:00", "01:00"]);
        assert_eq!(manila().minute_of_hours(&hours), None);
        // The day begins within an hour of UTC.
        let kolkata = HouseZone::new("Asia/Kolkata".parse().unwrap());
        let hours =
            starts(&["2026-02-28T18:30:00Z", "2026-02-28T19:00:00Z", "2026-02-28T20:00:00Z"]);
        assert_eq!(kolkata.label_hours(&hours), ["00:00", "00:30", "01:30"]);
        assert_eq!(kolkata.minute_of_hours(&hours), Some(30));
        // An hour that is repeated, and one that is skipped.
        let berlin = HouseZone::new("Europe/Berlin".parse().unwrap());
        let hours =
            starts(&["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]);
        assert_eq!(berlin.label_hours(&hours), ["02:00 +02:00", "02:00 +01:00", "03:00"]);
        let hours = starts(&["2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"]);
        assert_eq!(berlin.label_hours(&hours), ["01:00", "03:00"]);
    }

    #[test]
    fn days_and_times_are_parsed_in_the_house_zone() {
        for (text, bound, expected) in [
            ("2026-03-01", PeriodBound::From, "2026-02-28T16:00:00Z"),
            (" 2026-03-01", PeriodBound::To, "2026-03-01T16:00:00Z"),
            ("2026-03-01T12:30", PeriodBound::From, "2026-03-01T04:30:00Z"),
            ("2026-03-01T12:30", PeriodBound::To, "2026-03-01T04:30:00Z"),
        ] {
            let parsed = manila().parse_time(text, bound).map(|at| Timestamp::from(at).ms());
            let expected: jiff::Timestamp = expected.parse().unwrap();
            assert_eq!(parsed, Some(expected.as_millisecond()), "{text} {bound:?}");
        }
        for text in [
            "",
            "noon",
            "2026-02-30",
            "2026-02-30T12:00",
            "-005000-01-01",
            "9999-12-30T12:00",
            "9999-12-31",
        ] {
            assert_eq!(manila().parse_time(text, PeriodBound::To), None, "{text}");
        }
    }
}
