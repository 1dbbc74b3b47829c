//! The settings of retention: for how long rows are kept that nobody needs.

use std::time::Duration;

use clap::Args;

use crate::retention::Kept;

/// For how long rows are kept that nobody needs. What is booked is kept for good.
#[derive(Args, Clone, Copy, Debug)]
pub struct RetentionSettings {
    /// Days for which a session is kept after it was last used, with the addresses and the device in
    /// it: more than the 30 for which it may be used, and 90 for players to be known where they sign
    /// in.
    #[arg(long, env = "BAHAY_SESSIONS_KEPT_DAYS", default_value_t = 90, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(32..=3650))]
    pub sessions_kept_days: u16,

    /// Days for which a notice is kept, whether its player has read it or not.
    #[arg(long, env = "BAHAY_NOTICES_KEPT_DAYS", default_value_t = 365, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(7..=3650))]
    pub notices_kept_days: u16,

    /// Whole months before this one for which the entries of accounts are kept, from 2 on; all of them
    /// for good, if this is not set. Operations and transfers are kept for good.
    #[arg(long, env = "BAHAY_ENTRIES_KEPT_MONTHS", value_name = "MONTHS",
          value_parser = clap::value_parser!(u16).range(2..=1200))]
    pub entries_kept_months: Option<u16>,
}

impl RetentionSettings {
    /// As `retention` takes it.
    pub fn kept(self) -> Kept {
        let days = |number: u16| Duration::from_hours(24 * u64::from(number));
        Kept { sessions: days(self.sessions_kept_days), notices: days(self.notices_kept_days) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, RetentionSettings};
    use clap::{Args as _, Command, FromArgMatches as _};

    #[test]
    fn the_defaults_are_those_of_the_house() {
        let command = RetentionSettings::augment_args(Command::new("x"));
        let settings = command.try_get_matches_from(["x"]).unwrap();
        let settings = RetentionSettings::from_arg_matches(&settings).unwrap();
        assert_eq!(settings.kept(), Kept::default());
    }
}
