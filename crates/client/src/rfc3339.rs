//! Times of the REST API (RFC 3339).

/// Returns the milliseconds since 1970-01-01 UTC of a time such as `2026-03-01T08:00:00.250Z`;
/// `None` if the text is no time of the years 0 to 9999.
pub(crate) fn parse_rfc3339_ms(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = read_numbers(date, '-', [4, 2, 2])?;
    let (clock, offset_minutes) = split_offset(clock)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = read_numbers(clock, ':', [2, 2, 2])?;
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_valid || fraction.is_empty() || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let ms: i64 = format!("{fraction:0<3}")[..3].parse().ok()?;
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
    Some((minutes * 60 + second) * 1_000 + ms)
}

/// Reads three numbers of these lengths in decimal digits.
fn read_numbers(text: &str, separator: char, lengths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next().filter(|part| part.len() == length)?;
        let is_number = part.bytes().all(|digit| digit.is_ascii_digit());
        *number = part.parse().ok().filter(|_| is_number)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Splits the offset from UTC off a time of day, and returns it in minutes.
fn split_offset(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let place = clock.rfind(['+', '-'])?;
    let [hours, minutes, _] = read_numbers(&format!("{}:00", &clock[place + 1..]), ':', [2, 2, 2])?;
    let sign = if clock[place..].starts_with('-') { -1 } else { 1 };
    (hours < 24 && minutes < 60).then_some((&clock[..place], sign * (60 * hours + minutes)))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01 in the Gregorian calendar, by counting from 1 March of a
/// leap cycle of 400 years.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse_rfc3339_ms;

    #[test]
    fn times_are_read_with_their_offset() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-03-01T08:00:00Z", 1_772_352_000_000),
            ("2026-03-01T16:00:00+08:00", 1_772_352_000_000),
            ("2026-03-01T03:30:00.25-04:30", 1_772_352_000_250),
            ("2000-02-29T23:59:59.999999Z", 951_868_799_999),
            ("1969-12-31T23:59:59.999Z", -1),
        ] {
            assert_eq!(parse_rfc3339_ms(text), Some(ms), "{text}");
        }
        for text in [
            "",
            "T",
            "2026-03-01",
            "2026-02-29T00:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T08:00:00",
            "2026-3-01T08:00:00Z",
            "2026-03-01T08:00:00.Z",
            "2026-03-01T08:00:00+8",
            "2026-03-01T08:00:00.é99Z",
            "+026-03-01T08:00:00Z",
        ] {
            assert_eq!(parse_rfc3339_ms(text), None, "{text}");
        }
    }
}
