//! The daily reward: a streak of seven days, which then restarts. A missed day ends it.

use bahay_engine::coins::Coins;

use super::DailyReward;
use super::calendar::{self, Calendar};
use super::store::RewardsRow;
use crate::clock::Timestamp;

/// The length of a streak in days.
pub const STREAK_DAYS: usize = 7;

/// Returns the next claim: today's, or tomorrow's if today's was claimed. After a change of the
/// time zone today may precede the last claimed day; the next claim is then the day after that one.
pub(super) fn next_claim(
    row: &RewardsRow,
    calendar: &Calendar,
    now: Timestamp,
    amounts: &[Coins; STREAK_DAYS],
) -> DailyReward {
    let today = calendar.day(now);
    let (day, streak_day) = match row.daily_date {
        None => (today, 1),
        Some(last) => {
            let due = calendar::next_day(last);
            if today > due { (today, 1) } else { (due, next_streak_day(row.streak)) }
        }
    };
    DailyReward {
        is_claimable: day == today,
        claimable_at: calendar.start_of(day),
        streak_day,
        amount: amount(streak_day, amounts),
    }
}

/// Returns the reward of a day of the streak.
pub fn amount(streak_day: u8, amounts: &[Coins; STREAK_DAYS]) -> Coins {
    amounts[usize::from(streak_day).saturating_sub(1) % STREAK_DAYS]
}

fn next_streak_day(streak_day: u8) -> u8 {
    if usize::from(streak_day) < STREAK_DAYS { streak_day + 1 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::{RewardsRow, next_claim};
    use crate::clock::Timestamp;
    use crate::rewards::{Calendar, Terms};
    use jiff::civil::{Date, date};

    /// Checks the next claim at noon in UTC.
    fn check(last: Option<(Date, u8)>, today: Date, expected: (bool, u8, i64)) {
        let row = RewardsRow {
            daily_date: last.map(|(date, _)| date),
            streak: last.map_or(0, |(_, streak)| streak),
            ..RewardsRow::default()
        };
        let now = today.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap();
        let now = Timestamp::from_ms(now.timestamp().as_millisecond());
        let next = next_claim(&row, &Calendar::utc(), now, &Terms::default().daily);
        let found = (next.is_claimable, next.streak_day, next.amount.hundredths());
        assert_eq!(found, expected, "{last:?} on {today}");
        assert_eq!(next.claimable_at <= now, next.is_claimable);
    }

    #[test]
    fn a_streak_grows_by_days_in_a_row_and_begins_again() {
        let day = |day| date(2026, 2, day);
        check(None, day(1), (true, 1, 10_000));
        check(Some((day(1), 1)), day(1), (false, 2, 15_000));
        check(Some((day(1), 1)), day(2), (true, 2, 15_000));
        check(Some((day(1), 1)), day(3), (true, 1, 10_000));
        check(Some((day(6), 6)), day(7), (true, 7, 100_000));
        check(Some((day(7), 7)), day(8), (true, 1, 10_000));
        check(Some((day(28), 3)), date(2026, 3, 1), (true, 4, 25_000));
        // Back across the date line, the claimed day is still to come.
        check(Some((day(9), 3)), day(8), (false, 4, 25_000));
    }
}
