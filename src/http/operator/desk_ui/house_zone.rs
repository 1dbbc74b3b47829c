//! The house's zone: the time zone in which pages display times and operators type them. It is that
//! of the leaderboards' days (`BAHAY_BOARD_TIME_ZONE`).

use jiff::civil::{Date, DateTime};
use jiff::{ToSpan as _, Zoned};
use maud::{Markup, html};

use crate::clock::{self, BoundedTimestamp, Timestamp};
use crate::standings::Zone;

/// The house's time zone.
#[derive(Clone, Debug)]
pub(crate) struct HouseZone(Zone);

/// The end of a period that a text without a time of day means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeriodBound {
    /// The beginning of the day.
    From,
    /// The beginning of the day after: the day is part of the period.
    To,
}

impl HouseZone {
    pub(crate) const fn new(zone: Zone) -> Self {
        Self(zone)
    }

    /// Returns the IANA name.
    pub(crate) fn name(&self) -> &str {
        self.0.name()
    }

    /// Draws a time, to the second.
    pub(crate) fn time(&self, at: impl Into<Timestamp>) -> Markup {
        let at = clock::to_jiff(at.into());
        let text = self.zoned(at).strftime("%Y-%m-%d %H:%M:%S").to_string();
        html! { time datetime=(format!("{at:.3}")) { (text) } }
    }

    /// Formats the time of day, to the minute.
    pub(crate) fn format_minute(&self, at: impl Into<Timestamp>) -> String {
        self.zoned(clock::to_jiff(at.into())).strftime("%H:%M").to_string()
    }

    /// Returns the day of an instant.
    pub(crate) fn day(&self, at: impl Into<Timestamp>) -> Date {
        self.zoned(clock::to_jiff(at.into())).date()
    }

    fn zoned(&self, at: jiff::Timestamp) -> Zoned {
        at.to_zoned(self.0.time_zone().clone())
    }

    /// Parses a day, or a time without a zone, as browsers send them. A time that a change of the
    /// clocks skips or repeats is that of the offset before the change.
    pub(crate) fn parse_time(&self, text: &str, bound: PeriodBound) -> Option<BoundedTimestamp> {
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
    use crate::clock::Timestamp;

    fn manila() -> HouseZone {
        HouseZone::new("Asia/Manila".parse().unwrap())
    }

    #[test]
    fn times_are_displayed_in_the_house_zone() {
        let at = Timestamp::from_ms(1_772_366_400_000);
        let drawn = manila().time(at).into_string();
        assert_eq!(drawn, "<time datetime=\"2026-03-01T12:00:00.000Z\">2026-03-01 20:00:00</time>");
        assert_eq!(manila().format_minute(at), "20:00");
        let in_the_evening = Timestamp::from_ms(1_772_366_400_000 + 4 * 3_600_000);
        assert_eq!(manila().day(in_the_evening).to_string(), "2026-03-02");
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
