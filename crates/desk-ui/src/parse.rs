//! Conversions of text that people type into forms of the desk: amounts and numbers with decimal
//! places.

use std::borrow::Cow;

use bahay_engine::coins::Coins;

/// Parses an amount in coins with at most two decimal places, such as 12.50 or 1,250, which may be
/// negative.
pub fn parse_amount(text: &str) -> Option<Coins> {
    parse_decimal(text, 2).map(Coins::from_hundredths)
}

/// Parses a number with at most `places` decimal places. Returns its multiple of 10 to that power.
pub fn parse_decimal(text: &str, places: usize) -> Option<i64> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = ungroup_thousands(whole)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > places || !is_number(&whole) || !is_number(fraction) {
        return None;
    }
    let digits: i64 = format!("{whole}{fraction:0<places$}").parse().ok()?;
    Some(sign * digits)
}

/// Formats a number that [`parse_decimal`] parses, without trailing zeros. It is not negative.
pub fn format_decimal(number: u32, places: usize) -> String {
    let digits = format!("{number:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Removes the commas between groups of three digits. Returns `None` if a comma is elsewhere.
fn ungroup_thousands(whole: &str) -> Option<Cow<'_, str>> {
    let Some((first, rest)) = whole.split_once(',') else {
        return Some(whole.into());
    };
    let is_grouped =
        (1..=3).contains(&first.len()) && rest.split(',').all(|group| group.len() == 3);
    is_grouped.then(|| whole.replace(',', "").into())
}

/// Parses an amount that is not negative.
pub fn parse_non_negative_amount(text: &str) -> Option<Coins> {
    parse_amount(text).filter(|amount| *amount >= Coins::ZERO)
}

#[cfg(test)]
mod tests {
    use super::{Coins, format_decimal, parse_amount, parse_decimal, parse_non_negative_amount};

    #[test]
    fn amounts_are_parsed_as_people_write_them() {
        for (text, hundredths) in [
            ("12", 1_200),
            ("1,234,567.8", 123_456_780),
            ("-12,000", -1_200_000),
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
        for text in [
            "",
            "1.234",
            "1,50",
            "1,5000",
            ",500",
            "1.0,00",
            ".5",
            "--1",
            "1e3",
            "99999999999999999999",
        ] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_parsed_as_they_are_formatted() {
        for (number, places, text) in
            [(15_000, 3, "15"), (8_300, 3, "8.3"), (1, 3, "0.001"), (680, 2, "6.8"), (0, 2, "0")]
        {
            assert_eq!(format_decimal(number, places), text);
            assert_eq!(parse_decimal(text, places), Some(number.into()));
        }
        assert_eq!(parse_decimal("0.0005", 3), None);
    }
}
