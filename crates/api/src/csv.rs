//! CSV files (RFC 4180, UTF-8) that spreadsheets open.

use std::fmt::{self, Display, Write as _};

use bahay_base::clock;
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::Time;

/// The byte order mark of UTF-8. Without it, spreadsheets read letters such as ñ and ₱ in another
/// encoding.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text that players choose. An apostrophe precedes a text that a spreadsheet would take for a
/// formula.
#[derive(Clone, Copy, Debug)]
pub struct SpreadsheetText<'a>(pub &'a str);

impl Display for SpreadsheetText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The wide forms are those of East Asian keyboards.
        let begins_formula = |first: char| {
            matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠')
        };
        if self.0.starts_with(begins_formula) {
            f.write_char('\'')?;
        }
        f.write_str(self.0)
    }
}

/// Returns the beginning of a file: the byte order mark and the header line.
pub fn begin_file<'a>(columns: impl IntoIterator<Item = &'a &'a str>) -> String {
    let mut out = String::from(BYTE_ORDER_MARK);
    write_line(&mut out, columns.into_iter().map(|name| name as &dyn Display));
    out
}

/// Writes a line. A field is quoted if necessary.
pub fn write_line<'a>(out: &mut String, fields: impl IntoIterator<Item = &'a dyn Display>) {
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let start = out.len();
        write!(out, "{field}").expect("writing to a string succeeds");
        if out[start..].contains(['"', ',', '\n', '\r']) {
            let quoted = format!("\"{}\"", out[start..].replace('"', "\"\""));
            out.truncate(start);
            out.push_str(&quoted);
        }
    }
    out.push_str("\r\n");
}

/// A time in the forms of a file, all of which are empty without one.
#[derive(Debug, Default)]
pub struct ExportedTime {
    pub date: String,
    pub time: String,
    /// Such as `UTC+08:00`: a spreadsheet would take `+08:00` for a time.
    pub utc_offset: String,
    pub instant: String,
}

impl ExportedTime {
    pub fn new(at: Time, zone: &TimeZone) -> Self {
        let at = clock::to_jiff(at.into());
        let local: Zoned = at.to_zoned(zone.clone());
        Self {
            date: local.strftime("%Y-%m-%d").to_string(),
            time: local.strftime("%H:%M:%S").to_string(),
            utc_offset: local.strftime("UTC%:z").to_string(),
            instant: format!("{at:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SpreadsheetText, begin_file, write_line};

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = String::new();
        write_line(&mut out, [&1 as &dyn std::fmt::Display, &"a,b", &"say \"no\"", &""]);
        assert_eq!(out, "1,\"a,b\",\"say \"\"no\"\"\",\r\n");
    }

    #[test]
    fn a_file_begins_with_the_mark_of_its_encoding() {
        assert_eq!(begin_file(&["date", "coins"]), "\u{feff}date,coins\r\n");
    }

    #[test]
    fn a_text_is_no_formula() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+63 917", "'+63 917"),
            ("-2", "'-2"),
            ("@luz", "'@luz"),
            ("\tluz", "'\tluz"),
            ("＝1", "'＝1"),
            ("Niña ₱5", "Niña ₱5"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(SpreadsheetText(text).to_string(), written);
        }
    }
}
