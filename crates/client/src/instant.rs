//! Instants as the API writes them: RFC 3339.

/// The days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar.
const DAYS_TO_EPOCH: i64 = 719_468;

/// Returns the milliseconds since 1970-01-01 UTC of an instant in the form of RFC 3339; `None` for
/// any other text. Digits after the millisecond are dropped.
pub(crate) fn parse_instant(text: &str) -> Option<i64> {
    let mut rest = Rest(text.as_bytes());
    let (year, month, day) = (rest.number(4)?, rest.after(b"-")?, rest.after(b"-")?);
    let (hour, minute, second) = (rest.after(b"Tt")?, rest.after(b":")?, rest.after(b":")?);
    let mut ms = 0;
    if rest.skip(b".").is_some() {
        let mut unit = 100;
        ms = unit * rest.number(1)?;
        while let Some(digit) = rest.number(1) {
            unit /= 10;
            ms += unit * digit;
        }
    }
    let offset = match rest.skip(b"Zz+-")? {
        b'+' => rest.offset()?,
        b'-' => -rest.offset()?,
        _ => 0,
    };
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        // A leap second is the one before it.
        && second <= 60
        && rest.0.is_empty();
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - offset;
    is_valid.then_some((minutes * 60 + second.min(59)) * 1_000 + ms)
}

/// The part of a text that is not parsed yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Skips one of these characters.
    fn skip(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| self.0 = rest)?;
        Some(*first)
    }

    /// Parses a number of this many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let is_number = number.iter().all(u8::is_ascii_digit);
        is_number.then(|| self.0 = rest)?;
        Some(number.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    }

    /// Parses two digits after one of these characters.
    fn after(&mut self, wanted: &[u8]) -> Option<i64> {
        self.skip(wanted)?;
        self.number(2)
    }

    /// Parses the hours and minutes of an offset. Returns the minutes.
    fn offset(&mut self) -> Option<i64> {
        let (hours, minutes) = (self.number(2)?, self.after(b":")?);
        (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 to a date. The year begins in March here, so that a leap day is
/// its last day.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let months = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * months + 2) / 5 + day - 1 - DAYS_TO_EPOCH
}

#[cfg(test)]
mod tests {
    use super::parse_instant;

    #[test]
    fn parses_rfc_3339() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:15:00.250Z", 900_250),
            ("2026-03-01T08:15:00Z", 1_772_352_900_000),
            ("2026-03-01T08:15:00.1234567+08:00", 1_772_324_100_123),
            ("2026-02-28t23:15:00.5-09:30", 1_772_354_700_500),
            ("2024-02-29T23:59:60Z", 1_709_251_199_000),
            ("2000-02-29T00:00:00z", 951_782_400_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] {
            assert_eq!(parse_instant(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn rejects_other_texts() {
        for text in [
            "",
            "2026-03-01",
            "2026-03-01 08:15:00Z",
            "2026-03-01T08:15:00",
            "2026-03-01T08:15Z",
            "2026-3-01T08:15:00Z",
            "2026-00-01T08:15:00Z",
            "2026-13-01T08:15:00Z",
            "2026-02-29T08:15:00Z",
            "2100-02-29T08:15:00Z",
            "2026-04-31T08:15:00Z",
            "2026-03-01T24:15:00Z",
            "2026-03-01T08:60:00Z",
            "2026-03-01T08:15:61Z",
            "2026-03-01T08:15:00.Z",
            "2026-03-01T08:15:00+0800",
            "2026-03-01T08:15:00+24:00",
            "2026-03-01T08:15:00Z ",
            "+2026-03-01T08:15:00Z",
            "２026-03-01T08:15:00Z",
        ] {
            assert_eq!(parse_instant(text), None, "{text}");
        }
    }
}
