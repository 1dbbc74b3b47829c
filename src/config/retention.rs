//! The settings of retention.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;

use crate::retention::RetentionPeriods;

/// The retention of rows that are no longer needed. Booked data is kept for good.
#[derive(Args, Clone, Copy, Debug)]
pub struct RetentionSettings {
    /// Days for which a session is kept after its last use, with its addresses and device: more
    /// than the 30 for which it may be used, and by default the 90 for which an origin stays
    /// trusted.
    #[arg(long, env = "BAHAY_SESSIONS_KEPT_DAYS", default_value_t = 90, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(32..=3650))]
    pub sessions_kept_days: u16,

    /// Days for which a notice is kept, read or unread.
    #[arg(long, env = "BAHAY_NOTICES_KEPT_DAYS", default_value_t = 365, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(7..=3650))]
    pub notices_kept_days: u16,
}

impl RetentionSettings {
    /// Returns the periods for `retention`.
    pub fn periods(self) -> RetentionPeriods {
        let days = |number: u16| Duration::from_hours(24 * u64::from(number));
        RetentionPeriods {
            sessions: days(self.sessions_kept_days),
            notices: days(self.notices_kept_days),
        }
    }
}

/// The bound within which the service removes booked data. Only the owner of the schema writes it.
/// `bahay migrate` sets it each time: a bound that is not given is removed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OwnerSettings {
    /// Days for which the database keeps the text of a record after its object was stored in the
    /// archive; without it the text is kept for good.
    #[arg(long, env = "BAHAY_ARCHIVE_GRACE_DAYS", value_name = "DAYS", default_value = "",
          hide_default_value = true, value_parser = |text: &str| Bound::parse(text, 0..=3650))]
    pub archive_grace_days: Bound,
}

/// A number, or none for an empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound(pub Option<u16>);

impl Bound {
    fn parse(text: &str, range: RangeInclusive<u16>) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        let number = text.parse().ok().filter(|number| range.contains(number));
        let error = || format!("give a number from {} to {}", range.start(), range.end());
        number.map(|number| Self(Some(number))).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, OwnerSettings, RetentionPeriods, RetentionSettings};
    use crate::config::tests::default_settings;
    use clap::{Args as _, Command, FromArgMatches as _};

    #[test]
    fn the_default_settings_match_the_periods() {
        let settings = default_settings::<RetentionSettings>();
        assert_eq!(settings.periods(), RetentionPeriods::default());
    }

    #[test]
    fn an_owner_bound_is_a_number_or_empty() {
        let read = |arguments: &[&str]| {
            let command = OwnerSettings::augment_args(Command::new("x"));
            let settings = command.try_get_matches_from(arguments)?;
            OwnerSettings::from_arg_matches(&settings)
        };
        let none = read(&["x", "--archive-grace-days", ""]).unwrap();
        assert_eq!(none.archive_grace_days, Bound(None));
        for (text, days) in [("0", 0), ("30", 30), ("3650", 3650)] {
            let some = read(&["x", "--archive-grace-days", text]).unwrap();
            assert_eq!(some.archive_grace_days, Bound(Some(days)));
        }
        for text in ["3651", "-2", "two"] {
            assert!(read(&["x", &format!("--archive-grace-days={text}")]).is_err(), "{text}");
        }
    }
}
