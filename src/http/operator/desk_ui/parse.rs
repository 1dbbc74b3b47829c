//! Parsers of text that people type into forms of the desk: amounts and times.

use bahay_engine::coins::Coins;

use crate::clock::{self, BoundedTimestamp};

/// Parses an amount in coins with at most two decimal places, such as 12.50, which may be negative.
pub(crate) fn parse_amount(text: &str) -> Option<Coins> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || places.len() > 2 || !is_number(whole) || !is_number(places) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let places: i64 = format!("{places:0<2}").parse().ok()?;
    let amount = whole.checked_mul(100)?.checked_add(places)?;
    Some(Coins::from_hundredths(sign * amount))
}

/// Parses an amount that is not negative.
pub(crate) fn parse_non_negative_amount(text: &str) -> Option<Coins> {
    parse_amount(text).filter(|amount| *amount >= Coins::ZERO)
}

/// Parses a time in UTC as browsers send it, without a time zone.
pub(crate) fn parse_time(text: &str) -> Option<BoundedTimestamp> {
    let at: jiff::civil::DateTime = text.trim().parse().ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    BoundedTimestamp::new(clock::from_jiff(at)).ok()
}

#[cfg(test)]
mod tests {
    use super::{Coins, parse_amount, parse_non_negative_amount, parse_time};
    use crate::clock::Timestamp;

    #[test]
    fn amounts_are_parsed_as_people_write_them() {
        for (text, hundredths) in [
            ("12", 1_200),
            ("12.5 ", 1_250),
            (" 12.50 ", 1_250),
            (" 10.05", 1_005),
            ("-0.01", -1),
            ("−3", -300),
            (" 0.1", 10),
            ("0", 0),
        ] {
            let coins = Some(Coins::from_hundredths(hundredths));
            assert_eq!(parse_amount(text), coins, "{text}");
            assert_eq!(
                parse_non_negative_amount(text),
                coins.filter(|_| hundredths >= 0),
                "{text}"
            );
        }
        for text in ["", "1.234", "1,50", ".5", "--1", "1e3", "99999999999999999999"] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_in_utc() {
        assert_eq!(
            parse_time("2026-03-01T12:00").map(|at| Timestamp::from(at).ms()),
            Some(1_772_366_400_000)
        );
        for text in ["", "noon", "2026-02-30T12:00", "-005000-01-01T00:00", "9999-12-30T12:00"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
